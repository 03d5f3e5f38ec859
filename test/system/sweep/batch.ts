/**
 * Sagas that stand each at a call of theirs when their one worker process ends.
 *
 * Temporal takes half a minute to notice that a call is lost; so they lose theirs at once and wait it out together. A
 * batch has a namespace, a sandbox and workers of its own: others may start meanwhile.
 */
import { startProcess, type Exit } from '../../../scripts/processes';
import { programOf } from '../../support/programs';
import { Rig, until } from '../../support/rig';
import { WaitingRoom } from '../../support/waiting-room';
import { tellSpoiled, type SpoiledRun } from './spoiled-run';
import type { Story } from './stories';
import type { Way } from './ways';

export interface Case {
  story: Story;
  way: Way;
  nth: number;
}

export interface Batch {
  /** In the order of the cases. They end later than the worker. */
  runs: Promise<SpoiledRun>[];
  /** How the worker ended. */
  exit: Exit;
  /** Waits for the runs, and replays their histories. */
  close: () => Promise<void>;
}

/** Longer than it takes to bring a batch to its calls; shorter than what an activity has. */
const callTimeoutMs = 25_000;

/** @param cases each with the same end of the worker */
export async function loseWorker(cases: readonly Case[], worker: NonNullable<Way['worker']>): Promise<Batch> {
  const rig = await Rig.start({ worker: false });
  const world = { rig, waitingRoom: new WaitingRoom(rig.sagas) };
  const startWorker = () =>
    startProcess(programOf('worker'), { ...rig.environment, PROVIDER_TIMEOUT_MS: String(callTimeoutMs) });
  const doomed = await startWorker();

  let release: () => void = () => undefined;
  const lost = new Promise<void>((resolve) => (release = resolve));
  const runs: Promise<SpoiledRun>[] = [];
  await Promise.all(
    cases.map(
      ({ story, way, nth }) =>
        new Promise<void>((stands) => {
          const whileHeld = () => {
            stands();
            return lost;
          };
          const run = tellSpoiled(world, story, { way, nth, whileHeld });
          run.then(
            () => stands(),
            () => stands(),
          );
          runs.push(run);
        }),
    ),
  );

  const ending = doomed.kill(worker === 'killed' ? 'SIGKILL' : 'SIGTERM');
  // The calls go on once the worker is dead, or knows that it is to stop.
  await (worker === 'killed' ? ending : until(() => Promise.resolve(doomed.errors().includes('STOPPING'))));
  release();
  const exit = await ending;
  const successor = await startWorker();
  const close = async () => {
    await Promise.allSettled(runs);
    await successor.kill('SIGTERM');
    await rig.close();
  };
  return { runs, exit, close };
}
