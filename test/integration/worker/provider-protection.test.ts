/** What keeps the provider from being flooded: a limit for the whole task queue, and turns for accounts. */
import { startProcess } from '../../../scripts/processes';
import type { SagaHandle } from '../../../src/client/handle';
import { programOf } from '../../support/programs';
import { provisionRequest } from '../../support/requests';
import { rigForFile, until } from '../../support/rig';

const rig = rigForFile({ worker: false, clears: true });
const calls = () => rig.sandbox.ledger.calls.length;

it('keeps to its calls a second over all workers of the task queue', async () => {
  const callsPerSecond = 4;
  await rig.startWorker({ callsPerSecond });
  const PROVIDER_CALLS_PER_SECOND = String(callsPerSecond);
  const other = await startProcess(programOf('worker'), { ...rig.environment, PROVIDER_CALLS_PER_SECOND });
  const startedMs = performance.now();
  const sagas = await Promise.all(Array.from({ length: 16 }, () => rig.sagas.provision(provisionRequest())));
  await Promise.all(sagas.map((saga) => saga.result()));
  await other.kill('SIGTERM');
  // What the limiter had saved up may come at once.
  const spread = calls() - 2 * callsPerSecond;
  expect(performance.now() - startedMs).toBeGreaterThan((spread / callsPerSecond) * 1_000);
});

it('accounts take turns: many orders of one do not hold up the order of another', async () => {
  const isQueued = async (saga: SagaHandle) => ((await saga.describe()).raw.pendingActivities ?? []).length > 0;
  const queued = async (request: ReturnType<typeof provisionRequest>) => {
    const saga = await rig.sagas.provision(request);
    await until(() => isQueued(saga));
    return saga;
  };
  // So slowly that the calls of all of them stand in the queue, before it goes on.
  await rig.replaceWorkers({ callsPerSecond: 0.1 });
  const many = await Promise.all(Array.from({ length: 16 }, () => queued(provisionRequest({ account: 'AB-1' }))));
  const request = provisionRequest({ account: 'AB-2' });
  const other = await queued(request);
  const before = calls();
  await rig.replaceWorkers({ callsPerSecond: 4 });
  await Promise.all([...many, other].map((saga) => saga.result()));
  // One after the other, it would have come behind the first calls of them all.
  const [first] = rig.callsOf(request);
  expect(first && rig.sandbox.ledger.calls.indexOf(first) - before).toBeLessThan(8);
});
