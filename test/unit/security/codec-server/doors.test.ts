/** Who is let in: by token, origin and host name; whoever is not learns nothing, and the log says who it was. */
import crypto from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { bodyOf, call, startServer, type Sent, type TestServer } from '../../../support/codec-calls';
import { payloadOf } from '../../../support/payloads';
import { newKey } from '../../../support/keys';
import { parsePayloadKeys } from '../../../../src/security/keys';
import { EncryptionCodec } from '../../../../src/security/payload-codec';

const keys = parsePayloadKeys(`k1:${newKey()}`);
const encrypted = async () => bodyOf(...(await new EncryptionCodec(keys).encode([payloadOf('canary')])));
const paths = ['/encode', '/decode'];
const ui = 'https://temporal.example';

let server: TestServer;
afterEach(() => server.stop());

const decode = async (sent: Sent = {}) => call(`${server.url}/decode`, { body: await encrypted(), ...sent });

describe('with tokens', () => {
  const [ann, bob] = ['ann-0123456789-0123', 'bob-0123456789-0123'];
  beforeEach(async () => {
    const tokens = Object.entries({ ann, bob }).map(([label, value]) => ({ label, value }));
    server = await startServer({ keys, tokens, origins: [ui] });
  });
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

  it.each([
    ['ann', ann],
    ['bob', bob],
  ])('serves %s, and the log says who it was', async (label, token) => {
    const headers = { ...bearer(token), 'x-namespace': 'orders' };
    expect(await decode({ headers })).toMatchObject({ status: 200 });
    const call = { operation: 'decode', namespace: 'orders', remote: '127.0.0.1', subject: label, payloads: 1 };
    expect(server.lines).toEqual([{ level: 'info', message: 'call', ...call, status: 200 }]);
  });

  it.each([
    ['none', undefined],
    ['an empty one', 'Bearer '],
    ['an unknown one', 'Bearer ann-0123456789-0124'],
    ['the beginning of one', 'Bearer ann-0123456789-012'],
    ['one with more behind it', 'Bearer ann-0123456789-01234'],
    ['a label', 'Bearer ann'],
    ['both', 'Bearer ann:ann-0123456789-0123'],
    ['another scheme', `Basic ${Buffer.from(`ann:${ann}`).toString('base64')}`],
    ['no scheme', ann],
    ['what could be a JWT', 'Bearer e30.e30.e30'],
  ])('refuses %s without a word why', async (_which, authorization) => {
    for (const path of paths) {
      const body = await encrypted();
      const answered = await call(`${server.url}${path}`, { body, headers: authorization ? { authorization } : {} });
      expect(answered).toMatchObject({ status: 401, text: 'unauthorized', headers: { 'www-authenticate': 'Bearer' } });
    }
    expect(server.lines).toHaveLength(2);
    expect(server.lines.every(({ status, subject }) => status === 401 && subject === undefined)).toBe(true);
    expect(JSON.stringify(server.lines)).not.toContain('0123456789');
  });

  it('compares in constant time, and with all of them', async () => {
    const compare = jest.spyOn(crypto, 'timingSafeEqual');
    try {
      for (const token of [ann, bob, 'neither-0123456789']) {
        compare.mockClear();
        await decode({ headers: bearer(token) });
        expect(compare).toHaveBeenCalledTimes(2);
        // Digests: of one length, whatever was sent.
        expect(compare.mock.calls.flat().every(({ byteLength }) => byteLength === 32)).toBe(true);
      }
    } finally {
      compare.mockRestore();
    }
  });
});

describe('a page', () => {
  const local = 'http://localhost:8233';
  beforeEach(async () => {
    server = await startServer({ keys, origins: [ui, local] });
  });
  const preflight = (path: string, origin: string) =>
    call(`${server.url}${path}`, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type,x-namespace',
      },
    });
  const strangers = [
    ...['https://temporal.example.evil.example', 'https://temporal.example:8443', 'http://temporal.example'],
    ...['https://TEMPORAL.example', 'https://temporal.example/', 'http://localhost', 'null', '*'],
  ];

  it.each([ui, local])('of %s may ask, and read', async (origin) => {
    for (const path of paths) {
      const { status, headers } = await preflight(path, origin);
      expect(status).toBe(204);
      expect(headers).toMatchObject({
        'access-control-allow-origin': origin,
        'access-control-allow-methods': 'POST,OPTIONS',
        'access-control-allow-headers': 'content-type,x-namespace,authorization',
        vary: expect.stringMatching(/^Origin\b/),
      });
      expect(headers).not.toHaveProperty('access-control-allow-credentials');
    }
    const answered = await decode({ headers: { origin } });
    expect(answered).toMatchObject({ status: 200, headers: { 'access-control-allow-origin': origin, vary: 'Origin' } });
  });

  it.each(strangers)('of %s may not', async (origin) => {
    for (const answered of [await preflight('/decode', origin), await decode({ headers: { origin } })]) {
      expect(answered.status).toBe(403);
      expect(Object.keys(answered.headers).filter((name) => name.startsWith('access-control-'))).toEqual([]);
      expect(answered.text).toBe('this origin is not allowed');
    }
    expect(server.lines).toMatchObject([{ reason: `origin ${origin}` }, { reason: `origin ${origin}` }]);
  });
});

describe('without tokens, on loopback', () => {
  beforeEach(async () => {
    server = await startServer({ keys });
  });

  it.each(['localhost', 'localhost:8088', '127.0.0.1', '127.0.0.1:1', '[::1]', '[::1]:8088', 'LOCALHOST'])(
    'answers to %s',
    async (host) => {
      expect(await decode({ headers: { host } })).toMatchObject({ status: 200 });
      expect(server.lines).toMatchObject([{ subject: 'anyone on this machine' }]);
    },
  );

  it('answers to no name which a page may have made to lead here', async () => {
    for (const host of ['evil.example:8088', 'localhost.evil.example', '127.0.0.1.evil.example', '10.0.0.1']) {
      expect(await decode({ headers: { host } })).toMatchObject({ status: 403, text: 'this host name is not allowed' });
    }
  });
});

describe('what cannot be read', () => {
  beforeEach(async () => {
    server = await startServer({ keys });
  });

  it.each([
    ['', 'the body must be JSON'],
    ['{"payloads": [canary', 'the body must be JSON'],
    ['[]', 'the body must be a JSON object'],
    ['null', 'the body must be a JSON object'],
    ['"canary"', 'the body must be a JSON object'],
    ['{"payloads": "canary"}', 'payloads must be a list'],
    // Which payloads are none: test/unit/security/payload-json.test.ts.
    ['{"payloads": [{}, {"data": "canary!"}]}', 'payloads[1] must be a payload: metadata and data in base64'],
  ])('%p', async (body, sentence) => {
    expect(await decode({ body })).toMatchObject({ status: 400, text: sentence });
    expect(server.lines).toMatchObject([{ level: 'warn', status: 400, reason: sentence }]);
    expect(JSON.stringify(server.lines)).not.toContain('canary');
  });

  it('what no key opens is said by the key’s id, and by nothing of the content', async () => {
    const foreign = await new EncryptionCodec(parsePayloadKeys(`k2:${newKey()}`)).encode([payloadOf('canary')]);
    const answered = await decode({ body: bodyOf(...foreign) });
    expect(answered).toMatchObject({ status: 400, text: expect.stringMatching(/“k2”.*not among PAYLOAD_KEYS \(k1\)/) });
    expect(server.lines).toMatchObject([{ operation: 'decode', payloads: 1, status: 400, reason: answered.text }]);
  });
});

it.each(['/live', '/ready'])('%s answers without a token, and is only read', async (path) => {
  server = await startServer({ tokens: [{ label: 'ops', value: 'x'.repeat(32) }] });
  expect(await call(`${server.url}${path}`, { method: 'GET' })).toMatchObject({ status: 200, text: 'ok' });
  expect(await call(`${server.url}${path}`, { method: 'HEAD' })).toMatchObject({ status: 200 });
  expect(await call(`${server.url}${path}`)).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD' } });
});

describe('a connection', () => {
  let socket: Socket;
  beforeEach(async () => {
    server = await startServer({ keys });
    socket = connect(Number(new URL(server.url).port), '127.0.0.1');
    socket.write('POST /decode HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{');
    // The server has it when it has answered one that came later.
    await call(`${server.url}/live`, { method: 'GET' });
  });

  it('in the middle of a call is served to the end when the server stops; then nobody is', async () => {
    const stopped = server.stop(60_000);
    const began = Date.now();
    socket.write('}');
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 OK[^]*"payloads":\[\]/);
    await stopped;
    // It does not wait until the connection, which may be used again, has been idle for long.
    expect(Date.now() - began).toBeLessThan(3_000);
    await expect(call(`${server.url}/decode`, { body: '{}' })).rejects.toThrow(/ECONNREFUSED/);
  });

  it('that is held open does not hold up the stop', async () => {
    socket.on('error', () => undefined);
    await server.stop(50);
  });
});
