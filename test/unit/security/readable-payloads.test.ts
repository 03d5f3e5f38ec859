/** A payload that cannot be read stands in a history for good: the worker reads something else in its place. */
import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import { createDataConverter } from '../../../src/security/data-converter';
import { parsePayloadKeys } from '../../../src/security/keys';
import { encoded, unreadable } from '../../support/payloads';

const keys = parsePayloadKeys(`a:${Buffer.alloc(32, 1).toString('base64')}`);

async function read(given: Payload[]): Promise<unknown> {
  const [decoded] = await createDataConverter(undefined).payloadCodecs![0]!.decode(given);
  return defaultPayloadConverter.fromPayload(decoded!);
}

it.each<[string, Payload[]]>([
  ...unreadable,
  ['an encoding that nobody knows', [encoded('odd', '{}')]],
  ['no encoding among its metadata', [{ metadata: {}, data: Buffer.from('{}') }]],
  ['nothing at all', [{}]],
])('%s becomes a text', async (_, given) => {
  expect(await read(given)).toBe('a payload that cannot be read');
});

it('what is encrypted is left to a worker that has the key', async () => {
  const given = [encoded('binary/encrypted', 'x')];
  await expect(createDataConverter(keys).payloadCodecs![0]!.decode(given)).rejects.toThrow(/^encrypted with key “”/);
});

it('a worker with keys looks into what was encrypted', async () => {
  const encrypt = createDataConverter(keys).payloadCodecs![0]!;
  const [whole, broken] = await encrypt.encode([encoded('json/plain', '{}'), encoded('json/plain', '{')]);
  const decoded = await createDataConverter(keys, 'unused').payloadCodecs![0]!.decode([whole!, broken!]);
  expect(decoded.map((one) => defaultPayloadConverter.fromPayload(one))).toEqual([{}, 'a payload that cannot be read']);
});
