/**
 * The codec server as somebody runs it: settings in the environment, a line when it is ready, a stop in good order, TLS;
 * and tokens of an identity provider. The library that verifies them is an ES module, which jest's CommonJS cannot load
 * on Node 20.
 */
import { startProcess, type RunningProcess } from '../../../../scripts/processes';
import { selfSigned } from '../../../support/certificates';
import { call, newKey } from '../../../support/codec-calls';
import { folderForFile } from '../../../support/folder';
import { programOf } from '../../../support/programs';
import { until } from '../../../support/rig';
import { closeAll } from '../../../support/stand-in';
import { es256, hs256WithPublicKey, rs256, startIssuer, stranger, unsigned } from './jwt-issuer';

const program = programOf('codec-server');
const base = { PAYLOAD_KEYS: `k1:${newKey()}`, CODEC_ADDRESS: '127.0.0.1:0' };

const { write: file } = folderForFile();

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
  } finally {
    expect(await server.kill('SIGTERM')).toMatchObject({ status: 0 });
  }
});

describe('a token', () => {
  const audience = 'order-saga-codec';
  const agreed = 'an-agreed-token-0123';
  let issuer: Awaited<ReturnType<typeof startIssuer>>;
  let server: RunningProcess;
  beforeAll(async () => {
    issuer = await startIssuer();
    server = await startProcess(program, {
      ...base,
      CODEC_TOKEN: `cli:${agreed}`,
      CODEC_JWKS_URL: issuer.jwksUrl,
      CODEC_JWT_ISSUER: issuer.issuer,
      CODEC_JWT_AUDIENCE: audience,
    });
  });
  afterAll(async () => {
    expect(await server.kill('SIGTERM')).toEqual({ status: 0, signal: null });
    await closeAll();
  });

  const inSeconds = (seconds: number) => Math.floor(Date.now() / 1000) + seconds;
  const claims = (changes: Record<string, unknown> = {}) => ({
    iss: issuer.issuer,
    aud: audience,
    sub: 'ann@example.com',
    exp: inSeconds(300),
    ...changes,
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
    ['RS256', () => rs256(claims())],
    ['ES256', () => es256(claims())],
    ['several audiences', () => rs256(claims({ aud: ['another', audience] }))],
    ['an end two seconds ago, by our clock', () => rs256(claims({ exp: inSeconds(-2) }))],
  ])('opens, and the log says for whom: %s', async (_what, make) => {
    const { answered, line } = await presentAndRead(make());
    expect(answered).toMatchObject({ status: 200, text: '{"payloads":[]}' });
    expect(line).toMatchObject({ subject: 'ann@example.com', operation: 'decode', payloads: 0, status: 200 });
  });

  it.each([
    ['expired', () => rs256(claims({ exp: inSeconds(-60) }))],
    ['without an end', () => rs256(claims({ exp: undefined }))],
    ['not yet valid', () => rs256(claims({ nbf: inSeconds(60) }))],
    ['for another audience', () => rs256(claims({ aud: 'another' }))],
    ['without an audience', () => rs256(claims({ aud: undefined }))],
    ['of another issuer', () => rs256(claims({ iss: 'https://login.example/' }))],
    ['without an issuer', () => rs256(claims({ iss: undefined }))],
    ['for nobody', () => rs256(claims({ sub: undefined }))],
    ['for the empty name', () => rs256(claims({ sub: '' }))],
    ['for a name that is none', () => rs256(claims({ sub: 5 }))],
    ['signed by somebody else', () => rs256(claims(), stranger.privateKey)],
    ['signed with a key that is not published', () => rs256(claims(), stranger.privateKey, 'rsa-2')],
    ['not signed', () => unsigned(claims())],
    ['signed with the public key as PEM', () => hs256WithPublicKey(claims())[0]!],
    ['signed with the public key as DER', () => hs256WithPublicKey(claims())[1]!],
    ['signed with the public key as JWK', () => hs256WithPublicKey(claims())[2]!],
    [
      'altered',
      () =>
        rs256(claims()).replace(
          /\.[^.]+\./,
          `.${Buffer.from(JSON.stringify(claims({ sub: 'root' }))).toString('base64url')}.`,
        ),
    ],
    ['no JWT', () => 'three.little.words'],
  ])('opens nothing, and says nothing: %s', async (_what, make) => {
    const token = make();
    const { answered, line } = await presentAndRead(token);
    expect(answered).toMatchObject({ status: 401, text: 'unauthorized', headers: { 'www-authenticate': 'Bearer' } });
    // The operator is told why.
    expect(line).toMatchObject({
      operation: 'decode',
      status: 401,
      reason: expect.stringMatching(/^(ERR_|no subject)/),
    });
    expect(line).not.toHaveProperty('subject');
    expect(server.errors()).not.toContain(token.slice(0, 20));
  });
});
