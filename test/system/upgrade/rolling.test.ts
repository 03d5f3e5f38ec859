/**
 * A rolling upgrade with sagas in flight: the old and the new version run side by side, and the new one could not
 * replay what the old one began (next-version.ts). No saga is lost, and none is ordered twice.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ordersWithLabel } from '../../../sandbox/sentences';
import { bundleWorkflows } from '../../../scripts/workflow-bundle';
import type { SagaHandle } from '../../../src/client/handle';
import type { WorkerVersion } from '../../../src/config';
import { bundleOf } from '../../support/programs';
import { provisionRequest } from '../../support/requests';
import { Rig } from '../../support/rig';
import { answer, untilWaiting } from '../../support/sagas';

const version = (buildId: string): WorkerVersion => ({ deploymentName: 'order-saga', buildId, behavior: 'PINNED' });

const workflowsPath = require.resolve('./next-version');
/** Beside this version's bundle, of the same sources; made once. */
const next = join(
  dirname(bundleOf()),
  `next-${createHash('sha256').update(readFileSync(workflowsPath)).digest('hex')}.js`,
);
let rig: Rig;

beforeAll(async () => {
  if (!existsSync(next)) {
    writeFileSync(`${next}.part`, await bundleWorkflows({ workflowsPath }));
    renameSync(`${next}.part`, next);
  }
  // Runs of the next version do not replay on this one.
  const replays = ({ workflowId }: { workflowId: string }) => !onNext.has(workflowId);
  rig = await Rig.start({ worker: false, replays, provider: { totalTimeoutMs: 40_000 } });
});
afterAll(() => rig.close());

const onNext = new Set<string>();

async function buildOf(saga: SagaHandle): Promise<string | undefined> {
  const { raw } = await saga.describe();
  return raw.workflowExecutionInfo?.versioningInfo?.deploymentVersion?.buildId ?? undefined;
}

it('loses no saga, and lets each end on the version that it began on', async () => {
  const old = await rig.startWorker({ version: version('1') });
  await rig.makeCurrent('order-saga', '1');

  // One waits for a person, as it may for weeks; one holds still in the middle of its order while the next version
  // becomes current, which is to take less time than a call.
  const [ordering, waiting, later] = [provisionRequest(), provisionRequest(), provisionRequest()];
  const { faults } = rig.sandbox;
  faults.add({ endpoint: 'place-order', kind: 'unauthorized', match: { label: waiting.label } });
  const first = await rig.sagas.provision(waiting);
  await untilWaiting(first, 'stuck');
  const fresh = await rig.startWorker({ version: version('2') }, next);
  const gate = faults.add({ endpoint: 'place-order', kind: 'gate', hold: 'after', match: { label: ordering.label } });
  const second = await rig.sagas.provision(ordering);
  await rig.sandbox.whenStruck(gate);
  await rig.makeCurrent('order-saga', '2');
  faults.release(gate);

  const third = await rig.sagas.provision(later);
  onNext.add(third.workflowId);
  await third.result();
  expect(await buildOf(third)).toBe('2');

  await answer(first, 'retry', { by: 'op' });
  await Promise.all([first.result(), second.result()]);
  expect([await buildOf(first), await buildOf(second)]).toEqual(['1', '1']);
  for (const { label } of [ordering, waiting, later]) {
    expect(ordersWithLabel(rig.sandbox.ledger, label)).toHaveLength(1);
  }

  await old.stop();
  await fresh.stop();
});
