/**
 * What a saga costs in counts, which are the same on every machine: held against the numbers in `counts.json`, so that
 * a change that makes sagas dearer is noticed where it is made.
 *
 * How many workflow tasks there are depends on who is first: two calls that end together are told to the workflow in
 * one task. So the stub answers them one after the other, each told in a task of its own. Where a busy machine lets two
 * fall together all the same, or lets a task run out of its time and be given again, the saga is run again: a run that
 * is as it was kept counts, or the dearest of all.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { WorkflowFailedError } from '@temporalio/client';
import { SagaFailedError } from '../src/client/errors';
import { bundleBytes, type Built } from './built';
import { bareRunner } from './contestants';
import { countHistory, type HistoryCounts } from './history-counts';
import { markdownTable } from './markdown';
import { newReference, provisionRequest } from './requests';
import { Stand } from './stand';

/** Longer than a workflow task takes on a busy machine; and a dozen sagas still fit a few seconds. */
const staggerMs = 150;

const runsMax = 4;

/** Time stamps are written in as few bytes as each of them needs. */
const bytesTolerance = 0.02;

/** A minifier or a bundler of another minor version writes the same code a little differently. */
const bundleTolerance = 0.03;

const keptPath = join(__dirname, 'counts.json');

export interface Kept {
  sagas: Record<string, HistoryCounts>;
  /** Bytes of code. */
  bundles: Record<string, number>;
}

/** Runs one saga to its end. @returns its workflow's id */
type Run = () => Promise<string>;

export interface CountOptions {
  built: Built;
  /** Keep what is counted. */
  accept: boolean;
  say: (line: string) => void;
}

/** @returns what has moved, or misses a target, in sentences; none when all is well */
export async function checkCounts({ built, accept, say }: CountOptions): Promise<string[]> {
  const kept = JSON.parse(readFileSync(keptPath, 'utf8')) as Kept;
  const counted = await count(built, kept);
  say(table(counted));
  if (!accept) return [...differences(kept, counted), ...missedTargets(counted)];
  writeFileSync(keptPath, `${JSON.stringify(counted, null, 2)}\n`);
  say('accepted: bench/counts.json');
  return missedTargets(counted);
}

async function count(built: Built, kept: Kept): Promise<Kept> {
  const stand = await Stand.start(built, { staggerMs });
  try {
    await Promise.all((['bare', 'plain', 'encrypted'] as const).map((kind) => stand.startWorker(kind)));
    const client = stand.clientFor('bare');
    const sagas: Record<string, HistoryCounts> = {};
    for (const [name, run] of Object.entries(runsOn(stand))) {
      let dearest: HistoryCounts | undefined;
      for (let n = 0; n < runsMax; n += 1) {
        const counts = countHistory(await client.workflow.getHandle(await run()).fetchHistory());
        const asKept = sagaDifferences(name, kept.sagas[name], counts).length === 0;
        if (asKept || dearest === undefined || counts.workflowTasks > dearest.workflowTasks) dearest = counts;
        if (asKept) break;
      }
      if (dearest !== undefined) sagas[name] = dearest;
    }
    const bundles = Object.entries(built.bundles).map(([name, path]) => [name, bundleBytes(path)]);
    return { sagas, bundles: Object.fromEntries(bundles) as Record<string, number> };
  } finally {
    await stand.close();
  }
}

const noFirewalls = { items: 2, firewalls: false } as const;
const firewalls = { items: 2, firewalls: true } as const;

function runsOn(stand: Stand): Record<string, Run> {
  const sagas = stand.sagasFor('plain');
  const encrypted = stand.sagasFor('encrypted');
  const bare = bareRunner(stand, 'bareSideBySide');
  let vmObjectId = 1_000_000;
  const runBare = async (order: typeof noFirewalls | typeof firewalls) => {
    const request = provisionRequest(order);
    await bare.run(request);
    return bare.workflowId(request);
  };
  const runOurs = async (order: typeof noFirewalls | typeof firewalls, client = sagas) => {
    const saga = await client.provision(provisionRequest(order));
    await saga.result();
    return saga.workflowId;
  };
  return {
    'bare provision': () => runBare(noFirewalls),
    'bare provision with firewalls': () => runBare(firewalls),
    provision: () => runOurs(noFirewalls),
    'provision with firewalls': () => runOurs(firewalls),
    'provision, encrypted': () => runOurs(noFirewalls, encrypted),
    'provision with firewalls, encrypted': () => runOurs(firewalls, encrypted),
    'bare provision, refused, two deletes': async () => {
      const request = provisionRequest({ ...noFirewalls, fate: 'NO' });
      await bare.run(request).catch(unless(WorkflowFailedError));
      return bare.workflowId(request);
    },
    'provision, refused, two deletes': async () => {
      const saga = await sagas.provision(provisionRequest({ ...noFirewalls, fate: 'NO' }));
      await saga.result().catch(unless(SagaFailedError));
      return saga.workflowId;
    },
    change: async () => {
      const resources = [{ resource_name: 'vm_backup', delta_value: '1' }] as const;
      const saga = await sagas.change({ reference: newReference(), subscription_id: 5_001, resources: [...resources] });
      await saga.result();
      return saga.workflowId;
    },
    switch: async () => {
      const saga = await sagas.switch({ reference: newReference(), subscription_id: 5_001, plan_id: 21 });
      await saga.result();
      return saga.workflowId;
    },
    'set firewalls': async () => {
      // Each run a server of its own: what is assigned already is not assigned again.
      vmObjectId += 1;
      const saga = await sagas.firewalls({ reference: newReference(), vmObjectId, assign: [143] });
      await saga.result();
      return saga.workflowId;
    },
  };
}

/** An end that was expected. */
function unless(expected: new (...args: never[]) => Error) {
  return (error: unknown) => {
    if (!(error instanceof expected)) throw error;
  };
}

/** What has moved, in sentences. */
export function differences(kept: Kept, counted: Kept): string[] {
  return [
    ...namesOf(kept.sagas, counted.sagas).flatMap((name) =>
      sagaDifferences(name, kept.sagas[name], counted.sagas[name]),
    ),
    ...namesOf(kept.bundles, counted.bundles).flatMap((name) =>
      difference(`workflow bundle, ${name}: bytes of code`, kept.bundles[name], counted.bundles[name], bundleTolerance),
    ),
  ];
}

function sagaDifferences(name: string, was: HistoryCounts | undefined, is: HistoryCounts | undefined): string[] {
  if (was === undefined || is === undefined) return difference(name, was?.events, is?.events, 0);
  return Object.entries(titles).flatMap(([field, title]) => {
    const key = field as keyof HistoryCounts;
    return difference(`${name}: ${title}`, was[key], is[key], key === 'bytes' ? bytesTolerance : 0);
  });
}

/** In one sentence, or none. */
function difference(what: string, was: number | undefined, is: number | undefined, tolerance: number): string[] {
  if (was === undefined || is === undefined) return [`${what}: ${was === undefined ? 'is new' : 'is gone'}`];
  if (Math.abs(is - was) <= was * tolerance) return [];
  const by = is > was ? `${is - was} more` : `${was - is} fewer`;
  return [`${what}: ${by} than kept (${was} → ${is})`];
}

const titles: Record<keyof HistoryCounts, string> = {
  events: 'events',
  workflowTasks: 'workflow tasks',
  searchAttributeUpserts: 'search-attribute upserts',
  memoUpserts: 'memo upserts',
  bytes: 'bytes of history',
};

function namesOf(...records: object[]): string[] {
  return [...new Set(records.flatMap(Object.keys))];
}

/** Against the bare workflow of the same shape. */
const targets = [
  { ours: 'provision', bare: 'bare provision', bytes: 2.6 },
  { ours: 'provision with firewalls', bare: 'bare provision with firewalls', bytes: 2.6 },
  { ours: 'provision, encrypted', bare: 'bare provision', bytes: 3.35 },
  { ours: 'provision with firewalls, encrypted', bare: 'bare provision with firewalls', bytes: 3.35 },
];
/**
 * Two calls of the journal's, which takes the reference before the first step and writes the ending after the last;
 * each is six. And one that names the servers for the list.
 */
const eventsOverBareMax = 2 * 6 + 1;

/** Targets that are missed, in sentences. */
function missedTargets({ sagas }: Kept): string[] {
  return targets.flatMap((target) => {
    const [ours, bare] = [sagas[target.ours], sagas[target.bare]];
    if (ours === undefined || bare === undefined) return [`${target.ours}: not counted`];
    const over = ours.events - bare.events;
    const ratio = ours.bytes / bare.bytes;
    return [
      ...(over > eventsOverBareMax
        ? [`${target.ours}: ${over} events over bare, and at most ${eventsOverBareMax} is the target`]
        : []),
      ...(ratio > target.bytes
        ? [`${target.ours}: ${ratio.toFixed(2)} × the bytes of bare, and at most ${target.bytes} is the target`]
        : []),
    ];
  });
}

export function table({ sagas, bundles }: Kept): string {
  const ofSagas = markdownTable(
    ['saga', 'events', 'workflow tasks', 'search-attribute upserts', 'memo upserts', 'bytes of history'],
    Object.entries(sagas).map(([name, counts]) => [
      ...[name, counts.events, counts.workflowTasks],
      ...[counts.searchAttributeUpserts, counts.memoUpserts, counts.bytes],
    ]),
  );
  return `${ofSagas}\n\n${markdownTable(['workflow bundle', 'bytes of code'], Object.entries(bundles))}`;
}
