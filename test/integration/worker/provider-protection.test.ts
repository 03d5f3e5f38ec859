/**
 * What keeps the provider from being flooded: a limit for the whole task queue, and turns for accounts; and whom
 * a wait that the provider asks for concerns.
 */
import { orders } from '../../../sandbox/sentences';
import { startProcess } from '../../../scripts/processes';
import { programOf } from '../../support/programs';
import { provisionRequest } from '../../support/requests';
import { Rig, until } from '../../support/rig';

let rig: Rig;
afterEach(() => rig.close());

it('keeps to its calls a second over all workers of the task queue', async () => {
  rig = await Rig.start({ worker: false });
  const callsPerSecond = 4;
  await rig.startWorker({ callsPerSecond });
  const other = await startProcess(programOf('worker'), {
    ...rig.environment,
    PROVIDER_CALLS_PER_SECOND: String(callsPerSecond),
  });
  const startedMs = performance.now();
  const sagas = await Promise.all(Array.from({ length: 16 }, () => rig.sagas.provision(provisionRequest())));
  await Promise.all(sagas.map((saga) => saga.result()));
  await other.kill('SIGTERM');
  // What the limiter had saved up may come at once.
  const spread = rig.sandbox.ledger.calls.length - 2 * callsPerSecond;
  expect(performance.now() - startedMs).toBeGreaterThan((spread / callsPerSecond) * 1_000);
});

it('accounts take turns: many orders of one do not hold up the order of another', async () => {
  rig = await Rig.start({ worker: false });
  await rig.startWorker({ callsPerSecond: 8 });
  const many = await Promise.all(
    Array.from({ length: 16 }, () => rig.sagas.provision(provisionRequest({ account: 'AB-1', items: [{}, {}] }))),
  );
  await until(() => Promise.resolve(rig.sandbox.ledger.calls.length > 0));
  const one = await rig.sagas.provision(provisionRequest({ account: 'AB-2', items: [{}, {}] }));
  await one.result();
  const before = ordersOf('AB-1');
  await Promise.all(many.map((saga) => saga.result()));
  // One after the other, it would have come with the last of them.
  expect(before).toBeLessThan(many.length / 2);
});

const ordersOf = (account: string) => orders(rig.sandbox.ledger).filter((order) => order.account === account).length;
