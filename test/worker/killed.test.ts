/** A worker process that dies or is stopped in the middle of a call. */
import { ordersWithLabel, openCartItems } from '../../sandbox/sentences';
import { startProcess, type RunningProcess } from '../support/processes';
import { provisionRequest } from '../support/requests';
import { Rig } from '../support/rig';
import { untilWaiting } from '../support/sagas';

let rig: Rig;
const processes: RunningProcess[] = [];
const startWorker = async () => {
  const worker = await startProcess('src/worker.ts', rig.environment);
  processes.push(worker);
  return worker;
};
beforeAll(async () => {
  rig = await Rig.start({ worker: false });
});
afterAll(async () => {
  await Promise.all(processes.map((worker) => worker.kill('SIGKILL')));
  await rig.close();
});

it.each(['before', 'after'] as const)(
  'killed while the order is sent, %s it took effect: one order, and a saga that waits',
  async (hold) => {
    const worker = await startWorker();
    const request = provisionRequest();
    const gate = rig.sandbox.faults.add({
      endpoint: 'place-order',
      kind: 'gate',
      hold,
      match: { label: request.label },
    });
    const saga = await rig.sagas.provision(request);
    await rig.sandbox.whenStruck(gate);
    await worker.kill('SIGKILL');
    rig.sandbox.faults.release(gate);
    await startWorker();

    const waiting = await untilWaiting(saga);
    expect(waiting).toMatchObject({ kind: 'outcome-unknown', step: 'place-order' });
    expect(ordersWithLabel(rig.sandbox.ledger, request.reference)).toHaveLength(1);
    await saga.decide('confirmPlaced', { note: 'seen' });
    await saga.result();
    expect(ordersWithLabel(rig.sandbox.ledger, request.reference)).toHaveLength(1);
  },
  120_000,
);

it('killed while an item is added: the item that may be there is told, and another one is ordered', async () => {
  const worker = await startWorker();
  const request = provisionRequest();
  const gate = rig.sandbox.faults.add({ endpoint: 'add-cart-item', kind: 'gate', hold: 'after' });
  const saga = await rig.sagas.provision(request);
  await rig.sandbox.whenStruck(gate);
  await Promise.all(processes.map((process) => process.kill('SIGKILL')));
  await worker.kill('SIGKILL');
  rig.sandbox.faults.release(gate);
  await startWorker();

  const result = await saga.result();
  expect(result).toMatchObject({ leftovers: [{ kind: 'cart-item-unknown', item: 1 }] });
  expect(openCartItems(rig.sandbox.ledger)).toHaveLength(1);
}, 120_000);

it('stopped while the order is sent: the call in flight ends and is known', async () => {
  await Promise.all(processes.map((process) => process.kill('SIGKILL')));
  const worker = await startWorker();
  const request = provisionRequest();
  const gate = rig.sandbox.faults.add({
    endpoint: 'place-order',
    kind: 'gate',
    hold: 'before',
    match: { label: request.label },
  });
  const saga = await rig.sagas.provision(request);
  await rig.sandbox.whenStruck(gate);
  const stopped = worker.kill('SIGTERM');
  rig.sandbox.faults.release(gate);
  expect(await stopped).toEqual({ status: 0, signal: null });

  await startWorker();
  expect(await saga.result()).toMatchObject({ leftovers: [], decisions: [] });
  expect(ordersWithLabel(rig.sandbox.ledger, request.reference)).toHaveLength(1);
}, 120_000);
