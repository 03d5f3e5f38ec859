/** Shows in one screen whether an installation has each thing that sagas need, and what to do where it lacks one. */
import { countPollers } from '../client/runs';
import { readClientConfig, readWorkerConfig, SettingsError, settingsGiven } from '../config';
import { describeHolder } from '../domain/hold';
import { searchAttributeNames } from '../domain/identity';
import { orElse } from '../domain/none-if';
import { whyTooOld, whyUnsafe } from '../domain/server-version';
import type { OrderSagaClient } from '../client/client';
import type { Journal } from '../journal/journal';
import { claim, schemaNumber, countsOf } from '../journal/open';
import type { Came, CommandContext } from './define';
import { withSagas } from './connect';
import { look, messageOf, ok, printFindings, wrong, type Found } from './findings';
import { withJournal } from './journal-commands';

export async function doctor({ printer }: CommandContext): Promise<Came> {
  const found = [ofThisProgram(), ofSettings(), ...(await ofTemporal()), ...(await ofJournal())];
  const [settings, status] = [settingsGiven(), printFindings(printer, found)];
  printer.lines(Object.entries(settings).map(([name, value]) => `${name}=${value}`));
  return { status, document: { found, settings } };
}

/** As `package.json` has it: the compiled program has none beside it. */
const release = '0.1.0';

function ofThisProgram(): Found {
  return ok('versions', `order-saga ${release}, Node ${process.versions.node}, journal of schema ${schemaNumber}`);
}

function ofSettings(): Found {
  const what = 'settings of a worker';
  try {
    readWorkerConfig();
    return ok(what, 'a worker would start with them');
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    const then = `set them as docs/settings.md says: ${error.problems.join('; ')}`;
    return wrong(what, `${error.problems.length} are missing or wrong`, then);
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
  const what = 'search attributes';
  const { namespace } = temporal.options;
  const { customAttributes } = await temporal.connection.operatorService.listSearchAttributes({ namespace });
  const missing = Object.values(searchAttributeNames).filter((name) => customAttributes[name] === undefined);
  if (missing.length === 0) return ok(what, 'all are there');
  return wrong(what, `lacks ${missing.join(', ')}`, 'start a worker: it adds them, or says how');
}

async function ofWorkers({ temporal }: OrderSagaClient, taskQueue: string): Promise<Found[]> {
  const then = 'start a worker (docs/deploying.md)';
  return Object.entries(await countPollers(temporal, taskQueue)).map(([of, count]) => {
    const what = `workers, for ${of}`;
    return count > 0 ? ok(what, `${count} poll ${taskQueue}`) : wrong(what, `none polls ${taskQueue}`, then);
  });
}

async function ofHold(sagas: OrderSagaClient): Promise<Found> {
  const what = 'new sagas';
  const hold = await sagas.holding();
  if (hold === undefined) return ok(what, 'begin');
  return look(what, `are ${describeHolder(hold)}`, 'order-saga hold off lets them begin');
}

async function ofJournal(): Promise<Found[]> {
  try {
    const namespace = orElse(() => readClientConfig().namespace, undefined);
    return await withJournal({ writes: false }, async (journal, name) => {
      if (namespace !== undefined) await claim(journal, namespace, { writes: false });
      const { restored, references, pivots } = await countsOf(journal);
      const found = `${name}: ${references} references, ${pivots.unknown} orders of unknown outcome`;
      const then = 'nothing is sent: follow docs/journal.md, then run order-saga journal restored';
      const state = restored === undefined ? ok('journal', found) : wrong('journal', `${name}: ${restored}`, then);
      return [state, await ofKeys(journal)];
    });
  } catch (error) {
    const then = 'is JOURNAL_URL right, and was order-saga journal migrate run?';
    return [wrong('journal', messageOf(error), then)];
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
