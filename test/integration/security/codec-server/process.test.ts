/**
 * The codec server as somebody runs it: settings in the environment, a line when it is ready, a stop in good order, TLS;
 * and tokens of an identity provider. The library that verifies them is an ES module, which jest's CommonJS cannot load
 * on Node 20.
 */
import { spawn } from 'node:child_process';
import { createHmac, generateKeyPairSync, sign } from 'node:crypto';
import { once } from 'node:events';
import { startProcess, type RunningProcess } from '../../../../scripts/processes';
import { selfSigned } from '../../../support/certificates';
import { call } from '../../../support/codec-calls';
import { newKey } from '../../../support/keys';
import { folderForFile } from '../../../support/folder';
import { programOf } from '../../../support/programs';
import { until } from '../../../support/rig';
import { closeAll, serve } from '../../../support/stand-in';

const program = programOf('codec-server');
const base = { PAYLOAD_KEYS: `k1:${newKey()}`, CODEC_ADDRESS: '127.0.0.1:0' };

const { write: file } = folderForFile();

it('goes on where its log cannot be written', async () => {
  const server = spawn('sh', ['-c', 'exec "$@" 2> /dev/full', 'sh', process.execPath, program], {
    env: { ...process.env, ...base },
  });
  try {
    const [ready] = (await once(server.stdout, 'data')) as [Buffer];
    const decode = `${ready.toString().trim().replace('codec server ready: ', '')}/decode`;
    for (const status of [200, 200]) expect(await call(decode, { body: '{}' })).toMatchObject({ status });
  } finally {
    server.kill('SIGTERM');
  }
});

it('speaks TLS with the certificate that it was given, and with nothing below 1.2', async () => {
  const { key, cert } = selfSigned('127.0.0.1');
  const server = await startProcess(program, {
    ...base,
    CODEC_ADDRESS: '0.0.0.0:0',
    CODEC_TLS_CERT_FILE: file('cert.pem', cert),
    CODEC_TLS_KEY_FILE: file('key.pem', key),
    CODEC_TOKEN_FILE: file('token', 'ops:0123456789abcdef\n\ncli:fedcba9876543210\n'),
  });
  try {
    expect(server.ready).toMatch(/^codec server ready: https:\/\/0\.0\.0\.0:\d+$/);
    const url = server.ready.replace('codec server ready: ', '').replace('0.0.0.0', '127.0.0.1');
    const decode = async (token: string) =>
      call(`${url}/decode`, { body: '{}', headers: { authorization: `Bearer ${token}` }, ca: cert });
    expect(await decode('0123456789abcdef')).toMatchObject({ status: 200 });
    expect(await decode('fedcba9876543210')).toMatchObject({ status: 200 });
    expect(await decode('0123456789abcdeX')).toMatchObject({ status: 401 });
    await expect(call(`${url}/live`)).rejects.toThrow(/self.signed/);
    await expect(call(`${url.replace('https', 'http')}/live`)).rejects.toThrow();
    // Renewed on the disk, one file after the other.
    const renewed = selfSigned('127.0.0.1');
    file('cert.pem', renewed.cert);
    file('key.pem', renewed.key);
    const answered = () => call(`${url}/live`, { ca: renewed.cert }).catch(() => undefined);
    expect(await until(answered)).toBeDefined();
  } finally {
    expect(await server.kill('SIGTERM')).toMatchObject({ status: 0 });
  }
});

describe('a token of an identity provider', () => {
  const [audience, issuer] = ['order-saga-codec', 'https://login.example'];
  // Made by hand, without the library that verifies.
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const stranger = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const inSeconds = (seconds: number) => Math.floor(Date.now() / 1000) + seconds;
  const base64url = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  /** @param signer makes the signature of the text, or leaves it out */
  function token(header: object, changes: object, signer: (text: Buffer) => Buffer): string {
    const claims = { iss: issuer, aud: audience, sub: 'ann@example.com', exp: inSeconds(300), ...changes };
    const text = `${base64url(header)}.${base64url(claims)}`;
    return `${text}.${signer(Buffer.from(text)).toString('base64url')}`;
  }
  const rs256 = (changes: object = {}, { privateKey } = rsa) =>
    token({ alg: 'RS256', kid: 'rsa-1', typ: 'JWT' }, changes, (text) => sign('sha256', text, privateKey));
  const es256 = () =>
    token({ alg: 'ES256', kid: 'ec-1' }, {}, (text) =>
      sign('sha256', text, { key: ec.privateKey, dsaEncoding: 'ieee-p1363' }),
    );
  const unsigned = () => token({ alg: 'none', kid: 'rsa-1' }, {}, () => Buffer.alloc(0));
  /** The public key as if it were a shared secret. */
  const hs256 = () =>
    token({ alg: 'HS256', kid: 'rsa-1' }, {}, (text) =>
      createHmac('sha256', rsa.publicKey.export({ type: 'spki', format: 'pem' }))
        .update(text)
        .digest(),
    );

  let server: RunningProcess;
  beforeAll(async () => {
    const keys = [
      { ...rsa.publicKey.export({ format: 'jwk' }), kid: 'rsa-1', alg: 'RS256', use: 'sig' },
      { ...ec.publicKey.export({ format: 'jwk' }), kid: 'ec-1' },
    ];
    const headers = { 'content-type': 'application/json', connection: 'close' };
    const { url } = await serve({ headers, body: JSON.stringify({ keys }) });
    server = await startProcess(program, {
      ...base,
      CODEC_TOKEN: 'cli:an-agreed-token-0123',
      CODEC_JWKS_URL: `${url}/keys`,
      CODEC_JWT_ISSUER: issuer,
      CODEC_JWT_AUDIENCE: audience,
    });
  });
  afterAll(async () => {
    expect(await server.kill('SIGTERM')).toEqual({ status: 0, signal: null });
    await closeAll();
  });

  const lines = () => server.errors().split('\n').slice(0, -1);

  /** The answer, and the line of the log, which takes a way of its own to us. */
  async function presentAndRead(token: string) {
    const before = lines().length;
    const url = `${server.ready.replace('codec server ready: ', '')}/decode`;
    const answered = await call(url, { body: '{}', headers: { authorization: `Bearer ${token}` } });
    const [line] = await until(async () => lines().length > before && lines().slice(before));
    return { answered, line: JSON.parse(line!) as Record<string, unknown> };
  }

  it.each([
    ['RS256', rs256],
    ['ES256', es256],
    ['several audiences', () => rs256({ aud: ['another', audience] })],
    ['an end two seconds ago, by our clock', () => rs256({ exp: inSeconds(-2) })],
  ])('opens, and the log says for whom: %s', async (_what, make) => {
    const { answered, line } = await presentAndRead(make());
    expect(answered).toMatchObject({ status: 200, text: '{"payloads":[]}' });
    expect(line).toMatchObject({ subject: 'ann@example.com', operation: 'decode', payloads: 0, status: 200 });
  });

  it.each([
    ['expired', () => rs256({ exp: inSeconds(-60) })],
    ['without an end', () => rs256({ exp: undefined })],
    ['not yet valid', () => rs256({ nbf: inSeconds(60) })],
    ['for another audience', () => rs256({ aud: 'another' })],
    ['without an audience', () => rs256({ aud: undefined })],
    ['of another issuer', () => rs256({ iss: 'https://login.example/' })],
    ['without an issuer', () => rs256({ iss: undefined })],
    ['for nobody', () => rs256({ sub: undefined })],
    ['for the empty name', () => rs256({ sub: '' })],
    ['for a name that is none', () => rs256({ sub: 5 })],
    ['signed by somebody else', () => rs256({}, stranger)],
    ['not signed', unsigned],
    ['signed with the public key', hs256],
    ['no JWT', () => 'three.little.words'],
  ])('opens nothing, and says nothing: %s', async (_what, make) => {
    const token = make();
    const { answered, line } = await presentAndRead(token);
    expect(answered).toMatchObject({ status: 401, text: 'unauthorized', headers: { 'www-authenticate': 'Bearer' } });
    // The operator is told why.
    const reason = expect.stringMatching(/^(ERR_|no subject)/) as string;
    expect(line).toMatchObject({ operation: 'decode', status: 401, reason });
    expect(line).not.toHaveProperty('subject');
    expect(server.errors()).not.toContain(token.slice(0, 20));
  });
});
