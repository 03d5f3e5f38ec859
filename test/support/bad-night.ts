/** Many sagas that wait for a person at once, as after a bad night of the provider. */
import type { SagaHandle } from '../../src/client/handle';
import type { WaitKind } from '../../src/domain/progress';
import { changeRequest } from './requests';
import { until, type Rig } from './rig';

/**
 * So many changes of subscriptions that stand stuck: the provider refuses our credentials. They are listed.
 *
 * @returns in the order in which they began to wait
 */
export async function stuckSagas(rig: Rig, count: number, account = 'AB-1'): Promise<SagaHandle<'changeOrder'>[]> {
  const sagas: SagaHandle<'changeOrder'>[] = [];
  for (let n = 0; n < count; n += 1) {
    const request = changeRequest({ account });
    const { subscription_id: subscriptionId } = request;
    rig.sandbox.faults.add({
      endpoint: 'place-change-order',
      match: { subscriptionId },
      kind: 'unauthorized',
      times: 'all',
    });
    sagas.push(await rig.sagas.change(request));
  }
  await untilListed(rig, sagas, 'stuck');
  return inOrderOfWaiting(sagas);
}

/** So many changes of which nobody knows whether they were placed; the first `placed` of them were. */
export async function doubtfulSagas(rig: Rig, count: number, placed: number): Promise<SagaHandle<'changeOrder'>[]> {
  const sagas: SagaHandle<'changeOrder'>[] = [];
  for (let n = 0; n < count; n += 1) {
    const request = changeRequest({ account: 'AB-1' });
    const { subscription_id: subscriptionId } = request;
    const kind = n < placed ? 'reset-after' : 'reset-before';
    rig.sandbox.faults.add({ endpoint: 'place-change-order', match: { subscriptionId }, kind });
    sagas.push(await rig.sagas.change(request));
  }
  await untilListed(rig, sagas, 'outcome-unknown');
  return sagas;
}

/** Until the list shows all of them: a change takes a moment to show. */
async function untilListed(rig: Rig, sagas: readonly SagaHandle[], state: WaitKind): Promise<void> {
  await until(async () => {
    const listed = new Set<string>();
    for await (const { workflowId } of rig.sagas.list({ state })) listed.add(workflowId);
    return sagas.every(({ workflowId }) => listed.has(workflowId));
  });
}

async function inOrderOfWaiting<H extends SagaHandle>(sagas: readonly H[]): Promise<H[]> {
  const since = new Map<H, string>();
  for (const saga of sagas) since.set(saga, (await saga.progress()).waiting?.since ?? '');
  const key = (saga: H) => `${since.get(saga)} ${saga.workflowId}`;
  return [...sagas].sort((a, b) => (key(a) < key(b) ? -1 : 1));
}
