/**
 * Random histories of sagas, held against the model: whatever happens to a saga, it is in a state that the model
 * allows, and no promise is broken. A failure is shrunk to the shortest history that shows it.
 *
 *   ORDER_SAGA_MODEL_RUNS=500          so many histories; a longer run than the one that `npm test` makes
 *   ORDER_SAGA_MODEL_SEED=7            other histories than the usual ones
 *   ORDER_SAGA_MODEL_REPLAY=seed/path/replayPath   one history again, as a failure names it
 *
 * Several histories run at once, each with a saga of its own; worker, server and sandbox are shared. So a worker that
 * one of them restarts stops under all of them. A worker that is killed is not in here: its lost call would be noticed
 * only after 30 seconds. `test/system/sweep/lost-workers.test.ts` has that.
 */
import fc from 'fast-check';
import { takesAll } from '../../support/left-out';
import { Rig } from '../../support/rig';
import { finish, histories, preludes, type Model, type Real } from './commands';
import { RealSaga } from './real-saga';
import { stories } from './sagas';

const runs = Number(process.env['ORDER_SAGA_MODEL_RUNS'] ?? (takesAll ? 36 : 16));
/** Its histories notice a second pivot, and a report that names no leftovers. */
const seed = Number(process.env['ORDER_SAGA_MODEL_SEED'] ?? 1);
const replayed = process.env['ORDER_SAGA_MODEL_REPLAY'];
/** Most of a history is waiting for the server. */
const atOnce = 12;
const provisionings = stories.filter(({ workflow }) => workflow === 'provisionServers');
const shrinkForMs = 60_000;

let rig: Rig;
let worker: { stop: () => Promise<void> };
const stopping: Promise<void>[] = [];
beforeAll(async () => {
  // A call may be held for as long as a few commands take: no time limit of ours but the activity's should end it.
  rig = await Rig.start({ worker: false, provider: { totalTimeoutMs: 25_000 } });
  worker = await rig.startWorker();
});
afterAll(async () => {
  await Promise.all(stopping);
  await rig.close();
});

const counts = new Map<string, number>();

let restarting: Promise<void> | undefined;

/**
 * For all who ask at once, once. The one that stops finishes what it has in hand, also calls that are held: nobody
 * waits.
 */
function restartWorker(): Promise<void> {
  restarting ??= (async () => {
    stopping.push(worker.stop());
    worker = await rig.startWorker();
    restarting = undefined;
  })();
  return restarting;
}

async function tellHistories(parameters: fc.Parameters<unknown>, replayPath?: string) {
  const property = fc.asyncProperty(
    // Those that have the most to undo come the most often.
    fc
      .constantFrom(...stories, ...provisionings, ...provisionings)
      .map((story) => ({ ...story, toString: () => story.name })),
    preludes,
    histories(replayPath),
    async (story, prelude, commands) => {
      const model: Model = { story, armed: {}, states: [], isTerminated: false, log: [] };
      const count = (name: string) => counts.set(name, (counts.get(name) ?? 0) + 1);
      const real: Real = { saga: new RealSaga(rig, story), restartWorker, count };
      try {
        await fc.asyncModelRun(() => ({ model, real }), [...prelude, ...commands]);
        await finish(model, real);
      } catch (error) {
        const happened = model.log.map((one) => `  ${one}`).join('\n');
        const cause = error instanceof Error && error.cause instanceof Error ? ` (${error.cause.message})` : '';
        throw new Error(`${String(error)}${cause}\nwhat happened to ${story.name}:\n${happened}`, { cause: error });
      } finally {
        real.saga.disarm();
      }
    },
  );
  const details = await fc.check(property, parameters);
  if (details.failed) return `${await fc.asyncDefaultReportMessage(details)}\n${whyOf(details)}`;
  return details.interrupted ? `out of time after ${details.numRuns} histories` : undefined;
}

function whyOf({ errorInstance }: fc.RunDetails<unknown>): string {
  return errorInstance instanceof Error ? errorInstance.message : String(errorInstance);
}

it(
  'keep to the model and to every promise',
  async () => {
    if (replayed !== undefined) {
      // A replay path may have the slash in it as well.
      const [, from, path = '', replayPath] = /^(\d+)\/([^/]*)\/?(.*)$/.exec(replayed) ?? [];
      const parameters = { seed: Number(from), path, endOnFailure: true };
      expect(await tellHistories(parameters, replayPath === '' ? undefined : replayPath)).toBeUndefined();
      return;
    }
    process.stderr.write(`${runs} histories from seed ${seed}\n`);
    const lanes = Array.from({ length: Math.min(atOnce, runs) }, (_, lane) =>
      tellHistories({
        seed: seed * 1000 + lane,
        numRuns: Math.floor((runs + lane) / Math.min(atOnce, runs)),
        plugins: [fc.interruptAfterTimeLimit(shrinkForMs + runs * 2_000)],
      }),
    );
    const failures = (await Promise.all(lanes)).filter((failure) => failure !== undefined);
    const told = [...counts].map(([name, times]) => `${name} ${times}`).join(', ');
    process.stderr.write(`${told}\n`);
    expect(failures.join('\n\n')).toBe('');
  },
  shrinkForMs * 2 + runs * 4_000,
);
