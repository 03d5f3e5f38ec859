/**
 * Every call of every story, spoiled in every way; and every story at a provider that is as unkind as it may be, and at
 * one of which nobody has declared anything.
 *
 * `npm test` takes the ways that differ in what a saga does, with the first decision that fits; `npm run test:grids` one
 * way of each kind, with each decision; `npm run test:sweep` (ORDER_SAGA_SWEEP=long) each with each other. ORDER_SAGA_SWEEP_STORY='provision one item' sweeps that story alone.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import type { SandboxOptions } from '../../../sandbox/server';
import { takesAll } from '../../support/left-out';
import { Rig } from '../../support/rig';
import { sandboxProfile } from '../../support/activity-settings';
import { stories as allStories } from './sagas';
import { Sweep } from './sweep';
import { allWays, ways, waysThatDiffer } from './ways';

jest.setTimeout(3_600_000);

const only = process.env['ORDER_SAGA_SWEEP_STORY'];
const stories = allStories.filter(({ name }) => only === undefined || name === only);
const isLong = process.env['ORDER_SAGA_SWEEP'] === 'long';
const grid = isLong ? allWays : takesAll ? ways : waysThatDiffer;

/**
 * An honest provider may always do this: servers that are not ready, and are maintained; lists and directories that
 * lag; a cart that takes one item at a time; odd forms.
 */
const unkind: SandboxOptions = {
  latencyMs: 20,
  orderResponse: 'opaque',
  directory: { lag: 2 },
  cartLock: 409,
  unready: [
    { after: 0, calls: 2, statuses: [404, 409, 422, 423, 425, 400], new: true },
    { after: 4, calls: 1, statuses: [423], new: false },
  ],
  firewallLag: 1,
  pendingWhileLagging: true,
  oddities: ['texts', 'gzip', 'mark', 'continue', 'deflate'],
};
const directory = {
  path: '/servers?account={account}&label={label}',
  servers: '/data/*/vm_object_id',
  labels: '/data/*/label',
  labelIsUnique: true,
};

/** The stories as they are, at providers that differ from the sandbox's own. */
const others: Record<string, Parameters<typeof Rig.start>[0]> = {
  'at an unkind provider': { sandbox: unkind, activities: { profile: { ...sandboxProfile, directory } } },
  'at a provider of which nobody has declared anything': { activities: { profile: undefined } },
};

let rig: Rig;
const otherRigs: Rig[] = [];
let sweep: Sweep;
const foundAt = new Map<string, Promise<string[]>>();
/** All of them run side by side from the beginning; each test waits for its own. */
const found = new Map<string, ReturnType<Sweep['of']>>();

beforeAll(async () => {
  rig = await Rig.start({ provider: { totalTimeoutMs: 8_000 } });
  sweep = new Sweep(rig, { eachDecision: takesAll || isLong });
  for (const story of stories) found.set(story.name, sweep.of(story, grid));
  for (const [where, options] of Object.entries(others)) {
    const other = await Rig.start(options);
    otherRigs.push(other);
    const there = new Sweep(other, { eachDecision: takesAll || isLong });
    for (const story of stories) foundAt.set(`${story.name} ${where}`, there.of(story, []).unspoiled);
  }
  for (const sweeping of foundAt.values()) sweeping.catch(() => undefined);
  for (const { unspoiled, spoiled } of found.values()) {
    for (const sweeping of [unspoiled, ...spoiled.values()]) sweeping.catch(() => undefined);
  }
});

afterAll(async () => {
  const { runs, spoiled, undosRepeated } = sweep;
  const total = [...runs.values()].reduce((sum, count) => sum + count, 0);
  const figures = { total, undosRepeated, runs: Object.fromEntries(runs), spoiled: Object.fromEntries(spoiled) };
  mkdirSync('reports', { recursive: true });
  writeFileSync('reports/sweep.json', JSON.stringify(figures, null, 2));
  process.stderr.write(`swept: ${total} runs, ${undosRepeated} undos made twice; see reports/sweep.json\n`);
  await Promise.all([rig, ...otherRigs].map((each) => each.close()));
});

describe.each(stories)('$name', (story) => {
  it('as it is', async () => {
    expect(await found.get(story.name)?.unspoiled).toEqual([]);
  });

  it.each(Object.keys(others))('%s', async (where) => {
    expect(await foundAt.get(`${story.name} ${where}`)).toEqual([]);
  });

  it.each(grid)('$name', async (way) => {
    expect(await found.get(story.name)?.spoiled.get(way)).toEqual([]);
  });
});

// Not every story alone has undos.
(only === undefined ? it : it.skip)('made undos twice', () => {
  expect(sweep.undosRepeated).toBeGreaterThan(0);
});
