/** A worker process that is stopped in the middle of a call. */
import { ordersWithLabel } from '../../../sandbox/sentences';
import { startProcess } from '../../../scripts/processes';
import { programOf } from '../../support/programs';
import { provisionRequest } from '../../support/requests';
import { rigForFile, until } from '../../support/rig';
import { healthOf } from './probes';

const rig = rigForFile({ worker: false });
const startWorker = () => startProcess(programOf('worker'), { ...rig.environment, HEALTH_ADDRESS: '127.0.0.1:0' });

it('stopped while the order is sent: it says so, and the call in flight ends and is known', async () => {
  const worker = await startWorker();
  const request = provisionRequest();
  const match = { label: request.label };
  const gate = rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'gate', hold: 'before', match });
  const saga = await rig.sagas.provision(request);
  await rig.sandbox.whenStruck(gate);
  const { ready, live } = healthOf(worker);
  expect(await ready()).toEqual({ status: 200, said: 'ready' });
  const stopped = worker.kill('SIGTERM');
  const { said } = await until(async () => {
    const probed = await ready();
    return probed.status === 503 && probed;
  });
  expect(said).toBe('the worker takes no work: it is DRAINING');
  expect(await live()).toEqual({ status: 200, said: 'live' });
  const orders = () => ordersWithLabel(rig.sandbox.ledger, request.reference);
  expect(orders()).toEqual([]);
  rig.sandbox.faults.release(gate);
  expect(await stopped).toEqual({ status: 0, signal: null });

  const other = await startWorker();
  expect(await saga.result()).toMatchObject({ leftovers: [], decisions: [] });
  expect(orders()).toHaveLength(1);
  await other.kill('SIGKILL');
});
