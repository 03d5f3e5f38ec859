/** The settings of the codec server: what each may be, what they may not be together, and that the document says so. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readCodecServerConfig, SettingsError, type Environment } from '../../../src/config';
import { codesIn, readDocument, tableUnder } from '../../docs/tables';
import { selfSigned } from '../../support/certificates';
import { newKey } from '../../support/codec-calls';

const base = { PAYLOAD_KEYS: `k1:${newKey()}` };
const token = '0123456789abcdef';
const folder = mkdtempSync(join(tmpdir(), 'order-saga-codec-'));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

const problemsOf = (given: Environment): readonly string[] => {
  try {
    readCodecServerConfig({ ...base, ...given });
    return [];
  } catch (error) {
    if (error instanceof SettingsError) return error.problems;
    throw error;
  }
};

it('needs nothing but the keys, and is then for this machine alone', () => {
  expect(readCodecServerConfig(base)).toMatchObject({
    host: '127.0.0.1',
    port: 8088,
    tokens: [],
    jwt: undefined,
    origins: [],
    tls: undefined,
    bodyBytesMax: 8_388_608,
  });
  expect(problemsOf({ PAYLOAD_KEYS: '' })).toEqual([
    'PAYLOAD_KEYS: is required: the keys that the workers have (or PAYLOAD_KEYS_FILE)',
  ]);
});

it.each(['127.0.0.1', '127.8.8.8', 'localhost', '::1'])('asks nobody at %s', (host) => {
  expect(problemsOf({ CODEC_HOST: host })).toEqual([]);
});

it.each(['0.0.0.0', '::', '10.0.0.1', 'codec.example', '::ffff:127.0.0.1', '127.0.0.1.example'])(
  'at %s demands to know who calls, and TLS',
  (host) => {
    expect(problemsOf({ CODEC_HOST: host })).toMatchObject([
      expect.stringMatching(/^CODEC_TOKEN: is required/),
      expect.stringMatching(/^CODEC_TLS_CERT_FILE: is required/),
    ]);
    expect(problemsOf({ CODEC_HOST: host, CODEC_ALLOW_HTTP: 'true', CODEC_TOKEN: token })).toEqual([]);
  },
);

it('takes an issuer, whose keys may come in the clear from this machine only', () => {
  const jwt = { CODEC_JWT_ISSUER: 'https://login.example', CODEC_JWT_AUDIENCE: 'codec' };
  for (const CODEC_JWKS_URL of ['https://login.example/keys', 'http://127.0.0.1:8080/keys']) {
    expect(readCodecServerConfig({ ...base, ...jwt, CODEC_JWKS_URL }).jwt).toEqual({
      jwksUrl: CODEC_JWKS_URL,
      issuer: 'https://login.example',
      audience: 'codec',
    });
  }
  expect(problemsOf({ ...jwt, CODEC_JWKS_URL: 'http://login.example/keys' })).toMatchObject([
    expect.stringMatching(/^CODEC_JWKS_URL: must be https:/),
  ]);
});

selfSigned('127.0.0.1');

describe('docs/settings.md', () => {
  const rows = tableUnder(readDocument('docs/settings.md'), 'The codec server');
  const names = rows.flatMap((row) => codesIn(row['name']!));

  it('names what is asked for, and nothing else', () => {
    const asked = new Set<string>();
    const env = new Proxy<Environment>(base, {
      get: (target, name) => {
        asked.add(String(name));
        return Reflect.get(target, name) as string | undefined;
      },
    });
    readCodecServerConfig(env);
    expect([...names, 'PAYLOAD_KEYS', 'PAYLOAD_KEYS_FILE'].sort()).toEqual([...asked].sort());
  });

  it('says the defaults', () => {
    for (const row of rows.filter((row) => row['default'] !== 'none')) {
      expect(readCodecServerConfig({ ...base, [codesIn(row['name']!)[0]!]: row['default'] })).toEqual({
        ...readCodecServerConfig(base),
        keys: expect.anything(),
      });
    }
  });
});
