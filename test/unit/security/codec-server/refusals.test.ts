/** Every way not to be served, and that it says nothing which helps whoever should not be. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { parsePayloadKeys } from '../../../../src/security/keys';
import { EncryptionCodec } from '../../../../src/security/payload-codec';
import { bodyOf, call, newKey, payloadOf, startServer, type TestServer } from '../../../support/codec-calls';
import { itInWays } from '../../../support/left-out';

const key = newKey();
const keys = parsePayloadKeys(`k1:${key}`);
let server: TestServer;
beforeAll(async () => {
  server = await startServer({ keys });
});
afterAll(() => server.stop());

const decode = (body: string) => call(`${server.url}/decode`, { body });

it.each(['/', '/decode/', '/Decode', '/constructor', '/__proto__', '/a//decode', '/live/x'])(
  'there is no path %s',
  async (path) => {
    expect(await call(`${server.url}${path}`)).toMatchObject({ status: 404, text: 'this path does not exist' });
  },
);

it.each(['GET', 'PUT', 'DELETE', 'HEAD'])('%s is no way to decode', async (method) => {
  const { status, headers } = await call(`${server.url}/decode`, { method });
  expect([status, headers.allow]).toEqual([405, 'POST, OPTIONS']);
});

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

  it('is too large, whether it says so or not', async () => {
    const body = bodyOf(payloadOf('x'.repeat(200_000)));
    const sentence = 'the body must be at most 100000 bytes long';
    expect(await decode(body)).toMatchObject({ status: 413, text: sentence });
    const headers = { 'transfer-encoding': 'chunked' };
    const chunked = await call(`${server.url}/decode`, { body, headers });
    expect(chunked).toMatchObject({ status: 413, text: sentence });
  });

  it('is as large as allowed', async () => {
    const exact = '{}'.padEnd(100_000);
    expect(await decode(exact)).toMatchObject({ status: 200 });
    expect(await decode(`${exact} `)).toMatchObject({ status: 413 });
  });
});

describe('what no key opens is said by the key’s id, and by nothing of the content', () => {
  const encrypted = (id: string, withKey: string) =>
    new EncryptionCodec(parsePayloadKeys(`${id}:${withKey}`)).encode([payloadOf('canary')]);

  it('of an unknown id', async () => {
    server.lines.length = 0;
    const answered = await decode(bodyOf(...(await encrypted('k2', newKey()))));
    expect(answered).toMatchObject({ status: 400, text: expect.stringMatching(/“k2”.*not among PAYLOAD_KEYS \(k1\)/) });
    expect(server.lines).toMatchObject([{ operation: 'decode', payloads: 1, status: 400, reason: answered.text }]);
  });

  it('of another key under the same id, or altered', async () => {
    const answered = await decode(bodyOf(...(await encrypted('k1', newKey()))));
    expect(answered).toMatchObject({ status: 400, text: expect.stringMatching(/“k1”.*does not decrypt/) });
    const [payload] = await encrypted('k1', key);
    const cutOff = { ...payload, data: Buffer.from(payload?.data ?? []).subarray(0, 20) };
    expect(await decode(bodyOf(cutOff))).toMatchObject({ status: 400, text: expect.stringMatching(/cut off/) });
  });

  it('of an id that is no id', async () => {
    const metadata = {
      encoding: Buffer.from('binary/encrypted'),
      'encryption-key-id': Buffer.from('x'.repeat(50_000)),
    };
    const answered = await decode(bodyOf({ metadata, data: Buffer.alloc(50) }));
    expect(answered.status).toBe(400);
    expect(answered.text.length).toBeLessThan(300);
  });
});

it('an error of its own names the place, and not the message', async () => {
  const decodeAs = jest.spyOn(EncryptionCodec.prototype, 'decode').mockRejectedValue(new TypeError('canary'));
  try {
    server.lines.length = 0;
    expect(await decode('{}')).toMatchObject({ status: 500, text: 'internal error: see the log of the codec server' });
    expect(server.lines).toMatchObject([{ level: 'error', status: 500, error: 'TypeError' }]);
    expect(JSON.stringify(server.lines)).not.toContain('canary');
  } finally {
    decodeAs.mockRestore();
  }
});

describe('a connection', () => {
  const open = async (): Promise<Socket> => {
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
    await once(socket, 'connect');
    return socket;
  };

  it('with headers of more than 16 KiB is refused', async () => {
    const headers = { 'x-namespace': 'x'.repeat(20_000) };
    expect(await call(`${server.url}/decode`, { body: '{}', headers })).toMatchObject({ status: 431 });
  });

  itInWays('that never says what it wants is ended', async () => {
    const socket = await open();
    socket.write('POST /decode HTTP/1.1\r\n');
    expect(await text(socket)).toContain('408 Request Timeout');
  });

  it('that breaks off in the middle of a body is no error of ours', async () => {
    server.lines.length = 0;
    const socket = await open();
    socket.write('POST /decode HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{"pay');
    socket.destroy();
    expect(await decode('{}')).toMatchObject({ status: 200 });
    expect(server.lines.map(({ level }) => level)).toEqual(['info']);
  });

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

  it('that is kept open is told that the server is alive, but takes no more', async () => {
    const stopping = await startServer({ keys });
    const port = Number(new URL(stopping.url).port);
    const [probe, busy] = [connect(port, '127.0.0.1'), connect(port, '127.0.0.1')];
    // Both have begun to ask when it stops: a connection that is idle then is closed.
    probe.write('GET /ready HTTP/1.1\r\n');
    busy.write('GET /live HTTP/1.1\r\n');
    await call(`${stopping.url}/live`, { method: 'GET' });
    const stopped = stopping.stop(60_000);
    for (const socket of [probe, busy]) socket.write('Host: localhost\r\n\r\n');
    expect(await text(probe)).toMatch(/^HTTP\/1\.1 503 [^]*stopping/);
    expect(await text(busy)).toMatch(/^HTTP\/1\.1 200 [^]*\bok\b/);
    await stopped;
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
