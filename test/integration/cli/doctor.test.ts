/** `doctor` finds what is wrong with an installation; `probe` asks a provider, by reads only. */
import { join } from 'node:path';
import { Sandbox, type SandboxOptions } from '../../../sandbox/server';
import { noHighWaterMark } from '../../../src/config';
import { openJournal } from '../../../src/journal/open';
import { parsePayloadKeys } from '../../../src/security/keys';
import { createSealing } from '../../../src/security/sealing';
import { readDocument } from '../../support/project';
import { runHere } from '../../support/command-line';
import { sandboxProfileFile } from '../../support/activity-settings';
import { provisionRequest } from '../../support/requests';
import { stuckOrder } from '../../support/orders';
import { rigForFile, until } from '../../support/rig';
import { answer } from '../../support/sagas';
import { closeAll, serve, type Answer } from '../../support/stand-in';

const rig = rigForFile();

interface Document {
  found: { what: string; is: string; found: string; then?: string }[];
  settings: Record<string, string>;
  profile: object;
}

async function doctor(changes: Record<string, string> = {}) {
  const { status, out, err } = await runHere(['doctor', '--json'], '', { ...rig.environment, ...changes });
  if (out === '') throw new Error(err);
  const { found, settings } = JSON.parse(out) as Document;
  const of = (is: string) => found.filter((one) => one.is === is).map(({ what }) => what);
  return { status, found, settings, wrong: of('wrong'), ok: of('ok'), out };
}

it('finds nothing wrong where all is there', async () => {
  await (await rig.sagas.provision(provisionRequest())).result();
  const { status, wrong, ok } = await doctor();
  expect({ status, wrong }).toEqual({ status: 0, wrong: [] });
  expect(ok).toEqual(
    expect.arrayContaining([
      ...['settings of a worker', 'search attributes', 'workers, for workflows', 'workers, for calls'],
      ...['new sagas', 'decisions', 'running sagas', 'provider', 'journal', 'keys'],
    ]),
  );
  const { out } = await runHere(['doctor'], '', rig.environment);
  const { version } = JSON.parse(readDocument('package.json')) as { version: string };
  expect(out).toMatch(new RegExp(`^ok +versions +order-saga ${version}, Node ${process.versions.node}`));
  expect(out).toContain('\nJOURNAL_URL=(set)\n');
});

it.each([
  ['no Temporal', { TEMPORAL_ADDRESS: '127.0.0.1:1' }, ['Temporal']],
  ['no worker', { TASK_QUEUE: 'nobody' }, ['workers, for workflows', 'workers, for calls']],
  ['a wrong setting', { PROVIDER_TIMEOUT_MS: 'soon' }, ['settings of a worker']],
  ['no journal', { JOURNAL_URL: 'file:/tmp/there-is-none/journal.db' }, ['journal']],
])('says what to do: %s', async (_, changes, expected) => {
  const { status, wrong, found } = await doctor(changes);
  expect({ status, wrong }).toEqual({ status: 2, wrong: expected });
  for (const one of found.filter(({ is }) => is === 'wrong')) expect(one.then).toBeDefined();
});

describe('asks the provider, by reads alone,', () => {
  it.each<[string, (url: string) => Record<string, string>, string, RegExp, string]>([
    [
      'a dead address',
      () => ({ PROVIDER_BASE_URL: 'http://127.0.0.1:1' }),
      'provider',
      /^NotSent: /,
      'is PROVIDER_BASE_URL right',
    ],
    [
      'a wrong token',
      () => ({ PROVIDER_TOKEN: 'another-token' }),
      'token',
      /^401, which means Unauthorized/,
      'PROVIDER_TOKEN',
    ],
    ['no token', () => ({ PROVIDER_TOKEN: '' }), 'token', /^401/, 'PROVIDER_TOKEN'],
    [
      'a wrong path',
      (url) => ({ PROVIDER_BASE_URL: `${url}/v2` }),
      'provider',
      /^answers as at a path that is not there: 404/,
      'is the path of PROVIDER_BASE_URL right',
    ],
    ['nothing wrong', () => ({}), '', /^/, ''],
  ])('and says %s', async (_, changes, what, says, then) => {
    const token = 'a-token-of-ours';
    const sandbox = await Sandbox.start({ token });
    try {
      const given = { PROVIDER_BASE_URL: sandbox.url, PROVIDER_TOKEN: token, ...changes(sandbox.url) };
      const { status, wrong, found } = await doctor(given);
      expect({ status, wrong }).toEqual({ status: what === '' ? 0 : 2, wrong: what === '' ? [] : [what] });
      const said = found.find((one) => one.what === (what || 'provider'));
      expect(said).toMatchObject({ found: expect.stringMatching(says) as string });
      expect(said?.then ?? '').toContain(then);
      expect(sandbox.ledger.entries).toEqual([]);
      for (const { endpoint } of sandbox.ledger.calls)
        expect([null, 'list-firewalls', 'find-servers']).toContain(endpoint);
    } finally {
      await sandbox.close();
    }
  });

  it('about a server of ours, where there is one', async () => {
    const { servers } = await (await rig.sagas.provision(provisionRequest())).result();
    expect(servers).toHaveLength(1);
    const { found } = await doctor();
    expect(found.find(({ what }) => what === 'provider')?.found).toMatch(/^lists the firewalls of server \d+$/);
  });
});

it('says what waits for a person, and since when', async () => {
  const { saga, waiting } = await stuckOrder(rig);
  const said = await until(async () => {
    const { status, found } = await doctor();
    const decisions = found.find(({ what }) => what === 'decisions');
    return decisions?.is === 'look' && { status, ...decisions };
  });
  const since = waiting.since.slice(0, 10);
  expect(said).toMatchObject({ status: 0, then: 'order-saga inbox names them' });
  expect(said.found).toMatch(/^1 saga waits for one \(1 stuck\), the longest since /);
  expect(said.found).toContain(since);
  await answer(saga, 'retry');
  await saga.result();
});

it('calls no setting of a worker wrong in the terminal of a client, and asks no provider', async () => {
  const { TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, JOURNAL_URL } = rig.environment;
  for (const journal of [{ JOURNAL_URL: JOURNAL_URL! }, {}] as Record<string, string>[]) {
    const given = { TEMPORAL_ADDRESS: TEMPORAL_ADDRESS!, TEMPORAL_NAMESPACE: TEMPORAL_NAMESPACE!, ...journal };
    const { status, out } = await runHere(['doctor', '--json'], '', { XDG_STATE_HOME: rig.folder, ...given });
    const { found } = JSON.parse(out) as Document;
    expect(found.find(({ what }) => what === 'settings of a worker')).toMatchObject({ is: 'look' });
    expect(found.filter(({ what }) => what === 'provider' || what === 'token')).toEqual([]);
    if ('JOURNAL_URL' in journal)
      expect({ status, wrong: found.filter(({ is }) => is === 'wrong') }).toEqual({ status: 0, wrong: [] });
  }
});

it('says where a restored journal may go unnoticed, and no more where a worker keeps what it has seen', async () => {
  const what = 'a restored journal';
  const { found } = await doctor();
  expect(found).toContainEqual(expect.objectContaining({ what, is: 'look', found: noHighWaterMark }));
  const kept = await doctor({ JOURNAL_WITNESS_FILE: join(rig.folder, 'seen.json') });
  expect(kept.found.map((one) => one.what)).not.toContain(what);
});

it('notices a journal of another namespace, with which no worker starts', async () => {
  const { wrong, found } = await doctor({ TEMPORAL_NAMESPACE: 'default' });
  expect(wrong).toContain('journal');
  expect(found.at(-1)?.found).toContain(`that of namespace ${rig.namespace}, not of default`);
});

it('notices keys that are not those of the journal', async () => {
  const journal = { file: join(rig.folder, 'sealed.db') };
  const keyOf = (byte: number) => `ours:${Buffer.alloc(32, byte).toString('base64')}`;
  const sealed = await openJournal(journal, createSealing(parsePayloadKeys(keyOf(6))));
  await sealed.take({ workflow: 'setFirewalls', reference: 'T-0' }, { account: undefined, request: {}, run: 'r' });
  await sealed.close();
  const { wrong, found } = await doctor({ JOURNAL_URL: `file:${journal.file}`, PAYLOAD_KEYS: keyOf(7) });
  expect(wrong).toEqual(['keys']);
  expect(found.at(-1)?.then).toBe('set PAYLOAD_KEYS to the keys of the workers');
});

it('prints no secret', async () => {
  const key = Buffer.alloc(32, 7).toString('base64');
  const { out, settings } = await doctor({ PAYLOAD_KEYS: `ours:${key}`, PROVIDER_TOKEN: 'a-token-of-ours' });
  expect(settings).toMatchObject({ PAYLOAD_KEYS: '(set)', PROVIDER_TOKEN: '(set)', JOURNAL_URL: '(set)' });
  expect(out).not.toContain(key);
  expect(out).not.toContain('a-token-of-ours');
});

describe('probe', () => {
  const token = 'a token of the provider';
  const servers = [
    { vmObjectId: 9001, account: 'AB-1', label: 'web', firewalls: [143, 144] },
    { vmObjectId: 9002, account: 'AB-1', label: 'web' },
  ];

  async function probe(options: SandboxOptions, args: string[], env: Record<string, string> = {}) {
    const sandbox = await Sandbox.start({ token, servers, ...options });
    try {
      const given = { PROVIDER_BASE_URL: sandbox.url, PROVIDER_TOKEN: token, ...env };
      const { status, out, err } = await runHere(['probe', '--json', '--server', '9001', ...args], '', given);
      if (out === '') throw new Error(err);
      const { found, settings, profile } = JSON.parse(out) as Document;
      expect(out + err).not.toContain(token);
      // Nothing was changed: every call was a look.
      const methods = new Set(sandbox.ledger.calls.map(({ endpoint }) => endpoint));
      const looks = ['list-firewalls', 'quote-change-order', 'quote-plan-switch', 'find-servers', null];
      expect([...methods].filter((name) => !looks.includes(name))).toEqual([]);
      const of = Object.fromEntries(found.map((one) => [one.what, one]));
      return { status, of, settings, profile, url: sandbox.url };
    } finally {
      await sandbox.close();
    }
  }

  const all = ['--subscription', '55', '--plan', '21'];
  const directory = ['--directory', '/servers?account={account}&label={label}', '--account', 'AB-1', '--label', 'web'];

  it('tells what can be read, and prints what follows', async () => {
    const { status, of, settings, profile, url } = await probe({ anySubscription: true, directory: { lag: 0 } }, [
      ...all,
      ...directory,
    ]);
    expect(status).toBe(0);
    expect(Object.values(of).map(({ is }) => is)).not.toContain('wrong');
    expect(of['token']?.found).toMatch(/^taken; without it: 401, which means Unauthorized/);
    expect(of['firewalls of server 9001']?.found).toBe('can be read: 143, 144');
    expect(of['a server that is not there']?.found).toMatch(/^404, which means Rejected/);
    expect(of['quote of a change, subscription 55']?.found).toMatch(/^PUT: \d+ usd$/);
    expect(of['quote of a switch to plan 21']?.found).toMatch(/^\d+ usd$/);
    expect(settings).toMatchObject({
      ...{ PROVIDER_BASE_URL: url, PROVIDER_TOKEN: '…' },
    });
    const [servers, labels] = ['/data/*/vm_object_id', '/data/*/label'];
    expect(profile).toEqual({
      firewalls: {},
      directory: { path: directory[1], servers, labels, labelIsUnique: false },
    });
    expect(of['a profile’s firewalls']?.found).toBe(
      'not seen: what says that one is active (activeIf): perhaps {"/status":"active"} or "listed"',
    );
  });

  it.each<[string, SandboxOptions, string[], Record<string, string>, string, RegExp]>([
    ['a token that is refused', {}, [], { PROVIDER_TOKEN: 'another' }, 'token', /^401, which means Unauthorized/],
    ['no token', {}, [], { PROVIDER_TOKEN: '' }, 'token', /^401/],
    ['a server that is not there', { servers: [] }, [], {}, 'firewalls of server 9001', /^404/],
    [
      'no such subscription',
      { anySubscription: false },
      all,
      {},
      'quote of a change, subscription 55',
      /^PUT: 422.*; GET: 422/,
    ],
    ['no directory', {}, ['--directory', '/machines'], {}, 'directory of servers', /^404/],
  ])('%s is wrong, with what to do', async (_what, options, args, env, what, found) => {
    const { status, of } = await probe(options, args, env);
    expect(status).toBe(2);
    expect(of[what]).toMatchObject({ is: 'wrong', found: expect.stringMatching(found) });
  });

  it('says where a list cannot be read, and where nothing is asked of whoever comes', async () => {
    const { status, of } = await probe({ token: null, firewallListResponse: 'opaque' }, []);
    expect(status).toBe(0);
    expect(of['firewalls of server 9001']).toMatchObject({
      is: 'look',
      found: expect.stringMatching(/^cannot be read: /),
    });
    expect(of['token']).toMatchObject({ is: 'look', found: 'taken; without it: answered' });
  });

  it('drafts how a list is read that has a form of its own', async () => {
    const assignment = (id: number) => ({ state: 'live', firewall: { id } });
    const firewallListResponse = (ids: number[]) => ({ meta: { n: ids.length }, data: { all: ids.map(assignment) } });
    const { profile } = await probe({ firewallListResponse }, []);
    expect(profile).toEqual({ firewalls: { list: '/data/all', id: '/firewall/id', whole: { '/meta/n': 'length' } } });
  });

  it('reads a list as the profile declares it', async () => {
    const { of } = await probe({}, [], { PROVIDER_PROFILE: sandboxProfileFile });
    expect(of['firewalls of server 9001']).toMatchObject({ is: 'ok', found: 'can be read: 143, 144' });
  });

  it.each<[string, Answer]>([
    ['a page', { body: '<html>welcome</html>' }],
    ['a redirect', { status: 302, headers: { location: 'https://elsewhere.example' } }],
    ['a failure', { status: 500 }],
    ['a wish for fewer calls', { status: 429 }],
  ])('knows nothing of the token, and asks for no more, where the answer is %s', async (_, answer) => {
    const { url, seen } = await serve(answer);
    const given = { PROVIDER_BASE_URL: `${url}/v1`, PROVIDER_TOKEN: token };
    const { status, out } = await runHere(['probe', '--server', '9001'], '', given).finally(closeAll);
    expect(status).toBe(2);
    expect(out).toMatch(/^# wrong {2}provider /);
    expect(out).not.toContain('taken');
    expect(seen.map(({ path }) => path)).toEqual(['/v1/firewalls/object/9001']);
    // A file of settings, as it is.
    expect(out.split('\n').filter((line) => !/^(#.*|[A-Z_]+=.+|)$/.test(line))).toEqual([]);
  });

  it('ends with the status of no connection where nobody is there', async () => {
    const given = { PROVIDER_BASE_URL: 'http://127.0.0.1:1' };
    const { status, out } = await runHere(['probe', '--server', '1'], '', given);
    expect(out).toContain('PROVIDER_BASE_URL=http://127.0.0.1:1\n');
    expect(status).toBe(3);
    expect(out).toMatch(/wrong +provider +NotSent: .*\n.*PROVIDER_BASE_URL/);
  });

  it('refuses a name of no setting, and does not show its value', async () => {
    const given = { PROVIDER_BASE_URL: 'http://127.0.0.1:1', PROVIDER_PASSWORD: 'of no setting' };
    const { status, out, err } = await runHere(['probe', '--server', '1'], '', given);
    expect({ status, out }).toEqual({ status: 2, out: '' });
    expect(err).toContain('PROVIDER_PASSWORD: there is no such setting');
    expect(err).not.toContain('of no setting');
  });
});
