/** A worker process that dies or is stopped in the middle of a call. */
import { msToTs } from '@temporalio/common/lib/time';
import { callsTo, openCartItems, ordersWithLabel } from '../../../sandbox/sentences';
import type { EndpointName } from '../../../sandbox/endpoints';
import { startProcess, type Exit, type RunningProcess } from '../../../scripts/processes';
import { itInWays } from '../../support/left-out';
import { programOf } from '../../support/programs';
import { planIdOf, provisionRequest } from '../../support/requests';
import { Rig, until } from '../../support/rig';
import { answer, untilWaiting } from '../../support/sagas';
import { healthOf } from './probes';

let rig: Rig;
const workers: RunningProcess[] = [];

async function startWorker(): Promise<RunningProcess> {
  const worker = await startProcess(programOf('worker'), { ...rig.environment, HEALTH_ADDRESS: '127.0.0.1:0' });
  workers.push(worker);
  return worker;
}

/** One way to end for every worker there is: whichever holds the call is among them. */
async function endWorkers(signal: NodeJS.Signals): Promise<Exit[]> {
  return Promise.all(workers.splice(0).map((worker) => worker.kill(signal)));
}

beforeAll(async () => {
  rig = await Rig.start({ worker: false });
  await startWorker();
});
afterAll(async () => {
  await endWorkers('SIGKILL');
  await rig.close();
});

/** Starts a saga and waits until the given call of it is held. */
async function holdAt(endpoint: EndpointName, hold: 'before' | 'after') {
  const request = provisionRequest();
  const match = endpoint === 'place-order' ? { label: request.label } : { planId: planIdOf(request.reference) };
  const gate = rig.sandbox.faults.add({ endpoint, kind: 'gate', hold, match });
  const saga = await rig.sagas.provision(request);
  await rig.sandbox.whenStruck(gate);
  return {
    saga,
    orders: () => ordersWithLabel(rig.sandbox.ledger, request.reference),
    openItems: () =>
      openCartItems(rig.sandbox.ledger).filter(({ item }) => item.plan_id === planIdOf(request.reference)),
    release: () => {
      rig.sandbox.faults.release(gate);
    },
  };
}

it('stopped while the order is sent: it says so, and the call in flight ends and is known', async () => {
  const { saga, orders, release } = await holdAt('place-order', 'before');
  const [{ ready, live }] = workers.map(healthOf) as [ReturnType<typeof healthOf>];
  expect(await ready()).toEqual({ status: 200, said: 'ready' });
  const stopped = endWorkers('SIGTERM');
  const { said } = await until(async () => {
    const probed = await ready();
    return probed.status === 503 && probed;
  });
  expect(said).toBe('the worker takes no work: it is DRAINING');
  expect(await live()).toEqual({ status: 200, said: 'live' });
  expect(orders()).toEqual([]);
  release();
  expect(await stopped).toEqual([{ status: 0, signal: null }]);

  await startWorker();
  expect(await saga.result()).toMatchObject({ leftovers: [], decisions: [] });
  expect(orders()).toHaveLength(1);
});

itInWays(
  'sent again by Temporal, because somebody raised the attempts of the call in flight: it is not placed again',
  async () => {
    const { saga, orders, release } = await holdAt('place-order', 'after');
    // As the Web UI does it: Pending Activities, Update.
    await rig.temporal.workflowService.updateActivityOptions({
      namespace: rig.namespace,
      execution: { workflowId: saga.workflowId },
      type: 'placeOrder',
      activityOptions: { retryPolicy: { maximumAttempts: 5 }, startToCloseTimeout: msToTs('1 second') },
      updateMask: { paths: ['retry_policy.maximum_attempts', 'start_to_close_timeout'] },
    });
    await endWorkers('SIGKILL');
    release();
    await startWorker();
    expect(await untilWaiting(saga)).toMatchObject({ kind: 'outcome-unknown' });
    expect(orders()).toHaveLength(1);
    expect(
      callsTo(rig.sandbox.ledger, 'place-order').filter(({ names }) => names.label?.includes(saga.reference)),
    ).toHaveLength(1);
    await answer(saga, 'confirmPlaced', { note: 'seen' });
    await saga.result();
  },
);
