/** Every call of every story, with the worker process killed or stopped while it is under way. */
import { describeInWays, itInWays } from '../../support/left-out';
import { Rig } from '../../support/rig';
import { WaitingRoom } from '../../support/waiting-room';
import { loseWorker, type Batch, type Case } from './batch';
import { tellSpoiled, type SpoiledRun } from './spoiled-run';
import { stories, type Story } from './stories';
import { waysToEnd, type Way } from './ways';

jest.setTimeout(1_800_000);

/**
 * As many as reach their calls before the first of them times out: a call that was given up must not take effect any
 * more.
 */
const batchSize = 10;

const runs = new Map<string, Promise<SpoiledRun>[]>();
const batches: (Batch & { worker: Way['worker'] })[] = [];

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
  const world = { rig, waitingRoom: new WaitingRoom(rig.sagas) };
  const counts = await Promise.all(
    stories.map(async (story) => [story, (await tellSpoiled(world, story, undefined)).calls.length] as const),
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
