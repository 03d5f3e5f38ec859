/**
 * Ten thousand sagas that wait: what `list` and `inbox` ask of Temporal grows with its pages, and never with the sagas.
 * It counts calls; seconds and memory are printed.
 *
 *   ORDER_SAGA_WAITING=10000 npx jest test/system/scale
 */
import { readFileSync } from 'node:fs';
import { Client, Connection } from '@temporalio/client';
import { OrderSagaClient } from '../../../src/client/client';
import type { SagaFilter, SagaRow } from '../../../src/client/saga-list';
import { workflowIdOf } from '../../../src/domain/identity';
import { startCommand } from '../../support/command-line';
import { takesAll } from '../../support/left-out';
import { Rig, until } from '../../support/rig';
import { aBadNight, eachOf, startWaiting, type Made } from './many-waiting';

/** More than one page of a thousand in any case. */
const count = Number(process.env['ORDER_SAGA_WAITING'] ?? (takesAll ? 10_000 : 1_500));
const pages = Math.ceil(count / 1_000);
const lostCount = Math.ceil(count / 10);

let rig: Rig;
let temporal: Client;
let sagas: OrderSagaClient;
let night: Made[];
const calls = new Map<string, number>();
const measured: string[] = [];

beforeAll(async () => {
  // The worker names the search attributes; nobody works on the runs.
  rig = await Rig.start({ replays: () => false });
  const connection = await Connection.connect({
    address: rig.address,
    interceptors: [
      (options, nextCall) => {
        const name = options.method_definition.path.split('/').at(-1) ?? '';
        calls.set(name, (calls.get(name) ?? 0) + 1);
        return nextCall(options) as never;
      },
    ],
  });
  temporal = new Client({ connection, namespace: rig.namespace });
  sagas = new OrderSagaClient(temporal);
  const startedMs = Date.now();
  night = aBadNight(count, startedMs);
  await startWaiting(rig.temporal, night);
  await loseSome();
  await until(async () => (await rig.sagas.inbox({ limit: 1 })).total === count);
  await until(async () => (await rig.temporal.workflow.count(`ExecutionStatus = 'Terminated'`)).count === lostCount);
  measured.push(`${count} runs, shown by visibility after ${seconds(startedMs)}`);
}, 900_000);
afterAll(async () => {
  process.stdout.write(`${measured.join('\n')}\n`);
  await temporal.connection.close();
  await rig.close();
}, 300_000);

const seconds = (sinceMs: number) => `${((Date.now() - sinceMs) / 1000).toFixed(1)} s`;
const lostId = (index: number) => workflowIdOf('provisionServers', `L-${index}`);

/** Terminated; every second one goes on in another run, as after a reset. */
async function loseSome(): Promise<void> {
  const lost = Array.from({ length: lostCount }, (_, index) => lostId(index));
  const start = (workflowId: string) =>
    rig.temporal.workflow.start('provisionServers', { workflowId, taskQueue: 'nobody', args: [{}] });
  await eachOf(lost, async (workflowId, index) => {
    await (await start(workflowId)).terminate();
    if (index % 2 === 0) await start(workflowId);
  });
}

/** @returns the result, and the calls of Temporal that it took */
async function measure<T>(title: string, work: () => Promise<T>): Promise<{ value: T; asked: Record<string, number> }> {
  calls.clear();
  const startedMs = Date.now();
  let peak = process.memoryUsage().rss;
  const before = peak;
  const sampling = setInterval(() => (peak = Math.max(peak, process.memoryUsage().rss)), 20);
  const value = await work();
  clearInterval(sampling);
  const asked = Object.fromEntries(calls);
  const megabytes = Math.round((peak - before) / 1024 / 1024);
  measured.push(`${title}: ${seconds(startedMs)}, ${JSON.stringify(asked)}, +${megabytes} MB`);
  return { value, asked };
}

async function rowsOf(filter: SagaFilter): Promise<SagaRow[]> {
  const rows: SagaRow[] = [];
  for await (const row of sagas.list(filter)) rows.push(row);
  return rows;
}

it.each(['kind', 'step', 'account', 'age'] as const)('the inbox by %s is read page by page', async (by) => {
  const { value, asked } = await measure(`inbox --by ${by}`, () => sagas.inbox({ by, limit: 20 }));
  expect(value.total).toBe(count);
  expect(value.groups.reduce((sum, group) => sum + group.count, 0)).toBe(count);
  expect(value.groups.length).toBeLessThanOrEqual(7);
  expect(value.rows.map(({ workflowId }) => workflowId)).toEqual(
    night.slice(0, 20).map(({ workflowId }) => workflowId),
  );
  expect(Object.keys(asked)).toEqual(['ListWorkflowExecutions']);
  expect(asked['ListWorkflowExecutions']).toBeLessThanOrEqual(pages + 1);
});

it('a filter reads only what fits it', async () => {
  const { value, asked } = await measure('inbox --kind outcome-unknown', () =>
    sagas.inbox({ kind: 'outcome-unknown' }),
  );
  expect(value.rows.map(({ workflowId }) => workflowId)).toEqual([night.at(-1)?.workflowId]);
  expect(asked).toEqual({ ListWorkflowExecutions: 1 });
});

it('the list describes nobody', async () => {
  const first = await measure('list --limit 100', () => rowsOf({ limit: 101 }));
  expect(first.value).toHaveLength(101);
  expect(first.asked).toEqual({ ListWorkflowExecutions: expect.any(Number) as number });
  expect(first.asked['ListWorkflowExecutions']).toBeLessThanOrEqual(3);
  const all = await measure('list --state waiting, all', () => rowsOf({ state: 'waiting' }));
  expect(all.value).toHaveLength(count);
  expect(all.asked).toEqual({ ListWorkflowExecutions: expect.any(Number) as number });
  expect(all.asked['ListWorkflowExecutions']).toBeLessThanOrEqual(pages + 1);
});

it('which lost ones went on is asked once for a hundred', async () => {
  const { value, asked } = await measure('list --state lost, all', () => rowsOf({ state: 'lost' }));
  const expected = Array.from({ length: lostCount }, (_, index) => index).filter((index) => index % 2 === 1);
  expect(value.map(({ workflowId }) => workflowId).sort()).toEqual(expected.map(lostId).sort());
  expect(Object.keys(asked)).toEqual(['ListWorkflowExecutions']);
  const asking = Math.ceil(lostCount / 100);
  expect(asked['ListWorkflowExecutions']).toBeLessThanOrEqual(Math.ceil(lostCount / 1_000) + 1 + asking);
});

it('the command line shows it, and keeps no row that it does not show', async () => {
  const startedMs = Date.now();
  const { child, ended } = startCommand(['inbox', '--by', 'account', '--json'], rig.environment);
  let peakKilobytes = 0;
  const sampling = setInterval(() => (peakKilobytes = Math.max(peakKilobytes, peakOf(child.pid))), 20);
  const { status, out } = await ended;
  clearInterval(sampling);
  expect(status).toBe(4);
  expect(JSON.parse(out)).toMatchObject({ total: count });
  expect(out.length).toBeLessThan(20_000);
  measured.push(
    `order-saga inbox --by account: ${seconds(startedMs)} with its start, ${Math.round(peakKilobytes / 1024)} MB at most`,
  );
});

/** What Linux knows of it; 0 elsewhere. */
function peakOf(pid: number | undefined): number {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid ?? 0}/status`, 'utf8'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}
