/**
 * One decision over very many sagas that are really stuck, by one worker: the dry list describes nobody, the job's
 * history stays short, and each saga is decided once. Seconds and memory are printed, and not judged.
 *
 *   ORDER_SAGA_STUCK=10000 npx jest test/system/scale/decide-many
 */
import { Client, Connection } from '@temporalio/client';
import { placedTwice } from '../../../sandbox/sentences';
import { OrderSagaClient } from '../../../src/client/client';
import { itInWays } from '../../support/left-out';
import { changeRequest } from '../../support/requests';
import { Rig, until } from '../../support/rig';

const count = Number(process.env['ORDER_SAGA_STUCK'] ?? 40);
const perSecond = 50;

let rig: Rig;
let temporal: Client;
let sagas: OrderSagaClient;
const calls = new Map<string, number>();
const measured: string[] = [];

beforeAll(async () => {
  // Those of the job, and one saga in a hundred.
  rig = await Rig.start({
    replays: ({ workflowId }) => workflowId.startsWith('decide-many/') || workflowId.endsWith('00'),
  });
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
});
afterAll(async () => {
  process.stdout.write(`${measured.join('\n')}\n`);
  await temporal.connection.close();
  await rig.close();
}, 1_800_000);

const megabytes = () => Math.round(process.memoryUsage().rss / 1024 / 1024);
const countOf = async (query: string) => (await temporal.workflow.count(query)).count;

async function measure<T>(title: string, work: () => Promise<T>): Promise<T> {
  calls.clear();
  const startedMs = Date.now();
  let peak = megabytes();
  const sampling = setInterval(() => (peak = Math.max(peak, megabytes())), 100);
  const value = await work();
  clearInterval(sampling);
  const asked = JSON.stringify(Object.fromEntries(calls));
  measured.push(
    `${title}: ${((Date.now() - startedMs) / 1000).toFixed(1)} s, ${asked}, ${peak} MB at most with all of them`,
  );
  return value;
}

itInWays(
  `${count} stuck sagas are retried by one job`,
  async () => {
    rig.sandbox.faults.add({ endpoint: 'place-change-order', kind: 'unauthorized', times: 'all' });
    const requests = Array.from({ length: count }, () => changeRequest());
    await measure('to be stuck', async () => {
      for (let from = 0; from < count; from += 50)
        await Promise.all(requests.slice(from, from + 50).map((request) => rig.sagas.change(request)));
      await until(async () => (await countOf(`SagaState = 'stuck'`)) === count);
    });
    rig.sandbox.faults.clear();

    const retry = { decision: 'retry', where: 'all', note: 'the provider is back', by: 'ann', perSecond };
    const preview = await measure('the dry list', () => sagas.previewMany(retry));
    expect(preview).toMatchObject({ count });
    // One more page than is full.
    expect(calls.get('ListWorkflowExecutions')).toBeLessThanOrEqual(Math.ceil(count / 1_000) + 1);
    expect([...calls.keys()]).toEqual(['ListWorkflowExecutions']);

    const job = await sagas.decideMany(retry, { name: 'night' });
    const report = await measure('the job', () => job.report());
    expect(report).toMatchObject({ outcome: 'done', counts: { taken: count, refused: 0, gone: 0, unanswered: 0 } });
    expect(report.notReached).toBe(0);
    await measure('the last ones', () =>
      until(async () => (await countOf(`ExecutionStatus = 'Completed' AND WorkflowType = 'changeOrder'`)) === count),
    );
    expect(placedTwice(rig.sandbox.ledger)).toEqual([]);
    const placed = rig.sandbox.ledger.entries.filter(({ type }) => type === 'changeOrderPlaced');
    expect(placed).toHaveLength(count);

    const { events } = await temporal.workflow.getHandle(job.workflowId).fetchHistory();
    // Two activities, however many sagas it tells.
    expect(events?.length).toBeLessThan(20);
  },
  7_200_000,
);
