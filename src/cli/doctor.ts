/** Shows in one screen whether an installation has each thing that sagas need, and what to do where it lacks one. */
import { lookIfTheyGoOn, missingAttributes, type SagaRow } from '../client/saga-list';
import { pollersOf } from '../client/workers';
import { noHighWaterMark, readClientConfig, readWorkerConfig, SettingsError, settingsGiven } from '../config';
import { describeHolder } from '../domain/hold';
import { ignoreErrors, tryOr } from '../domain/ignore-errors';
import { inWords } from '../domain/times';
import { whyTooOld, whyUnsafe } from '../domain/server-version';
import type { OrderSagaClient } from '../client/client';
import type { Journal } from '../journal/journal';
import { claim, schemaNumber, countsOf } from '../journal/open';
import { serversInTurn } from '../journal/servers';
import { lookAtProvider } from './probe';
import { release, type CommandResult, type CommandContext } from './define';
import { withSagas } from './connect';
import { look, messageOf, ok, printFindings, wrong, type Found } from './findings';
import { withJournal } from './journal-commands';

export async function doctor({ printer }: CommandContext): Promise<CommandResult> {
  const versions = `order-saga ${release}, Node ${process.versions.node}, journal of schema ${schemaNumber}`;
  const settings = settingsGiven();
  // A client's terminal has none of these, and need not.
  const isWorkers = Object.keys(settings).some((name) => /^PROVIDER_(?!PROFILE)/.test(name));
  const [ofWorker, ofItsProvider] = isWorkers ? [ofSettings(), ofProvider] : [[ofClient], () => []];
  const [temporal, { found: journal, server }] = [await ofTemporal(), await ofJournal(isWorkers)];
  const found = [ok('versions', versions), ...ofWorker, ...temporal, ...(await ofItsProvider(server)), ...journal];
  const status = printFindings(printer, found);
  printer.lines(Object.entries(settings).map(([name, value]) => `${name}=${value}`));
  return { status, document: { found, settings } };
}

const ofClient = look(
  'settings of a worker',
  'are not here, so that neither they nor the provider are looked at',
  'as of a client that is well; order-saga doctor with the environment of a worker looks at them',
);

/** @param server one of ours */
async function ofProvider(server: number | undefined): Promise<Found[]> {
  // Settings that are wrong were said before.
  const found = await lookAtProvider(server).catch(ignoreErrors(SettingsError));
  return found === undefined ? [] : [found];
}

function ofSettings(): Found[] {
  const what = 'settings of a worker';
  try {
    const { journal } = readWorkerConfig();
    const mark = look('a restored journal', noHighWaterMark, 'give each worker a file on a disk of its own');
    return [ok(what, 'a worker would start with them'), ...(journal.witnessFile === undefined ? [mark] : [])];
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    const then = `set them as docs/settings.md says: ${error.problems.join('; ')}`;
    return [wrong(what, `${error.problems.length} are missing or wrong`, then)];
  }
}

async function ofTemporal(): Promise<Found[]> {
  try {
    const config = readClientConfig();
    return await withSagas(
      async (sagas) => [
        await ofServer(sagas, config.temporalAddress),
        await ofSearchAttributes(sagas),
        ...(await ofWorkers(sagas, config.taskQueue)),
        await ofHold(sagas),
        await ofWaiting(sagas),
        await ofRunning(sagas),
      ],
      config,
    );
  } catch (error) {
    const then = 'is a server running there, and are TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE and its credentials right?';
    return [wrong('Temporal', messageOf(error), then)];
  }
}

async function ofServer({ temporal }: OrderSagaClient, address: string): Promise<Found> {
  const { namespace } = temporal.options;
  const { serverVersion } = await temporal.workflowService.getSystemInfo({});
  await temporal.workflowService.describeNamespace({ namespace });
  const [tooOld, unsafe] = [whyTooOld(serverVersion), whyUnsafe(serverVersion)];
  const found = `${address}, namespace ${namespace}, server ${serverVersion}`;
  if (tooOld !== undefined) return wrong('Temporal', found, tooOld);
  return unsafe === undefined ? ok('Temporal', found) : look('Temporal', found, `${unsafe}; upgrade it`);
}

async function ofSearchAttributes({ temporal }: OrderSagaClient): Promise<Found> {
  const missing = await missingAttributes(temporal);
  if (missing.length === 0) return ok('search attributes', 'all are there');
  return wrong('search attributes', `lacks ${missing.join(', ')}`, 'start a worker: it adds them, or says how');
}

/** A poll lasts a minute: who polls is seen at least so often. */
const seenWithinMs = 65_000;

async function ofWorkers({ temporal }: OrderSagaClient, taskQueue: string): Promise<Found[]> {
  const then = 'start a worker (docs/deploying.md)';
  const { workers, ...pollers } = await pollersOf(temporal, taskQueue, seenWithinMs);
  const found = Object.entries(pollers).map(([of, count]) => {
    const what = `workers, for ${of}`;
    return count > 0 ? ok(what, `${count} poll ${taskQueue}`) : wrong(what, `none polls ${taskQueue}`, then);
  });
  return [
    ...found,
    ...ofDifference('keys of the workers', workers, 'PAYLOAD_KEYS', ({ keys }) => [...keys].sort().join(', ')),
    ...ofDifference('profiles of the workers', workers, 'PROVIDER_PROFILE', ({ profile }) => profile ?? ''),
  ];
}

type Worker = Awaited<ReturnType<typeof pollersOf>>['workers'][number];

function ofDifference(what: string, workers: Worker[], setting: string, has: (worker: Worker) => string): Found[] {
  if (new Set(workers.map(has)).size < 2) return [];
  const each = workers.map((worker) => `${worker.process} has ${has(worker) || 'none'}`);
  const then = `give all workers the same ${setting}; one that has stopped is listed for a minute`;
  return [look(what, `differ: ${each.join('; ')}`, then)];
}

const runningLookedAt = 100;

/** Those that their workers cannot go on with, because a key is missing there. */
async function ofRunning(sagas: OrderSagaClient): Promise<Found> {
  const what = 'running sagas';
  const rows: SagaRow[] = [];
  const newest = sagas.list({ where: `ExecutionStatus = 'Running'`, limit: runningLookedAt });
  for await (const row of newest) rows.push(row);
  await lookIfTheyGoOn(sagas.temporal, rows);
  const [first, ...more] = rows.filter(({ unreadable }) => unreadable !== undefined);
  if (first === undefined) return ok(what, `the newest ${rows.length} can go on`);
  const others = more.length === 0 ? '' : `, and ${more.length} more`;
  return wrong(what, `${first.workflowId}${others}: ${first.unreadable}`, 'give all workers that key (PAYLOAD_KEYS)');
}

async function ofHold(sagas: OrderSagaClient): Promise<Found> {
  const hold = await sagas.holding();
  if (hold === undefined) return ok('new sagas', 'begin');
  return look('new sagas', `are ${describeHolder(hold)}`, 'order-saga hold off lets them begin');
}

async function ofWaiting(sagas: OrderSagaClient): Promise<Found> {
  const what = 'decisions';
  const { total, groups, rows } = await sagas.inbox({ limit: 1 });
  const [longest] = rows;
  if (longest === undefined) return ok(what, 'nothing waits for one');
  const kinds = groups.map(({ name, count }) => `${count} ${name}`).join(', ');
  const found = `${total} ${total === 1 ? 'saga waits' : 'sagas wait'} for one (${kinds}), the longest since ${inWords(longest.waitingSince.toISOString())}`;
  return look(what, found, 'order-saga inbox names them');
}

/** With the id of a server that the journal knows. */
async function ofJournal(isWorkers: boolean): Promise<{ found: Found[]; server?: number | undefined }> {
  try {
    const namespace = tryOr(() => readClientConfig().namespace, undefined);
    return await withJournal({ writes: false }, async (journal, name) => {
      if (namespace !== undefined) await claim(journal, namespace, { writes: false });
      const { restored, references, pivots } = await countsOf(journal);
      const found = `${name}: ${references} references, ${pivots.unknown} orders of unknown outcome`;
      const then = 'nothing is sent: follow docs/journal.md, then run order-saga journal restored';
      const state = restored === undefined ? ok('journal', found) : wrong('journal', `${name}: ${restored}`, then);
      const [server] = await serversInTurn(journal, { after: 0, most: 1 });
      return { found: [state, await ofKeys(journal)], server };
    });
  } catch (error) {
    if (!isWorkers && error instanceof SettingsError)
      return { found: [look('journal', 'is not looked at: no JOURNAL_URL')] };
    const then = 'is JOURNAL_URL right, and was order-saga journal migrate run?';
    return { found: [wrong('journal', messageOf(error), then)] };
  }
}

/** The newest request shows whether the keys are those that the journal is written with. */
async function ofKeys(journal: Journal): Promise<Found> {
  const what = 'keys';
  const [newest] = await journal.newestRequests(1);
  if (newest === undefined) return ok(what, 'nothing was encrypted yet');
  try {
    await journal.sealing.unseal(newest);
    return ok(what, 'the newest request can be read');
  } catch (error) {
    return wrong(what, `the newest request is ${messageOf(error)}`, 'set PAYLOAD_KEYS to the keys of the workers');
  }
}
