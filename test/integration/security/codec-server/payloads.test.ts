/** What goes in and what comes out, once somebody is in. */
import { randomUUID } from 'node:crypto';
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { Client, Connection } from '@temporalio/client';
import type { Payload } from '@temporalio/common';
import { fc } from '../../../support/properties';
import { OrderSagaClient } from '../../../../src/client/client';
import { createDataConverter } from '../../../../src/security/data-converter';
import { parsePayloadKeys } from '../../../../src/security/keys';
import { EncryptionCodec } from '../../../../src/security/payload-codec';
import { provisionRequest } from '../../../support/requests';
import {
  bodyOf,
  call,
  encodingsIn,
  newKey,
  payloadOf,
  payloadsIn,
  startServer,
  valuesIn,
  type TestServer,
} from '../../../support/codec-calls';
import { itUnless } from '../../../support/left-out';

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
const raw = (encoding: string, data: string | Uint8Array): Payload => ({
  metadata: { encoding: Buffer.from(encoding) },
  data: Buffer.from(data),
});

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
    const encrypted = await codec.encode([raw('json/plain', json)]);
    const answered = await decode(...encrypted);
    expect(answered.status).toBe(200);
    expect(Buffer.from(payloadsIn(answered)[0]?.data ?? []).toString()).not.toContain('canary');
  });
});

describe('with a saga that our client started', () => {
  const address = process.env['ORDER_SAGA_TEST_TEMPORAL_ADDRESS'] ?? '';
  const cli = process.env['ORDER_SAGA_TEST_TEMPORAL_CLI'];
  const password = 'canary-password-of-a-saga';
  let connection: Connection;
  let workflowId: string;
  beforeAll(async () => {
    connection = await Connection.connect({ address });
    const client = new Client({ connection, dataConverter: createDataConverter(keys) });
    // Nobody serves this queue: the request is all that there is to read.
    const sagas = new OrderSagaClient(client, { taskQueue: randomUUID() });
    const request = provisionRequest({ reference: randomUUID(), items: [{ password }] });
    ({ workflowId } = await sagas.provision({ ...request, label: 'shown-label' }));
  });
  afterAll(async () => {
    await new Client({ connection }).workflow.getHandle(workflowId).terminate();
    await connection.close();
  });

  // A server that was there before brings no command line.
  itUnless(cli === undefined ? 'TEMPORAL_ADDRESS names a server, and no CLI is here' : undefined)(
    'is readable with Temporal’s own command line',
    async () => {
      const token = 'a-token-of-some-length';
      const guarded = await startServer({ keys, tokens: [{ label: 'ops', value: token }] });
      try {
        const show = async (...more: string[]) => {
          const run = ['--address', address, '--namespace', 'default', '--workflow-id', workflowId];
          const args = ['workflow', 'show', ...run, '--output', 'json'];
          const child = spawn(cli!, [...args, ...more], { stdio: ['ignore', 'pipe', 'inherit'] });
          const history = await text(child.stdout);
          expect(history).toContain(workflowId);
          const data = [...history.matchAll(/"data": "([^"]+)"/g)].map(([, base64 = '']) =>
            Buffer.from(base64, 'base64'),
          );
          return Buffer.concat(data).toString('latin1');
        };
        const shown = await show('--codec-endpoint', guarded.url, '--codec-auth', `Bearer ${token}`);
        expect(shown).toContain('shown-label');
        expect(shown).not.toContain(password);
        expect(await show()).not.toContain('shown-label');
        const line = { subject: 'ops', namespace: 'default', operation: 'decode', payloads: 1, status: 200 };
        // Input, summary and details.
        expect(guarded.lines).toMatchObject([line, line, line]);
      } finally {
        await guarded.stop();
      }
    },
  );
});
