/** What keeps the provider from being flooded: a limit for the whole task queue, and turns for accounts. */
import { orders } from '../../../sandbox/sentences';
import { startProcess } from '../../../scripts/processes';
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
  // So few that the orders of the one have calls in the queue for longer than the other one's steps take.
  await rig.replaceWorkers({ callsPerSecond: 3 });
  const order = (account: string) => rig.sagas.provision(provisionRequest({ account, items: [{}, {}] }));
  const many = await Promise.all(Array.from({ length: 16 }, () => order('AB-1')));
  await until(() => Promise.resolve(calls() > 0));
  const other = await order('AB-2');
  await Promise.all([...many, other].map((saga) => saga.result()));
  // One after the other, it would have come with the last of them.
  const accounts = orders(rig.sandbox.ledger).map(({ account }) => account);
  expect(accounts.indexOf('AB-2')).toBeLessThan(many.length / 2);
});
