/** Settings: what is wrong is told at once, all of it, by name; and passwords do not travel unless somebody says so. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import {
  readClientConfig,
  readJournalConfig,
  readWorkerConfig,
  SettingsError,
  type Environment,
} from '../../../src/config';
import { Authority } from '../../support/certificates';

const keys = `k1:${randomBytes(32).toString('base64')}`;
const enough = { PROVIDER_BASE_URL: 'https://provider.example', TEMPORAL_ADDRESS: 'localhost:7233' };

let folder: string;
let authority: Authority;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'order-saga-config-'));
  authority = new Authority();
});
afterAll(() => {
  rmSync(folder, { recursive: true });
  authority.remove();
});
const fileOf = (name: string, content: string) => {
  writeFileSync(join(folder, name), content);
  return join(folder, name);
};

function problems(env: Environment, read: (env: Environment) => unknown = readWorkerConfig): readonly string[] {
  try {
    read(env);
    return [];
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    return error.problems;
  }
}

it('the least that a worker needs is where the provider is', () => {
  expect(problems({})).toEqual([expect.stringMatching(/^PROVIDER_BASE_URL: is required/)]);
  expect(problems(enough)).toEqual([]);
  expect(readClientConfig({})).toMatchObject({ namespace: 'default', taskQueue: 'order-saga', payloadKeys: undefined });
});

/** A wrong value of every setting of the worker that can be wrong by itself. */
const wrong: [name: string, value: string, expected: RegExp][] = [
  ['PAYLOAD_KEYS', 'k1:c2hvcnQ=', /key k1 is 5 bytes long; it must be 32/],
  ['PAYLOAD_KEYS', randomBytes(32).toString('base64'), /key 1 must be an id, a colon and the base64/],
  ['PAYLOAD_KEYS', `${keys},${keys}`, /key k1 is given twice/],
  ['PAYLOAD_KEYS_FILE', '/no/such/file', /cannot be read \(ENOENT\)/],
  ['PAYLOAD_KEYS_FILE', '/dev/null', /key 1 must be an id, a colon and the base64/],
  ['PAYLOAD_ENCRYPTION', 'none', /must be on or off/],
  ['PROVIDER_BASE_URL', 'provider.example', /is required/],
  ['PROVIDER_BASE_URL', 'ftp://provider.example', /is required/],
  ['PROVIDER_BASE_URL', 'http://provider.example', /must be https:/],
  ['PROVIDER_BASE_URL', 'https://user:word@provider.example', /no credentials/],
  ['PROVIDER_BASE_URL', 'https://provider.example/?v=1', /no query/],
  ['PROVIDER_ALLOW_HTTP', 'yes', /must be true or false/],
  ['PROVIDER_AUTH_HEADER', 'two words', /must be the name of a header/],
  ['PROVIDER_AUTH_SCHEME', 'two words', /must be one word/],
  ['PROVIDER_CONNECT_TIMEOUT_MS', '0', /from 1 to 25000/],
  ['PROVIDER_TIMEOUT_MS', '26000', /from 1 to 25000/],
  ['PROVIDER_RESPONSE_BYTES_MAX', '1 MB', /a whole number from 1024/],
  ['PROVIDER_CONNECTIONS', '-1', /a whole number from 1/],
  ['PROVIDER_QUOTE_METHOD', 'POST', /must be PUT or GET/],
  ['PROVIDER_CA_FILE', '/nowhere/ca.pem', /cannot be read \(ENOENT\)/],
  ['PROVIDER_TOKEN_FILE', '/nowhere/token', /cannot be read \(ENOENT\)/],
  ['PLAN_TYPES_MORE', 'gpu:maybe', /must be plan types, .*each with :server, :other or nothing/],
  ['PLAN_TYPES_MORE', 'cloud_servers_highstorage:other', /the document’s cloud servers cannot be :other/],
  ['SERVER_POINTERS', 'vm_object_ids', /must be JSON pointers/],
  ['SERVER_DIRECTORY_PATH', 'servers', /must begin with \//],
  ['SERVER_DIRECTORY_POINTERS', 'id', /must be JSON pointers/],
  ['SERVER_DIRECTORY_LABEL_IS_UNIQUE', '1', /must be true or false/],
  ['PIVOT_RETRY_STATUSES', '200', /must be statuses like 429,503/],
  ['APPROVAL_MAX_AGE_MS', '1 day', /a whole number/],
  ['TAKE_CLEAR_REQUESTS', 'maybe', /must be true or false/],
  ['RETRY_READING', '3', /four whole numbers/],
  ['RETRY_MUTATING', '1,2,3', /four whole numbers/],
  ['RETRY_COMPENSATING', 'a,b,c,d', /four whole numbers/],
  ['RETRY_PIVOT', '1,2,3,-4', /four whole numbers/],
  ['RETRY_POLLING', '1;2;3;4', /four whole numbers/],
  ['SHUTDOWN_GRACE_MS', '700000', /from 0 to 600000/],
  ['ACTIVITIES_AT_ONCE', '0', /from 1 to 10000/],
  ['WORKFLOW_TASKS_AT_ONCE', '1', /from 2 to 10000/],
  ['LOG_LEVEL', 'loud', /must be trace, debug, info, warn or error/],
  ['SEND_WITHIN_MS', '400', /from 500 to 8000/],
  ['PROVIDER_SETTLES_MS', '1 min', /a whole number from 0 to 3600000/],
  ['JOURNAL_URL', 'mysql://host/journal', /must be postgres:/],
  ['JOURNAL_URL_FILE', '/nowhere/url', /cannot be read \(ENOENT\)/],
  ['JOURNAL_FAILOVER', 'sometimes', /ask.*lossless/],
  ['TEMPORAL_ADDRESS', 'http://localhost:7233', /must be a host and a port/],
  ['TEMPORAL_ADDRESS', '[half', /must be a host and a port/],
  ['TEMPORAL_CONFIG_FILE', '/nowhere/temporal.toml', /there is no such file/],
];

it.each(wrong)('%s: %p is refused by its name', (name, value, expected) => {
  const told = problems({ ...enough, [name]: value });
  expect(told).toEqual([expect.stringMatching(new RegExp(`^${name}: .*${expected.source}`))]);
});

it.each([
  ['of a key', { PAYLOAD_KEYS: 'k1:U2VjcmV0VGhhdFNoYWxsTm90U2hvdw==' }, 'U2VjcmV0'],
  ['in the address', { PROVIDER_BASE_URL: 'https://user:SecretWord@provider.example' }, 'SecretWord'],
  ['in the journal’s address', { JOURNAL_URL: 'postgres://order:SecretWord@host' }, 'SecretWord'],
  [
    'in two addresses',
    { JOURNAL_URL: 'postgres://order:SecretWord@host/journal', JOURNAL_URL_FILE: '/x' },
    'SecretWord',
  ],
  ['of a token beside a token file', { PROVIDER_TOKEN: 'SecretWord', PROVIDER_TOKEN_FILE: '/nowhere' }, 'SecretWord'],
])('nothing %s is repeated in a complaint', (_what, env, secret) => {
  const told = problems({ ...enough, ...env });
  expect(told).not.toEqual([]);
  expect(told.join()).not.toContain(secret);
});

describe('a journal on another machine', () => {
  const url = (host: string) => ({ JOURNAL_URL: `postgres://order:word@${host}/journal` });

  it.each(['db.internal', '10.0.0.5', 'localhost/journal?host=db.internal&x='])('needs keys: %s', (host) => {
    expect(problems({ ...enough, ...url(host) })).toEqual([
      expect.stringMatching(/^PAYLOAD_KEYS: is required for a journal that is not on this machine/),
    ]);
    expect(problems({ ...enough, ...url(host), PAYLOAD_ENCRYPTION: 'off' })).toEqual([]);
  });
});

describe('settings that do not go together', () => {
  it('a stop that is shorter than a call', () => {
    expect(problems({ ...enough, SHUTDOWN_GRACE_MS: '1000' })).toEqual([expect.stringMatching(/^SHUTDOWN_GRACE_MS/)]);
  });
});

describe.each([
  [
    'a worker',
    (env: Environment) => readWorkerConfig({ ...enough, JOURNAL_URL: 'postgres://localhost/journal', ...env }),
  ],
  ['a client', readClientConfig],
])('%s without keys', (_who, read) => {
  const refused = [
    expect.stringMatching(/^PAYLOAD_KEYS: is required for a Temporal server that is not on this machine/),
  ];

  it.each(['temporal.example:7233', '10.0.0.7:7233', '0.0.0.0:7233', '127.0.0.1.example:7233', '[fd00::1]:7233'])(
    'may not go to %s',
    (TEMPORAL_ADDRESS) => {
      expect(problems({ TEMPORAL_ADDRESS }, read)).toEqual(refused);
      expect(problems({ TEMPORAL_ADDRESS, PAYLOAD_ENCRYPTION: 'on' }, read)).toEqual(refused);
      expect(problems({ TEMPORAL_ADDRESS, PAYLOAD_ENCRYPTION: 'off' }, read)).toEqual([]);
      expect(problems({ TEMPORAL_ADDRESS, PAYLOAD_KEYS: keys }, read)).toEqual([]);
    },
  );
});

describe('the journal', () => {
  const required = expect.stringMatching(/^JOURNAL_URL: is required for a Temporal server that is not on this machine/);
  const away = { ...enough, PAYLOAD_KEYS: keys };

  it.each(['temporal.example:7233', '10.0.0.7:7233', '0.0.0.0:7233', '[fd00::1]:7233'])(
    'must be named where Temporal is at %s',
    (TEMPORAL_ADDRESS) => {
      expect(problems({ ...away, TEMPORAL_ADDRESS })).toEqual([required]);
      expect(problems({ ...away, TEMPORAL_ADDRESS, JOURNAL_URL: '' })).toEqual([required]);
      expect(problems({ ...away, TEMPORAL_ADDRESS, JOURNAL_URL: 'postgres://host/journal' })).toEqual([]);
      expect(problems({ ...away, TEMPORAL_ADDRESS, JOURNAL_URL_FILE: fileOf('url', 'postgres://host/j\n') })).toEqual(
        [],
      );
    },
  );

  it.each(['localhost:7233', '127.1.2.3:1', '[::1]:7233', ''])(
    'is a file where Temporal is at %p',
    (TEMPORAL_ADDRESS) => {
      const { journal } = readWorkerConfig({ ...enough, TEMPORAL_ADDRESS, XDG_STATE_HOME: '/state' });
      expect(journal).toEqual({
        address: { file: '/state/order-saga/journal.db' },
        name: 'file:/state/order-saga/journal.db',
        failover: 'ask',
      });
    },
  );

  it.each([
    'journal.db',
    '/var/lib/journal.db',
    'file:',
    'file://',
    'file://otherhost/journal.db',
    'file:/var/lib/100%',
    'mysql://host/journal',
    'postgres:host/journal',
    'postgres://host',
    'postgres://host/',
    'postgres:///journal',
    'postgres://order:w%rd@host/journal',
    'postgres://order:wo/rd@host/journal',
  ])('%s is refused', (JOURNAL_URL) => {
    const told = (setting: string) => [`${setting}: must be postgres://user@host/database or file:/path/of/a/file`];
    expect(problems({ JOURNAL_URL }, readJournalConfig)).toEqual(told('JOURNAL_URL'));
    const JOURNAL_URL_FILE = fileOf('refused', JOURNAL_URL);
    expect(problems({ JOURNAL_URL_FILE }, readJournalConfig)).toEqual(told('JOURNAL_URL_FILE'));
  });
});
