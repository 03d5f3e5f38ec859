/** Every way not to be served, and that it says nothing which helps whoever should not be. */
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { parsePayloadKeys } from '../../../../src/security/keys';
import { EncryptionCodec } from '../../../../src/security/payload-codec';
import { bodyOf, call, newKey, payloadOf, startServer, type TestServer } from '../../../support/codec-calls';

const keys = parsePayloadKeys(`k1:${newKey()}`);
let server: TestServer;
beforeAll(async () => {
  server = await startServer({ keys });
});
afterAll(() => server.stop());

const decode = (body: string) => call(`${server.url}/decode`, { body });

it.each(['/live', '/ready'])('%s answers without a token, and is only read', async (path) => {
  const guarded = await startServer({ tokens: [{ label: 'ops', value: 'x'.repeat(32) }] });
  try {
    expect(await call(`${guarded.url}${path}`, { method: 'GET' })).toMatchObject({ status: 200, text: 'ok' });
    expect(await call(`${guarded.url}${path}`, { method: 'HEAD' })).toMatchObject({ status: 200 });
    expect(await call(`${guarded.url}${path}`)).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD' } });
  } finally {
    await guarded.stop();
  }
});

describe('a body that cannot be read', () => {
  it.each([
    ['', 'the body must be JSON'],
    ['{"payloads": [canary', 'the body must be JSON'],
    ['[]', 'the body must be a JSON object'],
    ['null', 'the body must be a JSON object'],
    ['"canary"', 'the body must be a JSON object'],
    ['{"payloads": "canary"}', 'payloads must be a list'],
    ['{"payloads": ["canary"]}', 'payloads[0] must be a payload: metadata and data in base64'],
    ['{"payloads": [{}, {"data": "canary!"}]}', 'payloads[1] must be a payload: metadata and data in base64'],
    ['{"payloads": [{"metadata": {"encoding": 5}}]}', 'payloads[0] must be a payload: metadata and data in base64'],
  ])('%p', async (body, sentence) => {
    server.lines.length = 0;
    expect(await decode(body)).toMatchObject({ status: 400, text: sentence });
    expect(server.lines).toMatchObject([{ level: 'warn', status: 400, reason: sentence }]);
    expect(JSON.stringify(server.lines)).not.toContain('canary');
  });
});

it('what no key opens is said by the key’s id, and by nothing of the content', async () => {
  server.lines.length = 0;
  const encrypted = await new EncryptionCodec(parsePayloadKeys(`k2:${newKey()}`)).encode([payloadOf('canary')]);
  const answered = await decode(bodyOf(...encrypted));
  expect(answered).toMatchObject({ status: 400, text: expect.stringMatching(/“k2”.*not among PAYLOAD_KEYS \(k1\)/) });
  expect(server.lines).toMatchObject([{ operation: 'decode', payloads: 1, status: 400, reason: answered.text }]);
});

describe('a connection', () => {
  it('in the middle of a call is served to the end when the server stops; then nobody is', async () => {
    const stopping = await startServer({ keys });
    const socket = connect(Number(new URL(stopping.url).port), '127.0.0.1');
    socket.write('POST /decode HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{');
    // The server has it when it has answered one that came later.
    await call(`${stopping.url}/live`, { method: 'GET' });
    const stopped = stopping.stop(60_000);
    const began = Date.now();
    socket.write('}');
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 OK[^]*"payloads":\[\]/);
    await stopped;
    // It does not wait until the connection, which may be used again, has been idle for long.
    expect(Date.now() - began).toBeLessThan(3_000);
    await expect(call(`${stopping.url}/decode`, { body: '{}' })).rejects.toThrow(/ECONNREFUSED/);
  });

  it('that is held open does not hold up the stop', async () => {
    const stopping = await startServer({ keys });
    const socket = connect(Number(new URL(stopping.url).port), '127.0.0.1');
    socket.write('POST /decode HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{');
    await call(`${stopping.url}/live`, { method: 'GET' });
    socket.on('error', () => undefined);
    await stopping.stop(50);
  });
});
