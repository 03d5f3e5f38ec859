/** What keeps the provider from being flooded: a limit for the whole task queue, and turns for accounts. */
import { orders } from '../../../sandbox/sentences';
import type { SagaHandle } from '../../../src/client/handle';
import { startProcess } from '../../../scripts/processes';
import { programOf } from '../../support/programs';
import { provisionRequest } from '../../support/requests';
import { rigForFile } from '../../support/rig';

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
  const started: SagaHandle[] = [];
  const order = async (account: string) =>
    started.push(await rig.sagas.provision(provisionRequest({ account, items: [{}, {}] })));
  await rig.withoutWorkers(
    async () => {
      await Promise.all(Array.from({ length: 16 }, () => order('AB-1')));
      await order('AB-2');
    },
    { callsPerSecond: 4 },
  );
  await Promise.all(started.map((saga) => saga.result()));
  // One after the other, it would have come with the last of them.
  const accounts = orders(rig.sandbox.ledger).map(({ account }) => account);
  expect(accounts.indexOf('AB-2')).toBeLessThan(8);
});
