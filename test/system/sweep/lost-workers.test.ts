/**
 * Every call of every story, with the worker process killed or stopped while it is under way. Temporal takes half a
 * minute to notice that a call is lost; so many lose theirs at once and wait it out together.
 */
import { startProcess } from '../../../scripts/processes';
import { describeInWays, itInWays } from '../../support/left-out';
import { programOf } from '../../support/programs';
import { Rig, until } from '../../support/rig';
import { tellSpoiled, type SpoiledRun } from './spoiled-run';
import { stories, type Story } from './sagas';
import { waysToEnd, type Way } from './ways';

jest.setTimeout(1_800_000);

/**
 * As many as reach their calls before the first of them times out: a call that was given up must not take effect any
 * more.
 */
const batchSize = 10;

interface Case {
  story: Story;
  way: Way;
  nth: number;
}

const runs = new Map<string, Promise<SpoiledRun>[]>();
const batches: (Awaited<ReturnType<typeof loseWorker>> & { worker: Way['worker'] })[] = [];

beforeAll(async () => {
  const counts = await callsOfEach();
  for (const way of waysToEnd) {
    const casesOf = (story: Story) =>
      Array.from({ length: counts.get(story) ?? 0 }, (_, index): Case => ({ story, way, nth: index + 1 }));
    // Beside those that wait, the others' calls would time out.
    for (const together of [stories.filter(({ waits }) => !waits), stories.filter(({ waits }) => waits)]) {
      const cases = together.flatMap(casesOf);
      while (cases.length > 0) await lose(cases.splice(0, batchSize), way);
    }
  }
});

afterAll(async () => {
  await Promise.all(batches.map((batch) => batch.close()));
  const total = [...runs.values()].flat().length;
  process.stderr.write(`swept: ${total} calls whose worker was lost, in ${batches.length} batches\n`);
});

async function callsOfEach(): Promise<Map<Story, number>> {
  const rig = await Rig.start();
  const counts = await Promise.all(
    stories.map(async (story) => [story, (await tellSpoiled(rig, story, undefined)).calls.length] as const),
  );
  await rig.close();
  return new Map(counts);
}

async function lose(cases: readonly Case[], { name, worker }: Way): Promise<void> {
  if (worker === undefined) throw new Error(`${name} ends no worker`);
  const batch = await loseWorker(cases, worker);
  batches.push({ ...batch, worker });
  batch.runs.forEach((run, index) => {
    const key = `${cases[index]?.story.name ?? ''}/${name}`;
    runs.set(key, [...(runs.get(key) ?? []), run]);
  });
}

/** Longer than it takes to bring a batch to its calls; shorter than what an activity has. */
const callTimeoutMs = 25_000;

/**
 * A batch: sagas that stand each at a call of theirs when their one worker process ends. It has a namespace, a sandbox
 * and workers of its own: others may start meanwhile.
 */
async function loseWorker(cases: readonly Case[], worker: NonNullable<Way['worker']>) {
  const rig = await Rig.start({ worker: false });
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
          const run = tellSpoiled(rig, story, { way, nth, whileHeld });
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
  await (worker === 'killed' ? ending : until(() => doomed.errors().includes('STOPPING')));
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

describeInWays.each(stories)('$name', (story) => {
  it.each(waysToEnd)('$name', async (way) => {
    const settled = await Promise.all(runs.get(`${story.name}/${way.name}`) ?? []);
    const broken = settled.map((run, index) => ({
      call: `${index + 1} (${run.call?.endpoint ?? 'none'})`,
      broken: run.broken,
    }));
    expect(broken.length).toBeGreaterThan(0);
    expect(broken.filter((run) => run.broken.length > 0)).toEqual([]);
    expect(settled.every(({ call }) => call)).toBe(true);
  });
});

itInWays('let each worker that was stopped end well', () => {
  const stopped = batches.filter(({ worker }) => worker === 'stopped');
  expect(stopped.map(({ exit }) => exit.status)).toEqual(stopped.map(() => 0));
});
