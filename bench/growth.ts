/**
 * How it grows: what an order takes of each part of an installation, measured with one worker and with two on Temporal
 * and a journal in PostgreSQL; and, computed from that, what so many orders a day need.
 */
import { cpus } from 'node:os';
import { temporal } from '@temporalio/proto';
import type { WorkflowHandle } from '@temporalio/client';
import { startStack, type Stack } from '../deploy/stack/stack';
import { connectionsMax } from '../src/journal/database/dialects';
import type { Built } from './built';
import { markdownTable } from './markdown';
import { cpuMs, residentMiB } from './process-figures';
import { provisionRequest, startStand } from './stand';
import { closedLoop } from './statistics';

/** Of one saga: an order of two items with one firewall. */
interface GrowthFigures {
  workers: number;
  sagasPerSecond: number;
  /** Milliseconds of processor time, of the workers, of the Temporal server, of PostgreSQL for it and for the journal. */
  cpuMs: Record<PartName, number>;
  workerMiB: number;
  /** Of PostgreSQL, at the end of the load. */
  connections: Record<Database, number>;
  /** Billed by Temporal Cloud, as https://docs.temporal.io/cloud/actions counts them. */
  actions: number;
  /** That a saga leaves in each database, indexes included. */
  bytes: Record<Database, number>;
}

type Database = 'temporal' | 'journal';
type PartName = 'worker' | 'Temporal server' | 'PostgreSQL, Temporal' | 'PostgreSQL, journal' | 'PostgreSQL, its own';

const atOnce = 50;

export async function measureGrowth(built: Built, sagas: number): Promise<GrowthFigures[]> {
  const figures: GrowthFigures[] = [];
  for (const workers of [1, 2]) {
    const stack = await startStack();
    const stand = await startStand(built, { stack });
    try {
      const pids = await Promise.all(
        Array.from({ length: workers }, async () => (await stand.startWorker('postgres')).pid),
      );
      const client = stand.sagasFor('postgres');
      const order = async () => {
        await (await client.provision(provisionRequest({ firewalls: true }))).result();
      };
      await closedLoop(atOnce, atOnce, order);
      const before = await lookAt(stack, pids);
      const { seconds } = await closedLoop(sagas, atOnce, order);
      const after = await lookAt(stack, pids);
      const each = <K extends string>(from: Record<K, number>, to: Record<K, number>) =>
        Object.fromEntries(Object.keys(from).map((key) => [key, (to[key as K] - from[key as K]) / sagas])) as typeof to;
      const last = await client.provision(provisionRequest({ firewalls: true }));
      await last.result();
      figures.push({
        workers,
        sagasPerSecond: sagas / seconds,
        cpuMs: each(before.cpuMs, after.cpuMs),
        workerMiB: Math.max(...pids.map((pid) => residentMiB(pid) ?? NaN)),
        connections: after.connections,
        actions: await actionsOf(stand.clientFor('postgres').workflow.getHandle(last.workflowId)),
        bytes: each(before.bytes, after.bytes),
      });
      console.log(`measured with ${workers} of ${sagas} sagas`);
    } finally {
      await stand.close();
      await stack.stop();
    }
  }
  return figures;
}

/** A connection is kept, so each of its processes in PostgreSQL is of one database. */
async function lookAt({ sql, server, postgres }: Stack, workers: readonly number[]) {
  const databaseOf = (name: string): Database => (name === 'journal' ? 'journal' : 'temporal');
  const spent = { temporal: 0, journal: 0 };
  const connections = { temporal: 0, journal: 0 };
  const backends = await sql(
    'postgres',
    "select pid, datname from pg_stat_activity where backend_type = 'client backend'",
  );
  for (const line of backends.split('\n')) {
    const [pid, name = ''] = line.split('\t');
    const of = databaseOf(name);
    spent[of] += cpuMs(Number(pid)) ?? 0;
    connections[of] += 1;
  }
  const sizes = await sql('postgres', 'select datname, pg_database_size(datname) from pg_database');
  const bytes = { temporal: 0, journal: 0 };
  for (const line of sizes.split('\n')) {
    const [name = '', size] = line.split('\t');
    bytes[databaseOf(name)] += Number(size);
  }
  const cpu: Record<PartName, number> = {
    worker: workers.reduce((sum, pid) => sum + (cpuMs(pid) ?? NaN), 0),
    'Temporal server': cpuMs(server.pid) ?? NaN,
    'PostgreSQL, Temporal': spent.temporal,
    'PostgreSQL, journal': spent.journal,
    'PostgreSQL, its own': (cpuMs(postgres.pid, true) ?? NaN) - spent.temporal - spent.journal,
  };
  return { cpuMs: cpu, connections, bytes };
}

const { EventType } = temporal.api.enums.v1;
const billed = new Set([
  EventType.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED,
  EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED,
  EventType.EVENT_TYPE_TIMER_STARTED,
  EventType.EVENT_TYPE_UPSERT_WORKFLOW_SEARCH_ATTRIBUTES,
  EventType.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED,
  EventType.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED,
]);

async function actionsOf(run: WorkflowHandle): Promise<number> {
  const { events } = await run.fetchHistory();
  const single = (events ?? []).filter(({ eventType }) => eventType && billed.has(eventType)).length;
  // All local activities of one workflow task are one action.
  const local = (events ?? []).flatMap(({ markerRecordedEventAttributes: of }) =>
    of?.markerName === 'core_local_activity' ? [String(of.workflowTaskCompletedEventId)] : [],
  );
  return single + new Set(local).size;
}

const volumes = [1_000, 100_000, 1_000_000];
/** The busiest hour of a day, beside an even one. */
const peak = 3;
/** Beyond that a core has no room for what comes together. */
const busyAtMost = 0.7;
const keptDays = 30;
const secondsOfDay = 24 * 3_600;

export function growthReport(figures: readonly GrowthFigures[]): string {
  const rows = (title: string, of: (one: GrowthFigures) => number) => [title, ...figures.map(of)];
  const [one] = figures;
  if (one === undefined) throw new Error('nothing was measured');
  const parts = Object.keys(one.cpuMs) as PartName[];
  const measured = markdownTable(
    [
      `measured, ${cpus().length} cores, ${atOnce} at once`,
      ...figures.map(({ workers }) => `${workers} worker${workers > 1 ? 's' : ''}`),
    ],
    [
      rows('sagas/s', ({ sagasPerSecond }) => sagasPerSecond),
      ...parts.map((part) => rows(`CPU a saga, ms: ${part}`, (of) => of.cpuMs[part])),
      rows('MiB of the largest worker', ({ workerMiB }) => workerMiB),
      rows('connections to PostgreSQL: Temporal', ({ connections }) => connections.temporal),
      rows('connections to PostgreSQL: journal', ({ connections }) => connections.journal),
      rows('Temporal’s actions a saga', ({ actions }) => actions),
      rows('kB a saga: Temporal', ({ bytes }) => bytes.temporal / 1e3),
      rows('kB a saga: journal', ({ bytes }) => bytes.journal / 1e3),
    ],
  );
  const perSecond = (orders: number) => (orders * peak) / secondsOfDay;
  const cores = (orders: number, ms: number) => (perSecond(orders) * ms) / 1_000 / busyAtMost;
  const perVolume = (title: string, of: (orders: number) => number) => [title, ...volumes.map(of)];
  const workersFor = (orders: number) => Math.max(1, Math.ceil(cores(orders, one.cpuMs.worker)));
  const computed = markdownTable(
    ['computed, orders a day', ...volumes.map((orders) => orders.toLocaleString('en'))],
    [
      perVolume(`orders a second, ${peak} times the day’s mean`, perSecond),
      perVolume(`workers, each a core busy to ${busyAtMost * 100} %`, workersFor),
      ...parts.slice(1).map((part) => perVolume(`cores: ${part}`, (orders) => cores(orders, one.cpuMs[part]))),
      perVolume('connections to the journal, at most', (orders) => workersFor(orders) * connectionsMax),
      perVolume('Temporal’s actions a second', (orders) => perSecond(orders) * one.actions),
      perVolume(
        `GB in Temporal, kept for ${keptDays} days`,
        (orders) => (orders * keptDays * one.bytes.temporal) / 1e9,
      ),
      perVolume('GB more in the journal each year', (orders) => (orders * 365 * one.bytes.journal) / 1e9),
    ],
  );
  return `${measured}\n\n${computed}\n\n${firstLimits(one)}`;
}

function firstLimits({ cpuMs: spent }: GrowthFigures): string {
  const daily = (ms: number) => ((1_000 / ms) * busyAtMost * secondsOfDay) / peak;
  const limits = Object.entries(spent)
    .map(([part, ms]) => ({ part, orders: daily(ms) }))
    .sort((a, b) => a.orders - b.orders)
    .map(({ part, orders }) => `${part}: ${Number(orders.toPrecision(2)).toLocaleString('en')}`);
  return `Orders a day that one core of a part carries (computed), the first limit first: ${limits.join('; ')}.`;
}
