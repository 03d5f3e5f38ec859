/** The settings of the codec server: what each may be, and what they may not be together. */
import { readCodecServerConfig, type Environment } from '../../../src/config';
import { selfSigned } from '../../support/certificates';
import { folderForFile } from '../../support/folder';
import { newKey } from '../../support/keys';
import * as settings from '../../support/settings';

const base = { PAYLOAD_KEYS: `k1:${newKey()}` };
const token = '0123456789abcdef';
const { write: file } = folderForFile();
const problemsOf = (given: Environment) => settings.problemsOf(readCodecServerConfig, { ...base, ...given });

it('needs nothing but the keys, and is then for this machine alone', () => {
  const alone = { host: '127.0.0.1', port: 8088, tokens: [], jwt: undefined, origins: [], tls: undefined };
  expect(readCodecServerConfig(base)).toMatchObject(alone);
  expect(problemsOf({ PAYLOAD_KEYS: '' })).toEqual([
    'PAYLOAD_KEYS: is required: the keys that the workers have (or PAYLOAD_KEYS_FILE)',
  ]);
});

it.each(['127.0.0.1', '127.8.8.8', '[::1]'])('asks nobody at %s', (host) => {
  expect(problemsOf({ CODEC_ADDRESS: `${host}:8088` })).toEqual([]);
});

it.each(['0.0.0.0', '[::]', '10.0.0.1', '[::ffff:127.0.0.1]'])('at %s demands to know who calls, and TLS', (host) => {
  expect(problemsOf({ CODEC_ADDRESS: `${host}:8088` })).toMatchObject([
    expect.stringMatching(/^CODEC_TOKEN: is required/),
    expect.stringMatching(/^CODEC_TLS_CERT_FILE: is required/),
  ]);
  expect(problemsOf({ CODEC_ADDRESS: `${host}:8088`, CODEC_ALLOW_HTTP: 'true', CODEC_TOKEN: token })).toEqual([]);
});

it('takes tokens with labels and without', () => {
  expect(readCodecServerConfig({ ...base, CODEC_TOKEN: `${token}, ann@example.com:${token}x==` }).tokens).toEqual([
    { label: 'token', value: token },
    { label: 'ann@example.com', value: `${token}x==` },
  ]);
});

it('takes an issuer, whose keys may come in the clear from this machine only', () => {
  const [issuer, audience] = ['https://login.example', 'codec'];
  const jwt = { CODEC_JWT_ISSUER: issuer, CODEC_JWT_AUDIENCE: audience };
  for (const jwksUrl of ['https://login.example/keys', 'http://127.0.0.1:8080/keys']) {
    const read = readCodecServerConfig({ ...base, ...jwt, CODEC_JWKS_URL: jwksUrl });
    expect(read.jwt).toEqual({ jwksUrl, issuer, audience });
  }
  expect(problemsOf({ ...jwt, CODEC_JWKS_URL: 'http://login.example/keys' })).toMatchObject([
    expect.stringMatching(/^CODEC_JWKS_URL: must be https:/),
  ]);
});

const certFile = file('c', selfSigned('127.0.0.1').cert);
const other = selfSigned('127.0.0.1');

it.each<[string, Environment, RegExp[]]>([
  ['a token that can be guessed', { CODEC_TOKEN: 'short' }, [/^CODEC_TOKEN: .*token 1 is 5 characters long/]],
  ['a token that no header can carry', { CODEC_TOKEN: 'sesam öffne dich 123' }, [/^CODEC_TOKEN: .*token 1 must be/]],
  ['an empty place in the list', { CODEC_TOKEN: `${token},,` }, [/^CODEC_TOKEN: .*token 2 must be/]],
  ['an issuer alone', { CODEC_JWT_ISSUER: 'i' }, [/^CODEC_JWKS_URL: is required/, /^CODEC_JWT_AUDIENCE: is required/]],
  ['keys alone', { CODEC_JWKS_URL: 'https://i.example' }, [/^CODEC_JWT_ISSUER: is/, /^CODEC_JWT_AUDIENCE: is/]],
  ['any origin', { CODEC_ORIGINS: '*' }, [/^CODEC_ORIGINS: must be origins/]],
  ['an origin with a path', { CODEC_ORIGINS: 'https://a.example/' }, [/^CODEC_ORIGINS/]],
  ['an origin without a scheme', { CODEC_ORIGINS: 'a.example' }, [/^CODEC_ORIGINS/]],
  ['no origin', { CODEC_ORIGINS: 'null' }, [/^CODEC_ORIGINS/]],
  [
    'a port beyond the last',
    { CODEC_ADDRESS: '127.0.0.1:65536' },
    [/^CODEC_ADDRESS: must be an IP address and a port/],
  ],
  ['a host that is no address', { CODEC_ADDRESS: 'codec.example:8088' }, [/^CODEC_ADDRESS: must be an IP address/]],
  ['half of TLS', { CODEC_TLS_CERT_FILE: certFile }, [/^CODEC_TLS_KEY_FILE: is required with CODEC_TLS_CERT_FILE/]],
  [
    'a certificate and another key',
    { CODEC_TLS_CERT_FILE: certFile, CODEC_TLS_KEY_FILE: file('k', other.key) },
    [/must be the PEM of a certificate and of its own key/],
  ],
  [
    'everything at once',
    { CODEC_ADDRESS: 'x', CODEC_TOKEN: 'x', CODEC_JWT_ISSUER: 'i' },
    [/ADDRESS/, /TOKEN/, /JWKS/, /AUD/],
  ],
])('refuses %s', (_what, given, expected) => {
  const problems = problemsOf(given);
  expect(problems).toMatchObject(expected.map((pattern): unknown => expect.stringMatching(pattern)));
  expect(problems.join()).not.toMatch(/short|sesam|0123456789/);
});
