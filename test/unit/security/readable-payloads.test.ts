/** A payload that cannot be read stands in a history for good: the worker reads something else in its place. */
import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import { createDataConverter } from '../../../src/security/data-converter';
import { parsePayloadKeys } from '../../../src/security/keys';
import { ReadablePayloads } from '../../../src/security/payload-codec';

const keys = parsePayloadKeys(`a:${Buffer.alloc(32, 1).toString('base64')}`);
const payload = (encoding: string, data: string): Payload => ({
  metadata: { encoding: Buffer.from(encoding) },
  data: Buffer.from(data),
});

async function read(given: Payload): Promise<unknown> {
  const [decoded] = await new ReadablePayloads().decode([given]);
  return defaultPayloadConverter.fromPayload(decoded!);
}

it.each([
  ['JSON that is broken', payload('json/plain', '{"by":')],
  ['JSON that is empty', payload('json/plain', '')],
  ['another encoding', payload('json/protobuf', '{}')],
  ['an encoding that nobody knows', payload('odd', '{}')],
  ['no encoding', { metadata: {}, data: Buffer.from('{}') }],
  ['nothing at all', {}],
])('%s becomes a text', async (_, given) => {
  expect(await read(given)).toBe('a payload that cannot be read');
});

it('what is encrypted is left to a worker that has the key', async () => {
  const given = payload('binary/encrypted', 'x');
  expect(await new ReadablePayloads().decode([given])).toEqual([given]);
});

it('a worker with keys looks into what was encrypted', async () => {
  const encrypt = createDataConverter(keys).payloadCodecs!.at(-1)!;
  const [whole, broken] = await encrypt.encode([payload('json/plain', '{}'), payload('json/plain', '{')]);
  let decoded = [whole!, broken!];
  // As Temporal decodes: by the last codec first.
  for (const codec of createDataConverter(keys, 'unused').payloadCodecs!.toReversed()) {
    decoded = await codec.decode(decoded);
  }
  expect(decoded.map((one) => defaultPayloadConverter.fromPayload(one))).toEqual([{}, 'a payload that cannot be read']);
});
