/**
 * No secret in the clear: canaries go through every workflow, every failure and every decision, and are then looked for
 * wherever somebody could read them. The worker and the server are processes of their own; the server keeps a file.
 *
 * The same search finds them where they belong, at the provider, and in the file of a server that was not given keys.
 */
import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { startDevServer } from '../../../scripts/dev-server';
import { Sandbox } from '../../../sandbox/server';
import { OrderSagaClient } from '../../../src/client/client';
import { decisionNames } from '../../../src/domain/decisions';
import { callFailureNames, sagaFailureNames, type CallFailureName } from '../../../src/domain/failures';
import { workflowNames } from '../../../src/domain/identity';
import { createDataConverter } from '../../../src/security/data-converter';
import { parsePayloadKeys } from '../../../src/security/keys';
import { sandboxProfileFile } from '../../support/activity-settings';
import { startCommand } from '../../support/command-line';
import { WebhookReceiver } from '../../support/receiver';
import { describeInWays, takesAll, unlessLacking } from '../../support/left-out';
import { shortFlights } from '../../support/rig';
import { Journey } from './journey';
import { Witness } from './witness';
import { Search, type Canary } from './search';
import { canariesOf, makeConfided, makeSecrets } from './secrets';
import { newKey } from '../../support/keys';

const cli = process.env['ORDER_SAGA_TEST_TEMPORAL_CLI'];
const here = unlessLacking(cli === undefined ? 'TEMPORAL_ADDRESS names a server whose files are not here' : undefined);

interface Travelled {
  witness: Witness;
  seen: Journey['seen'];
  search: Search;
  confided: Search;
  ledger: Buffer;
}

/** Ends what a journey that failed has not stopped. */
const running: (() => Promise<void>)[] = [];
const folders: string[] = [];
afterAll(async () => {
  await Promise.all(running.map((stop) => stop()));
  for (const folder of folders) rmSync(folder, { recursive: true });
});

/** @param keys as PAYLOAD_KEYS has them; without, nothing is encrypted */
async function travel(keys: string | undefined): Promise<Travelled> {
  if (cli === undefined) throw new Error('there is no Temporal CLI to start a server with');
  const folder = mkdtempSync(join(tmpdir(), 'order-saga-canaries-'));
  folders.push(folder);
  const files = (name: string) => {
    mkdirSync(join(folder, name));
    return join(folder, name);
  };
  const [data, secretFiles, requests] = [files('data'), files('secrets'), files('requests')];
  const journal = files('journal');
  const secrets = makeSecrets();
  const confided = makeConfided();
  const witness = new Witness();
  writeFileSync(join(secretFiles, 'script'), secrets.filed.text);

  const server = await startDevServer({
    cli,
    ui: false,
    dbFile: join(data, 'temporal.db'),
    logFile: join(folder, 'server.log'),
  });
  running.push(() => server.stop());
  const sandbox = await Sandbox.start({
    orderResponse: 'ids',
    anyServer: true,
    echoRequests: true,
    token: secrets.token.text,
  });
  const receiver = await WebhookReceiver.start();
  const environment = {
    TEMPORAL_ADDRESS: server.address,
    JOURNAL_URL: `file:${join(journal, 'journal.db')}`,
    ...(keys === undefined ? {} : { PAYLOAD_KEYS: keys }),
  };
  const workerEnvironment = {
    ...environment,
    LOG_LEVEL: 'trace',
    PROVIDER_BASE_URL: sandbox.url,
    PROVIDER_TOKEN: secrets.token.text,
    SECRETS_FOLDER: secretFiles,
    NOTIFICATION_ROUTES: JSON.stringify([{ name: 'ops', url: receiver.url, secret: 'webhook-ops' }]),
    NOTIFICATION_ALLOW: '127.0.0.1',
    NOTIFICATION_ALLOW_HTTP: 'true',
    SECRET_WEBHOOK_OPS: receiver.secret,
    PROVIDER_PROFILE: sandboxProfileFile,
    // One saga's answers must not hold up the others: each has its own place on the way.
    // A person who says “not placed” does not wait for long.
    ...shortFlights,
    RETRY_BUDGET: '3,10,50,60000',
  };
  // Nothing listens on port 1.
  const nowhere = { TASK_QUEUE: 'unreachable', PROVIDER_BASE_URL: 'http://127.0.0.1:1' };
  const workers = [{}, nowhere].map((more) => startCommand([], { ...workerEnvironment, ...more }, 'worker'));
  const stopped = () =>
    Promise.all(
      workers.map(({ child, ended }) => {
        child.kill('SIGTERM');
        return ended;
      }),
    );
  running.push(async () => {
    await stopped();
  });
  await Promise.all(workers.map(({ shows }) => shows('worker ready')));
  const connection = await Connection.connect({ address: server.address });
  const dataConverter = createDataConverter(keys === undefined ? undefined : parsePayloadKeys(keys));
  const temporal = new Client({ connection, dataConverter });
  const journey = new Journey({
    secrets,
    confided: confided.text,
    witness,
    sandbox,
    temporal,
    sagas: new OrderSagaClient(temporal),
    unreachable: new OrderSagaClient(temporal, { taskQueue: 'unreachable' }),
    environment,
    folder: requests,
  });
  try {
    await journey.travel();
  } finally {
    await connection.close();
    await stopped();
    // In good order, so that everything is in the file.
    await server.stop();
    await sandbox.close();
    await receiver.close();
  }
  for (const { headers, body } of receiver.deliveries) witness.add(toldOthers, JSON.stringify([headers, body]));
  for (const { out, err } of await stopped()) witness.add('what the workers write', `${out}\n${err}`);
  witness.add('the server’s log', readFileSync(join(folder, 'server.log')));
  for (const name of readdirSync(data)) witness.add('the server’s files', readFileSync(join(data, name)));
  for (const name of readdirSync(journal)) witness.add('the journal’s files', readFileSync(join(journal, name)));
  // It signs what receivers are told.
  const webhookSecret = { name: 'webhook secret', text: receiver.secret, parts: [] };
  return {
    witness,
    seen: journey.seen,
    search: new Search([...canariesOf(secrets), ...keysOf(keys), webhookSecret]),
    confided: new Search([confided]),
    ledger: Buffer.from(JSON.stringify(sandbox.ledger.snapshot())),
  };
}

function keysOf(keys: string | undefined): Canary[] {
  if (keys === undefined) return [];
  const bytes = Buffer.from(keys.split(':')[1] ?? '', 'base64');
  return [{ name: 'payload key', text: bytes, parts: [] }];
}

/** Places of people who have the keys, or watch a terminal. */
const shown = ['progress', 'errors', 'what the command line prints', 'what the workers write', 'the server’s log'];
/** Places where Temporal and the journal keep it, or hand it out to anybody. */
const stored = ['the server’s files', 'exported histories', 'the journal’s files', 'descriptions and lists'];
const toldOthers = 'what receivers are told';
/** These tell nothing but our own words, or the same as `Rejected`; other tests bring them about. */
const inOurWords: readonly CallFailureName[] = [
  'TokenUnreadable',
  'WorkerLost',
  'StoodStill',
  'JournalUnavailable',
  'JournalUnreadable',
  'JournalRestored',
  'TemporalUnavailable',
  'UnderWay',
  'StateChanged',
  'Ordered',
  'DeadlinePassed',
  'QuoteAged',
  'NeedsApproval',
  'GuardViolated',
  'NotDeclared',
  'NotYet',
  'OrderCancelled',
];
const sent = ['password', 'custom_ssh_key', 'custom_script', 'corrected password', 'provider token'];
const namesOf = (sightings: { canary: string }[]) => new Set(sightings.map(({ canary }) => canary));

here('with keys', () => {
  let travelled: Travelled;
  beforeAll(async () => {
    travelled = await travel(`canary-${randomUUID().slice(0, 4)}:${newKey()}`);
  }, 600_000);

  it('the journey went everywhere: each workflow, each failure, each decision', () => {
    const { workflows, callFailures, sagaFailures, decisions } = travelled.seen;
    expect([...workflows].sort()).toEqual([...workflowNames, 'hold', 'notify'].sort());
    const failures = callFailureNames.filter((name) => !inOurWords.includes(name));
    expect([...callFailures].sort()).toEqual(failures.sort());
    // A full history tells nothing but our own words, and would take 36,000 events.
    // A cancelled order tells a person’s note, as each decision does; a run that was
    // cancelled before, its report.
    const untold = ['HistoryFull', 'OrderCancelled', 'CancelledBefore'];
    const endings = sagaFailureNames.filter((name) => !untold.includes(name));
    expect([...sagaFailures].sort()).toEqual(endings.sort());
    expect([...decisions].sort()).toEqual(decisionNames.filter((name) => name !== 'markCancelled').sort());
    expect(travelled.witness.names.sort()).toEqual([...shown, ...stored, toldOthers].sort());
  });

  it.each([...shown, ...stored, toldOthers])('no secret is in %s', (place) => {
    const bytes = travelled.witness.at(place);
    expect(bytes.length).toBeGreaterThan(0);
    expect(travelled.search.in(bytes)).toEqual([]);
  });

  it('what people and the provider said was said, and is neither stored nor told others in the clear', () => {
    const seen = (place: string) => travelled.confided.in(travelled.witness.at(place));
    for (const place of ['progress', 'errors']) expect(seen(place)).not.toEqual([]);
    for (const place of [...stored.slice(0, 3), toldOthers]) expect([place, seen(place)]).toEqual([place, []]);
  });

  it('progress names no field of a secret but where it blanks it out', () => {
    const progress = travelled.witness.at('progress').toString();
    expect(progress).toMatch(/"password":"\[redacted\]"/);
    expect(progress).not.toMatch(/"(password|custom_ssh_key|custom_script)\\*":\s*\\*"(?!\[redacted\])/);
  });

  it('the search finds every secret at the provider, who was sent it', () => {
    expect(namesOf(travelled.search.in(travelled.ledger))).toEqual(new Set(sent));
  });
});

(takesAll ? here : describeInWays)('without keys', () => {
  let travelled: Travelled;
  beforeAll(async () => {
    travelled = await travel(undefined);
  }, 600_000);

  it.each(stored.slice(0, 2))('the search finds what was sent in %s, as it is', (place) => {
    const found = travelled.search.in(travelled.witness.at(place)).filter(({ form }) => form === 'plain');
    expect([...namesOf(found)]).toEqual(expect.arrayContaining(['password', 'corrected password', 'refused password']));
    expect(travelled.confided.in(travelled.witness.at(place))).not.toEqual([]);
  });

  it('the search finds what was sent in the journal’s files', () => {
    const journal = travelled.witness.at('the journal’s files');
    expect([...namesOf(travelled.search.in(journal))]).toEqual(expect.arrayContaining(['password', 'custom_ssh_key']));
    expect(travelled.confided.in(journal)).not.toEqual([]);
  });

  it.each([...shown, 'descriptions and lists', toldOthers])('no secret is in %s all the same', (place) => {
    expect(travelled.search.in(travelled.witness.at(place))).toEqual([]);
  });
});
