/** What goes in and what comes out, once somebody is in. */
import type { Payload } from '@temporalio/common';
import { fc } from '../../../support/properties';
import { isForeign, ofCall } from '../../../../src/domain/unsealed';
import { parsePayloadKeys } from '../../../../src/security/keys';
import { EncryptionCodec } from '../../../../src/security/payload-codec';
import {
  bodyOf,
  call,
  encodingsIn,
  payloadsIn,
  startServer,
  valuesIn,
  type TestServer,
} from '../../../support/codec-calls';
import { newKey } from '../../../support/keys';
import { encoded, payloadOf } from '../../../support/payloads';

const keys = parsePayloadKeys(`k1:${newKey()}`);
const codec = new EncryptionCodec(keys);
let server: TestServer;
beforeAll(async () => {
  server = await startServer({ keys });
});
afterAll(() => server.stop());

const encode = (...payloads: Payload[]) => call(`${server.url}/encode`, { body: bodyOf(...payloads) });
const decode = (...payloads: Payload[]) => call(`${server.url}/decode`, { body: bodyOf(...payloads) });
const decodedOf = async (value: unknown) => valuesIn(await decode(...(await codec.encode([payloadOf(value)]))))[0];

it('encrypts, so that our own programs read it, and decrypts what they wrote', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.jsonValue({ maxDepth: 3 })), async (values) => {
      const encoded = await encode(...values.map(payloadOf));
      expect(encoded.status).toBe(200);
      expect(encodingsIn(encoded).every((encoding) => encoding === 'binary/encrypted')).toBe(true);
      expect((await codec.decode(payloadsIn(encoded))).map((payload) => payload.data)).toEqual(
        values.map((value) => payloadOf(value).data),
      );
      const plain = values.map((value) => JSON.parse(JSON.stringify(value)) as unknown);
      expect(valuesIn(await decode(...payloadsIn(encoded)))).toEqual(plain);
    }),
    { numRuns: 40 },
  );
});

it('seals nothing for a call of an activity: a person answers for none', async () => {
  const context = { type: 'activity', workflowId: 'change/A', activityId: '1' };
  const [sealed] = await codec.decode(payloadsIn(await encode(ofCall(payloadOf({ total: 1 }), 'answer', context))));
  expect(isForeign(sealed!, 'answer', context)).toBe(true);
});

describe('secrets stay blanked out', () => {
  it('in a request, at any depth, whatever else is shown', async () => {
    const password = 'canary-password';
    const items = [{ password, plan_id: 17, addons: [{ custom_ssh_key: 'a2V5', more: { custom_script: ['c2g='] } }] }];
    expect(await decodedOf({ label: 'web', items })).toEqual({
      label: 'web',
      items: [
        {
          password: '[redacted]',
          plan_id: 17,
          addons: [{ custom_ssh_key: '[redacted]', more: { custom_script: '[redacted]' } }],
        },
      ],
    });
  });

  it('in what was never encrypted', async () => {
    expect(valuesIn(await decode(payloadOf({ password: 'canary-password' })))).toEqual([{ password: '[redacted]' }]);
  });

  it.each([
    ['a field that is there twice', '{"password":"canary","password":"[redacted]"}'],
    ['a field whose holder is there twice', '{"a":{"password":"canary"},"a":1}'],
    ['a name in other letters', '{"\\u0070assword":"canary"}'],
    ['a prototype', '{"__proto__":{"password":"canary"}}'],
    ['a nesting without end', `${'['.repeat(50_000)}{"password":"canary"}${']'.repeat(50_000)}`],
    ['what says that it is JSON, and is not', '{"password":"canary"},'],
  ])('behind %s', async (_what, json) => {
    const encrypted = await codec.encode([encoded('json/plain', json)]);
    const answered = await decode(...encrypted);
    expect(answered.status).toBe(200);
    expect(Buffer.from(payloadsIn(answered)[0]?.data ?? []).toString()).not.toContain('canary');
  });
});
