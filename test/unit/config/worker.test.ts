/** Settings: what is wrong is told at once, all of it, by name; and passwords do not travel unless somebody says so. */
import { homedir } from 'node:os';
import { join } from 'node:path';

import {
  readClientConfig,
  readJournalConfig,
  readWorkerConfig,
  SettingsError,
  settingsGiven,
  type Environment,
} from '../../../src/config';
import { Authority } from '../../support/certificates';
import { folderForFile } from '../../support/folder';
import { problemsOf } from '../../support/settings';
import { newKey } from '../../support/keys';

const keys = `k1:${newKey()}`;
const enough = { PROVIDER_BASE_URL: 'https://provider.example', TEMPORAL_ADDRESS: 'localhost:7233' };

const { write: fileOf } = folderForFile();
const authority = new Authority();
afterAll(() => authority.remove());
const problems = (env: Environment, read: (env: Environment) => unknown = readWorkerConfig) => problemsOf(read, env);

/** One thing is wrong, and this is said of it. */
const expectOne = (env: Environment, sentence: RegExp, read?: (env: Environment) => unknown) =>
  expect(problems({ ...enough, ...env }, read)).toEqual([expect.stringMatching(sentence)]);

it('the least that a worker needs is where the provider is', () => {
  expect(problems({})).toEqual([expect.stringMatching(/^PROVIDER_BASE_URL: is required/)]);
  expect(problems(enough)).toEqual([]);
  expect(readClientConfig({})).toMatchObject({ namespace: 'default', taskQueue: 'order-saga', payloadKeys: undefined });
});

it.each([
  [20_000, 5_000, 40_000],
  [1_000, 1_000, 17_000],
])('with calls of %p ms, one leaves within %p ms, and a stop has %p ms', (timeoutMs, sendWithinMs, shutdownGraceMs) => {
  const config = readWorkerConfig({ ...enough, PROVIDER_TIMEOUT_MS: String(timeoutMs), PROVIDER_SETTLES_MS: '7' });
  expect(config).toMatchObject({
    shutdownGraceMs,
    activities: { sendWithinMs, inFlightMs: sendWithinMs + timeoutMs + 7 },
  });
});

const budgetOfThree = {
  pivot: { attemptsMax: 3, totalMs: 60 },
  compensate: { attemptsMax: 5, totalMs: 240 },
  poll: { attemptsMax: 15, totalMs: 120 },
};

it.each<[env: Environment, config: object]>([
  [{ PROVIDER_AUTH_HEADER: 'x-key', PROVIDER_AUTH_SCHEME: ' ' }, { provider: { authHeader: 'x-key', authScheme: '' } }],
  [{ PROVIDER_PROFILE: 'http' }, { provider: { profile: { order: { doneIf: 'status' } } } }],
  [{ PROVIDER_QUOTE_METHOD: 'GET' }, { provider: { quoteMethod: 'GET' } }],
  [{ PROVIDER_CALLS_PER_SECOND: '0.5' }, { callsPerSecond: 0.5 }],
  [{ PIVOT_RETRY_STATUSES: '408,429' }, { activities: { pivotRetryStatuses: [408, 429] } }],
  // After one of these an order may be there: what is safe to repeat is said of no other, and the more careful word counts.
  [{ PIVOT_RETRY_STATUSES: '409,423,429,499,503' }, { activities: { pivotRetryStatuses: [429, 503] } }],
  [{ PIVOT_RETRY_STATUSES: '', ON_REFUSAL: '' }, { activities: { pivotRetryStatuses: [429], onRefusal: 'fail' } }],
  [{ ON_REFUSAL: 'ask' }, { activities: { onRefusal: 'ask' } }],
  [{ DUPLICATE_WITHIN_MS: '600000' }, { activities: { duplicateWithinMs: 600_000 } }],
  [{ SPEND_LIMITS: '*=5 items/1h' }, { activities: { spendLimits: [{ account: '*', most: 5, unit: 'items' }] } }],
  [{ REQUIRE_FIREWALLS: 'refuse' }, { activities: { requireFirewalls: 'refuse' } }],
  [{ TAKE_CLEAR_REQUESTS: 'true' }, { activities: { takesClearRequests: true } }],
  [{ TEMPORAL_UI_URL: 'https://ui.example' }, { activities: { notifications: { webUiUrl: 'https://ui.example' } } }],
  [{ RETRY_BUDGET: '3,10,50,60' }, { activities: { retries: budgetOfThree } }],
  [{ JOURNAL_FAILOVER: 'lossless' }, { journal: { failover: 'lossless' } }],
  [{ JOURNAL_WITNESS_FILE: '/w' }, { journal: { witnessFile: '/w' } }],
  [
    { TEMPORAL_DEPLOYMENT_NAME: 'd', TEMPORAL_WORKER_BUILD_ID: 'b', VERSIONING_BEHAVIOR: 'AUTO_UPGRADE' },
    { version: { deploymentName: 'd', buildId: 'b', behavior: 'AUTO_UPGRADE' } },
  ],
])('%j comes to what heeds it', (env, config) => {
  expect(readWorkerConfig({ ...enough, ...env })).toMatchObject(config);
});

/** A wrong value of every setting of the worker that can be wrong by itself. */
const wrong: [name: string, value: string, expected: RegExp][] = [
  ['PAYLOAD_KEYS', 'k1:c2hvcnQ=', /key k1 is 5 bytes long; it must be 32/],
  ['PAYLOAD_KEYS_FILE', '/no/such/file', /cannot be read \(ENOENT\)/],
  ['PAYLOAD_KEYS_FILE', '/dev/null', /the file is empty/],
  ['PAYLOAD_ENCRYPTION', 'none', /must be on or off/],
  ['PROVIDER_BASE_URL', 'provider.example', /is required/],
  ['PROVIDER_BASE_URL', 'ftp://provider.example', /is required/],
  ['PROVIDER_BASE_URL', 'http://provider.example', /must be https:/],
  ['PROVIDER_BASE_URL', 'https://user:word@provider.example', /no credentials/],
  ['PROVIDER_BASE_URL', 'https://provider.example/?v=1', /no query/],
  ['PROVIDER_ALLOW_HTTP', 'yes', /must be true or false/],
  ['PROVIDER_AUTH_HEADER', 'two words', /must be the name of a header/],
  ['PROVIDER_AUTH_SCHEME', 'two words', /must be one word/],
  ['PROVIDER_PROFILE', '/nowhere/profile.json', /must be http, or a file .*ENOENT/],
  ['PROVIDER_QUOTE_METHOD', 'POST', /must be PUT or GET/],
  ['PROVIDER_CA_FILE', '/nowhere/ca.pem', /cannot be read \(ENOENT\)/],
  ['PROVIDER_TOKEN_FILE', '/nowhere/token', /cannot be read \(ENOENT\)/],
  ['SERVER_POINTERS', '/vm_object_ids', /there is no such setting/],
  ['PLACED_IF', '/order_id', /there is no such setting/],
  ['OUTAGE_HOLD_MS', '300000', /there is no such setting/],
  ['OWN_TRIES_S', '300', /there is no such setting/],
  ['PIVOT_UNSURE_STATUSES', '403', /there is no such setting/],
  ['PIVOT_RETRY_STATUSES', '200', /must be statuses like 429,503/],
  ['TAKE_CLEAR_REQUESTS', 'maybe', /must be true or false/],
  ['RETRY_BUDGET', '1,2,3,-4', /four whole numbers/],
  ['LOG_LEVEL', 'loud', /must be trace, debug, info, warn or error/],
  ['PROVIDER_SETTLES_MS', '1 min', /a whole number from 0 to 3600000/],
  ['JOURNAL_URL_FILE', '/nowhere/url', /cannot be read \(ENOENT\)/],
  ['JOURNAL_FAILOVER', 'sometimes', /ask.*lossless/],
  ['TEMPORAL_ADDRESS', 'http://localhost:7233', /must be a host and a port/],
  ['TEMPORAL_ADDRESS', '[half', /must be a host and a port/],
  ['PRICE_LIST_FILE', '/nowhere/prices.json', /ENOENT/],
  ['TEMPORAL_CONFIG_FILE', '/nowhere/temporal.toml', /cannot be read \(ENOENT\)/],
  ['JOURNAL_WITNESS_FILE', 'witness', /must be a whole path/],
];

it.each(wrong)('%s: %p is refused by its name', (name, value, expected) => {
  const told = problems({ ...enough, [name]: value }).filter((one) => one.startsWith(`${name}: `));
  expect(told).toEqual([expect.stringMatching(new RegExp(`^${name}: .*${expected.source}`))]);
});

it('all that is wrong is told at once', () => {
  const env = { RETRY_BUDGET: '1', LOG_LEVEL: 'loud', PROVIDER_QUOTE_METHOD: 'POST' };
  const told = problems({ ...enough, ...env });
  expect(told.map((one) => one.split(':')[0]).sort()).toEqual(Object.keys(env).sort());
  expect(new SettingsError(told).message.split('\n')).toHaveLength(told.length + 1);
});

it.each([
  ['of a key', { PAYLOAD_KEYS: 'k1:U2VjcmV0VGhhdFNoYWxsTm90U2hvdw==' }, 'U2VjcmV0'],
  ['in the address', { PROVIDER_BASE_URL: 'https://user:SecretWord@provider.example' }, 'SecretWord'],
  ['in the journal’s address', { JOURNAL_URL: 'postgres://order:SecretWord@host' }, 'SecretWord'],
  ['in two addresses', { JOURNAL_URL: 'postgres://o:SecretWord@h/j', JOURNAL_URL_FILE: '/x' }, 'SecretWord'],
  ['of a file that is no price list', { PRICE_LIST_FILE: fileOf('no-list', 'SecretWord') }, 'SecretWord'],
  ['of a token beside a token file', { PROVIDER_TOKEN: 'SecretWord', PROVIDER_TOKEN_FILE: '/nowhere' }, 'SecretWord'],
])('nothing %s is repeated in a complaint', (_what, env, secret) => {
  const told = problems({ ...enough, ...env });
  expect(told).not.toEqual([]);
  expect(told.join()).not.toContain(secret);
});

it('a limit in a currency that nothing is priced in is refused, as it would limit nothing', () => {
  const list = { PRICE_LIST_FILE: fileOf('prices', '{"currency":"USD","plans":[]}') };
  expectOne({ ...list, SPEND_LIMITS: '*=1 eur/30d' }, /^SPEND_LIMITS: 1 eur\/30d: PRICE_LIST_FILE is in USD/);
  expect(problems({ ...enough, ...list, SPEND_LIMITS: '*=1 USD/30d, *=2 items/1d' })).toEqual([]);
});

describe('a journal on another machine', () => {
  const url = (host: string) => ({ JOURNAL_URL: `postgres://order:word@${host}/journal` });

  it.each(['db.internal', '10.0.0.5', 'localhost/journal?host=db.internal&x='])('needs keys: %s', (host) => {
    expectOne(url(host), /^PAYLOAD_KEYS: is required for a journal that is not on this machine/);
    expect(problems({ ...enough, ...url(host), PAYLOAD_ENCRYPTION: 'off' })).toEqual([]);
  });

  const here = ['localhost', '127.0.0.1:5432', '[::1]', 'localhost/journal?host=/run/postgresql&x='];
  it.each(here)('not here: %s', (host) => {
    expect(problems({ ...enough, ...url(host) })).toEqual([]);
  });
});

describe('settings that do not go together', () => {
  it('a token and a token file', () => {
    const PROVIDER_TOKEN_FILE = fileOf('token', 'one\n');
    const sentence = /^PROVIDER_TOKEN: cannot be set together with PROVIDER_TOKEN_FILE; set one of them$/;
    expectOne({ PROVIDER_TOKEN: 'two', PROVIDER_TOKEN_FILE }, sentence);
    expect(readWorkerConfig({ ...enough, PROVIDER_TOKEN_FILE }).provider.readToken?.()).toBe('one');
  });
});

describe('a proxy', () => {
  const HTTPS_PROXY = 'http://ann:word@proxy.test:3128';
  it.each<[Record<string, string>, string | undefined]>([
    [{ HTTPS_PROXY }, HTTPS_PROXY],
    [{ HTTPS_PROXY: 'other.test', https_proxy: 'proxy.test:3128' }, 'http://proxy.test:3128'],
    [{ HTTP_PROXY: HTTPS_PROXY }, undefined],
    [{ HTTPS_PROXY, PROVIDER_BASE_URL: 'https://127.0.0.1:8443' }, undefined],
    [{ HTTPS_PROXY, NO_PROXY: 'other.test, .example' }, undefined],
    [{ HTTPS_PROXY, NO_PROXY: 'provider.example:443' }, undefined],
    [{ HTTPS_PROXY, NO_PROXY: 'provider.example:8443,vider.example' }, HTTPS_PROXY],
    [{ HTTPS_PROXY, NO_PROXY: '*' }, undefined],
  ])('of %j is %s', (env, proxy) => {
    expect(readWorkerConfig({ ...enough, ...env }).provider.proxy).toBe(proxy);
  });

  it('must have an address, and a wrong one is not repeated', () => {
    const [said = '', ...more] = problems({ ...enough, HTTPS_PROXY: 'socks5://ann:SecretWord@proxy.test' });
    expect([said, more]).toEqual([expect.stringMatching(/^HTTPS_PROXY: must be the address/), []]);
    expect(said).not.toContain('SecretWord');
  });
});

describe('files', () => {
  it('of an authority must hold a certificate', () => {
    const other = fileOf('ca.pem', 'something else');
    expectOne({ PROVIDER_CA_FILE: other }, /^PROVIDER_CA_FILE: must be the PEM of a certificate$/);
    expect(problems({ ...enough, PROVIDER_CA_FILE: authority.certificate.certFile })).toEqual([]);
  });

  it('of TLS to Temporal must hold a certificate and its own key', () => {
    const withoutEnd = (pem: Buffer) => Buffer.from(pem.toString().replace(/\r?\n$/, ''));
    const [own, other] = [authority.forClient('own.test'), authority.forClient('other.test')];
    const tls = (TEMPORAL_TLS_CLIENT_CERT_PATH: string, TEMPORAL_TLS_CLIENT_KEY_PATH: string) =>
      problems({ ...enough, TEMPORAL_TLS_CLIENT_CERT_PATH, TEMPORAL_TLS_CLIENT_KEY_PATH }, readClientConfig);
    expect(tls(own.certFile, own.keyFile)).toEqual([]);
    // An editor has begun both with a byte order mark.
    const marked = [own.cert, own.key].map((pem, at) => fileOf(`marked-${at}.pem`, `\ufeff${pem.toString()}`));
    const [TEMPORAL_TLS_CLIENT_CERT_PATH, TEMPORAL_TLS_CLIENT_KEY_PATH] = marked;
    const read = readClientConfig({ ...enough, TEMPORAL_TLS_CLIENT_CERT_PATH, TEMPORAL_TLS_CLIENT_KEY_PATH });
    const clientCertPair = { crt: withoutEnd(own.cert), key: withoutEnd(own.key) };
    expect(read.temporal.connectionOptions.tls).toMatchObject({ clientCertPair });
    expect(tls(own.certFile, other.keyFile)).toEqual([expect.stringMatching(/certificate and of its own key/)]);
    expect(tls(fileOf('cert.pem', 'nothing'), own.keyFile)).toEqual([expect.stringMatching(/^TEMPORAL_TLS_CLIENT_/)]);
    for (const half of [tls(own.certFile, ''), tls('', own.keyFile)])
      expect(half).toEqual([expect.stringMatching(/certificate and of its own key/)]);
    expect(tls('/nowhere/cert.pem', own.keyFile)).toEqual([expect.stringMatching(/^TEMPORAL_….*ENOENT/)]);
    const TEMPORAL_TLS_SERVER_CA_CERT_PATH = fileOf('server-ca.pem', 'nothing');
    expectOne({ TEMPORAL_TLS_SERVER_CA_CERT_PATH }, /^TEMPORAL_TLS_SERVER_CA_CERT_/);
  });
});

const JOURNAL_URL = 'postgres://localhost/journal';
describe.each([
  ['a worker', (env: Environment) => readWorkerConfig({ ...enough, JOURNAL_URL, ...env })],
  ['a client', readClientConfig],
])('%s without keys', (_who, read) => {
  const refused = [expect.stringMatching(/^PAYLOAD_KEYS: is required for a Temporal server that is not on this mach/)];

  it.each(['temporal.example:7233', '10.0.0.7:7233', '0.0.0.0:7233', '127.0.0.1.example:7233', '[fd00::1]:7233'])(
    'may not go to %s',
    (TEMPORAL_ADDRESS) => {
      expect(problems({ TEMPORAL_ADDRESS }, read)).toEqual(refused);
      expect(problems({ TEMPORAL_ADDRESS, PAYLOAD_ENCRYPTION: 'on' }, read)).toEqual(refused);
      expect(problems({ TEMPORAL_ADDRESS, PAYLOAD_ENCRYPTION: 'off' }, read)).toEqual([]);
      expect(problems({ TEMPORAL_ADDRESS, PAYLOAD_KEYS: keys }, read)).toEqual([]);
    },
  );

  it.each(['localhost:7233', '127.0.0.1:7233', '127.1.2.3:1', '[::1]:7233', ''])('may go to %p', (TEMPORAL_ADDRESS) => {
    expect(problems({ TEMPORAL_ADDRESS }, read)).toEqual([]);
  });

  it('may not go by a profile either', () => {
    const profiles = '[profile.default]\naddress = "temporal.example:7233"\n[profile.here]\naddress = "localhost:1"\n';
    const byProfile = { TEMPORAL_ADDRESS: '', TEMPORAL_CONFIG_FILE: fileOf('temporal.toml', profiles) };
    expect(problems(byProfile, read)).toEqual(refused);
    expect(problems({ ...byProfile, TEMPORAL_PROFILE: 'here' }, read)).toEqual([]);
  });
});

describe('the journal', () => {
  const required = expect.stringMatching(/^JOURNAL_URL: is required for a Temporal server that is not on this machine/);
  const away = { ...enough, PAYLOAD_KEYS: keys, TEMPORAL_ADDRESS: 'temporal.example:7233' };
  const journalOf = (env: Environment) => readJournalConfig(env);

  it('must be named where Temporal is not on this machine', () => {
    expect(problems(away)).toEqual([required]);
    expect(problems({ ...away, JOURNAL_URL: '' })).toEqual([required]);
    expect(problems({ ...away, JOURNAL_URL: 'postgres://host/journal' })).toEqual([]);
    expect(problems({ ...away, JOURNAL_URL_FILE: fileOf('url', 'postgres://host/j\n') })).toEqual([]);
  });

  it('is the same file from every folder, for the worker and for whoever reads it alone', () => {
    const file = join(homedir(), '.local/state/order-saga/journal.db');
    expect(journalOf({}).address).toEqual({ file });
    expect(journalOf({ XDG_STATE_HOME: '/state' }).address).toEqual({ file: '/state/order-saga/journal.db' });
    expect(journalOf({ XDG_STATE_HOME: '' }).address).toEqual({ file });
    expect(readWorkerConfig(enough).journal.address).toEqual({ file });
  });

  it.each([
    ['file:/var/lib/journal.db', '/var/lib/journal.db'],
    ['file:///var/lib/journal.db', '/var/lib/journal.db'],
    ['file:/var/lib/a%20name.db', '/var/lib/a name.db'],
  ])('%s is a file', (JOURNAL_URL, file) => {
    expect(journalOf({ JOURNAL_URL })).toMatchObject({ address: { file }, name: `file:${file}` });
  });

  it.each([
    ['postgres://order:word@host/journal', 'postgres://host/journal'],
    ['postgresql://host:5433/journal', 'postgres://host:5433/journal'],
    ['postgres://order:w%40rd@[::1]:5432/journal?sslmode=verify-full', 'postgres://[::1]:5432/journal'],
  ])('%s is a database, called by what is no secret', (postgres, name) => {
    expect(journalOf({ JOURNAL_URL: postgres })).toMatchObject({ address: { postgres }, name });
    const JOURNAL_URL_FILE = fileOf('journal-url', `${postgres}\n`);
    expect(journalOf({ JOURNAL_URL_FILE })).toMatchObject({ address: { postgres }, name });
  });

  it.each([
    ...['journal.db', '/var/lib/journal.db', 'file:', 'file://', 'file://otherhost/journal.db', 'file:/var/lib/100%'],
    ...['mysql://host/journal', 'postgres:host/journal', 'postgres://host', 'postgres://host/', 'postgres:///journal'],
    ...['postgres://order:w%rd@host/journal', 'postgres://order:wo/rd@host/journal'],
    ...['#', '/', '?', '/x?', '?x/'].map((sign) => `postgres://order:12${sign}34@host/journal`),
  ])('%s is refused', (JOURNAL_URL) => {
    const signs = '; in a user or a password # is written as %23, / as %2F, ? as %3F, @ as %40, % as %25';
    const hint = JOURNAL_URL.startsWith('postgres') ? signs : '';
    const told = (name: string) => [`${name}: must be postgres://user@host/database or file:/path/of/a/file${hint}`];
    expect(problems({ JOURNAL_URL }, readJournalConfig)).toEqual(told('JOURNAL_URL'));
    const JOURNAL_URL_FILE = fileOf('refused', JOURNAL_URL);
    expect(problems({ JOURNAL_URL_FILE }, readJournalConfig)).toEqual(told('JOURNAL_URL_FILE'));
  });

  it.each(['journal.db', '../journal.db', '~/journal.db', '%7E/journal.db'])(
    'file:%s has no place of its own',
    (path) => {
      const told = problems({ JOURNAL_URL: `file:${path}` }, readJournalConfig);
      expect(told).toEqual([expect.stringMatching(/^JOURNAL_URL: the file must be a whole path, from \/ on/)]);
    },
  );

  it.each(['prefer', 'require', 'verify-ca'])(
    'is asked in one way, without a warning of its driver: sslmode=%s',
    (mode) => {
      const { address } = journalOf({ JOURNAL_URL: `postgres://host/journal?sslmode=${mode}&connect_timeout=2` });
      expect(address).toEqual({ postgres: 'postgres://host/journal?sslmode=verify-full&connect_timeout=2' });
    },
  );

  it('has certificates that can be read', () => {
    const at = (parameters: string) => ({ JOURNAL_URL: `postgres://host/journal?sslmode=verify-full&${parameters}` });
    const { certFile } = authority.certificate;
    expect(problems(at(`sslrootcert=${certFile}`), readJournalConfig)).toEqual([]);
    const lacks = (name: string) => new RegExp(`^JOURNAL_URL: ${name}: cannot be read \\(ENOENT\\)$`);
    expectOne(at('sslrootcert=/nowhere/ca.pem'), lacks('sslrootcert'), readJournalConfig);
    expectOne(at(`sslrootcert=${certFile}&sslkey=/nowhere/key.pem`), lacks('sslkey'), readJournalConfig);
  });
});

it('reads a value as it reads a file: without a line end behind, and without a mark before', () => {
  const marked = (text: string) => `\ufeff${text}\r\n`;
  const given = {
    PROVIDER_BASE_URL: marked('https://provider.example'),
    TEMPORAL_NAMESPACE: marked('orders'),
    PROVIDER_TOKEN: marked('tok-1'),
    JOURNAL_URL: marked('file:/state/journal.db'),
    SECRET_ROOT: marked(' a password '),
    PRICE_LIST_FILE: fileOf('marked.json', marked('{"currency":"USD","plans":[]}')),
    TEMPORAL_CONFIG_FILE: fileOf('marked.toml', marked('[profile.default]\naddress = "localhost:1"')),
  };
  const { provider, journal, activities, secrets, ...config } = readWorkerConfig(given);
  expect(config).toMatchObject({ namespace: 'orders', temporalAddress: 'localhost:1' });
  expect(provider).toMatchObject({ baseUrl: 'https://provider.example' });
  expect(provider.readToken?.()).toBe('tok-1');
  expect(journal.address).toEqual({ file: '/state/journal.db' });
  expect(activities.priceList).toMatchObject({ currency: 'usd' });
  expect(secrets.variable('SECRET_ROOT')).toBe(' a password ');
  expect(settingsGiven(given)).toMatchObject({ TEMPORAL_NAMESPACE: 'orders' });
});

describe('a name that no program reads', () => {
  it.each([
    ['PROVIDER_TOKN', 'PROVIDER_TOKEN'],
    ['JOURNAL_URI', 'JOURNAL_URL'],
    ['TEMPORAL_NAMESPCE', 'TEMPORAL_NAMESPACE'],
    ['CODEC_TOKENS', 'CODEC_TOKEN'],
    ['REQUIRE_FIREWALL', 'REQUIRE_FIREWALLS'],
    ['DUPLICATE_WITHIN', 'DUPLICATE_WITHIN_MS'],
    ['PAYLOADS_KEYS', 'PAYLOAD_KEYS'],
    ['SECRET_FOLDER', 'SECRETS_FOLDER'],
    ['VERSIONING_BEHAVIOUR', 'VERSIONING_BEHAVIOR'],
  ])('%s is refused with the nearest one, by every program', (name, nearest) => {
    const told = [`${name}: there is no such setting; the nearest one is ${nearest}`];
    for (const read of [readWorkerConfig, readClientConfig, readJournalConfig])
      expect(problems({ ...enough, [name]: 'x' }, read)).toEqual(told);
    expect(problems({ ...enough, [name]: '' })).toEqual([]);
  });

  it.each(['PLAN_TYPES_MORE', 'PRICE_LIST'])('%s is refused without another one, as none is near', (name) => {
    const told = [`${name}: there is no such setting (docs/settings.md has all)`];
    expect(problems({ ...enough, [name]: 'gpu' })).toEqual(told);
  });

  it.each([
    'HOME',
    'LOGLEVEL',
    'TEMPORAL_CLI_PATH',
    'JOURNAL_SERVICE_HOST',
    'PROVIDER_PORT_443_TCP_ADDR',
    'CODEC_ALLOW_HTTP',
  ])('%s is another’s, or of another program', (name) => {
    expect(problems({ ...enough, [name]: 'x' })).toEqual([]);
  });
});

it('shows which settings are given, and of what may be secret only that it is', () => {
  const plain = {
    PROVIDER_BASE_URL: 'https://provider.example',
    TEMPORAL_NAMESPACE: 'orders',
    PROVIDER_CA_FILE: '/ca',
  };
  const secret = { PROVIDER_TOKEN: 'tok-1', PAYLOAD_KEYS: keys };
  const unset = { TEMPORAL_ADDRESS: '', PROVIDER_TOKEN_FILE: '', PROVIDER_PASSWORD: '' };
  const shown = { ...plain, PROVIDER_TOKEN: '(set)', PAYLOAD_KEYS: '(set)' };
  expect(settingsGiven({ ...plain, ...secret, ...unset, HOME: '/root' })).toEqual(shown);
  const inParts = { PROVIDER_BASE_URL: 'https://u:pa/ss@host?api_key=k' };
  expect(settingsGiven(inParts)).toEqual({ PROVIDER_BASE_URL: '(set)' });
});
