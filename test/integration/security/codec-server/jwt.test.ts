/**
 * Tokens of an identity provider, against the real process: the library that verifies them is an ES module, which
 * jest's CommonJS cannot load on Node 20.
 */
import { startProcess, type RunningProcess } from '../../../../scripts/processes';
import { programOf } from '../../../support/programs';
import { until } from '../../../support/rig';
import { call, newKey } from '../../../support/codec-calls';
import { es256, hs256WithPublicKey, rs256, startIssuer, stranger, unsigned, type Issuer } from './jwt-issuer';

const audience = 'order-saga-codec';
const agreed = 'an-agreed-token-0123';
let issuer: Issuer;
let server: RunningProcess;
const urlOf = ({ ready }: RunningProcess) => ready.replace('codec server ready: ', '');
const environmentOf = ({ jwksUrl, issuer: name }: Issuer) => ({
  PAYLOAD_KEYS: `k1:${newKey()}`,
  CODEC_ADDRESS: '127.0.0.1:0',
  CODEC_JWKS_URL: jwksUrl,
  CODEC_JWT_ISSUER: name,
  CODEC_JWT_AUDIENCE: audience,
});
beforeAll(async () => {
  issuer = await startIssuer();
  server = await startProcess(programOf('codec-server'), { ...environmentOf(issuer), CODEC_TOKEN: `cli:${agreed}` });
});
afterAll(async () => {
  await server.kill('SIGTERM');
  await issuer.close();
});

const inSeconds = (seconds: number) => Math.floor(Date.now() / 1000) + seconds;
const claims = (changes: Record<string, unknown> = {}) => ({
  iss: issuer.issuer,
  aud: audience,
  sub: 'ann@example.com',
  exp: inSeconds(300),
  ...changes,
});
const present = (token: string, process: RunningProcess) =>
  call(`${urlOf(process)}/decode`, { body: '{}', headers: { authorization: `Bearer ${token}` } });

const linesOf = (process: RunningProcess) => process.errors().split('\n').slice(0, -1);

/** The answer, and the line of the log, which takes a way of its own to us. */
async function presentAndRead(token: string, process = server) {
  const before = linesOf(process).length;
  const answered = await present(token, process);
  const [line] = await until(async () => linesOf(process).length > before && linesOf(process).slice(before));
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
  expect(answered).toMatchObject({
    status: 401,
    text: 'unauthorized',
    headers: { 'www-authenticate': 'Bearer' },
  });
  // The operator is told why.
  expect(line).toMatchObject({
    operation: 'decode',
    status: 401,
    reason: expect.stringMatching(/^(ERR_|no subject)/),
  });
  expect(line).not.toHaveProperty('subject');
  expect(server.errors()).not.toContain(token.slice(0, 20));
});
