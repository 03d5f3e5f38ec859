/**
 * The costs of a saga in counts, which are the same on every machine: held against the numbers in `counts.json`, so that
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
import { temporal } from '@temporalio/proto';
import { SagaFailedError } from '../src/client/errors';
import type { SagaHandle } from '../src/client/handle';
import { bundleBytes, type Built } from './built';
import { markdownTable } from './markdown';
import { newReference, provisionRequest, startStand, type Order, type Stand } from './stand';

/** Longer than a workflow task takes on a busy machine; and a dozen sagas still fit a few seconds. */
const staggerMs = 150;

const runsMax = 4;

/** Time stamps are written in as few bytes as each of them needs. */
const bytesTolerance = 0.02;

/** A minifier or a bundler of another minor version writes the same code a little differently. */
const bundleTolerance = 0.03;

const keptPath = join(__dirname, 'counts.json');

interface Kept {
  sagas: Record<string, HistoryCounts>;
  bundles: Record<string, number>;
}

/** Runs one saga to its end. @returns its workflow's id */
type Run = () => Promise<string>;

/**
 * @param accept keeps what is counted
 * @returns what has moved, or misses a target, in sentences; none when all is well
 */
export async function checkCounts(built: Built, accept: boolean): Promise<string[]> {
  const kept = JSON.parse(readFileSync(keptPath, 'utf8')) as Kept;
  const counted = await count(built, kept);
  console.log(table(counted));
  if (!accept) return [...differences(kept, counted), ...missedTargets(counted)];
  writeFileSync(keptPath, `${JSON.stringify(counted, null, 2)}\n`);
  console.log('accepted: bench/counts.json');
  return missedTargets(counted);
}

async function count(built: Built, kept: Kept): Promise<Kept> {
  const stand = await startStand(built, { staggerMs });
  try {
    for (const kind of ['bare', 'plain', 'encrypted'] as const) await stand.startWorker(kind);
    const client = stand.clientFor('bare');
    const sagas: Record<string, HistoryCounts> = {};
    for (const [name, run] of Object.entries(runsOn(stand))) {
      for (let n = 0; n < runsMax; n += 1) {
        const counts = countHistory(await client.workflow.getHandle(await run()).fetchHistory());
        const before = kept.sagas[name];
        const asKept = before && differences(only(name, before), only(name, counts)).length === 0;
        if (asKept || counts.workflowTasks > (sagas[name]?.workflowTasks ?? 0)) sagas[name] = counts;
        if (asKept) break;
      }
    }
    const bundles = Object.entries(built.bundles).map(([name, path]) => [name, bundleBytes(path)]);
    return { sagas, bundles: Object.fromEntries(bundles) as Record<string, number> };
  } finally {
    await stand.close();
  }
}

const only = (name: string, counts: HistoryCounts): Kept => ({ sagas: { [name]: counts }, bundles: {} });

const noFirewalls: Order = { firewalls: false };
const firewalls: Order = { firewalls: true };
const refused: Order = { ...noFirewalls, refused: true };

function runsOn(stand: Stand): Record<string, Run> {
  const sagas = stand.sagasFor('plain');
  const encrypted = stand.sagasFor('encrypted');
  let vmObjectId = 1_000_000;
  const runBare = async (order: Order) => {
    const request = provisionRequest(order);
    await stand.runBare('bareSideBySide', request).catch(asExpected(WorkflowFailedError, order));
    return `bareSideBySide/${request.reference}`;
  };
  const runOurs = (order: Order, client = sagas) => ended(client.provision(provisionRequest(order)), order);
  return {
    'bare provision': () => runBare(noFirewalls),
    'bare provision with firewalls': () => runBare(firewalls),
    provision: () => runOurs(noFirewalls),
    'provision with firewalls': () => runOurs(firewalls),
    'provision, encrypted': () => runOurs(noFirewalls, encrypted),
    'provision with firewalls, encrypted': () => runOurs(firewalls, encrypted),
    'bare provision, refused, two deletes': () => runBare(refused),
    'provision, refused, two deletes': () => runOurs(refused),
    change: () => {
      const resources = [{ resource_name: 'vm_backup' as const, delta_value: '1' }];
      return ended(sagas.change({ reference: newReference(), subscription_id: 5_001, resources }));
    },
    switch: () => ended(sagas.switch({ reference: newReference(), subscription_id: 5_001, plan_id: 21 })),
    'set firewalls': () => {
      // Each run a server of its own: what is assigned already is not assigned again.
      vmObjectId += 1;
      return ended(sagas.firewalls({ reference: newReference(), vmObjectId, assign: [143] }));
    },
  };
}

async function ended(starting: Promise<SagaHandle>, order?: Order): Promise<string> {
  const saga = await starting;
  await saga.result().catch(asExpected(SagaFailedError, order));
  return saga.workflowId;
}

/** Only a refused order may fail, and so. */
function asExpected(failure: new (...args: never[]) => Error, order: Order | undefined) {
  return (error: unknown) => {
    if (!order?.refused || !(error instanceof failure)) throw error;
  };
}

/** The counts that have moved, as sentences. */
function differences(kept: Kept, counted: Kept): string[] {
  const [before, now] = [numbersIn(kept), numbersIn(counted)];
  return [...new Set([...before.keys(), ...now.keys()])].flatMap((what) => {
    const [was, is] = [before.get(what), now.get(what)];
    if (was === undefined || is === undefined) return [`${what}: ${was === undefined ? 'is new' : 'is gone'}`];
    const tolerance = what.startsWith(ofBundles) ? bundleTolerance : what.endsWith(': bytes') ? bytesTolerance : 0;
    if (Math.abs(is - was) <= was * tolerance) return [];
    const by = is > was ? `${is - was} more` : `${was - is} fewer`;
    return [`${what}: ${by} than kept (${was} → ${is})`];
  });
}

const ofBundles = 'workflow bundle, bytes of code';

/** By what they say. */
function numbersIn({ sagas, bundles }: Kept): Map<string, number> {
  const groups: Record<string, Record<string, number>> = { ...sagas, [ofBundles]: bundles };
  return new Map(
    Object.entries(groups).flatMap(([group, numbers]) =>
      Object.entries(numbers).map(([name, number]) => [`${group}: ${name}`, number] as const),
    ),
  );
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

function table({ sagas, bundles }: Kept): string {
  const fields = Object.keys(Object.values(sagas)[0] ?? {}) as (keyof HistoryCounts)[];
  const rows = Object.entries(sagas).map(([name, counts]) => [name, ...fields.map((field) => counts[field])]);
  return `${markdownTable(['saga', ...fields], rows)}\n\n${markdownTable([ofBundles, ''], Object.entries(bundles))}`;
}

type History = temporal.api.history.v1.IHistory;

/** A saga's traces on the server; `bytes` as protobuf, without processes' names and stacks: as long as a machine's. */
type HistoryCounts = Record<'events' | 'workflowTasks' | 'searchAttributeUpserts' | 'memoUpserts' | 'bytes', number>;

const { EventType, TaskQueueKind } = temporal.api.enums.v1;

function countHistory(history: History): HistoryCounts {
  const events = history.events ?? [];
  const ofType = (type: temporal.api.enums.v1.EventType) => events.filter(({ eventType }) => eventType === type).length;
  return {
    events: events.length,
    workflowTasks: ofType(EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED),
    searchAttributeUpserts: ofType(EventType.EVENT_TYPE_UPSERT_WORKFLOW_SEARCH_ATTRIBUTES),
    memoUpserts: ofType(EventType.EVENT_TYPE_WORKFLOW_PROPERTIES_MODIFIED),
    bytes: temporal.api.history.v1.History.encode({ events: events.map(nameless) }).finish().length,
  };
}

function nameless(event: temporal.api.history.v1.IHistoryEvent): temporal.api.history.v1.IHistoryEvent {
  const stripped = Object.entries(event).map(([field, value]: [string, unknown]) => {
    if (!field.endsWith('Attributes') || typeof value !== 'object' || value === null) return [field, value];
    const attributes = { ...value } as Attributes;
    delete attributes.identity;
    // A worker's own queue is named after it.
    if (attributes.taskQueue?.kind === TaskQueueKind.TASK_QUEUE_KIND_STICKY) delete attributes.taskQueue;
    if (attributes.failure) attributes.failure = stackless(attributes.failure);
    return [field, attributes];
  });
  return Object.fromEntries(stripped) as temporal.api.history.v1.IHistoryEvent;
}

interface Attributes {
  identity?: string;
  taskQueue?: temporal.api.taskqueue.v1.ITaskQueue | null;
  failure?: Failure | null;
}

type Failure = temporal.api.failure.v1.IFailure;

/** A stack names the folder that the project lies in. */
function stackless({ stackTrace: _, cause, ...failure }: Failure): Failure {
  return cause ? { ...failure, cause: stackless(cause) } : failure;
}
