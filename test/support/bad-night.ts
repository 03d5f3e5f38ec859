/** Many sagas that wait for a person at once, as after a bad night of the provider. */
import type { FaultSpec } from '../../sandbox/faults';
import type { SagaHandle } from '../../src/client/handle';
import type { WaitKind } from '../../src/domain/progress';
import { changeRequest } from './requests';
import { until, type Rig } from './rig';
import { idsListed } from './listed';

type Fault = Pick<FaultSpec, 'kind' | 'times'>;

/** Changes of subscriptions, one for each fault, which strikes its order. They are listed as in that state. */
async function struckSagas(rig: Rig, state: WaitKind, faults: Fault[], account: string) {
  const sagas: SagaHandle<'changeOrder'>[] = [];
  for (const fault of faults) {
    const request = changeRequest({ account });
    const match = { subscriptionId: request.subscription_id };
    rig.sandbox.faults.add({ endpoint: 'place-change-order', match, ...fault });
    sagas.push(await rig.sagas.change(request));
  }
  await untilListed(rig, sagas, state);
  return sagas;
}

/** Stuck, since the provider refuses our credentials. @returns in the order in which they began to wait */
export async function stuckSagas(rig: Rig, count: number, account = 'AB-1'): Promise<SagaHandle<'changeOrder'>[]> {
  const faults = Array<Fault>(count).fill({ kind: 'unauthorized', times: 'all' });
  return inOrderOfWaiting(await struckSagas(rig, 'stuck', faults, account));
}

/** Nobody knows whether they were placed; the first `placed` of them were. */
export function doubtfulSagas(rig: Rig, count: number, placed: number): Promise<SagaHandle<'changeOrder'>[]> {
  const faults = Array.from({ length: count }, (_, n): Fault => ({
    kind: n < placed ? 'reset-after' : 'reset-before',
  }));
  return struckSagas(rig, 'outcome-unknown', faults, 'AB-1');
}

/** Until the list shows all of them: a change takes a moment to show. */
export async function untilListed(rig: Rig, sagas: readonly SagaHandle[], state: WaitKind): Promise<void> {
  await until(async () => {
    const listed = await idsListed(rig.sagas, { state });
    return sagas.every(({ workflowId }) => listed.includes(workflowId));
  });
}

async function inOrderOfWaiting<H extends SagaHandle>(sagas: readonly H[]): Promise<H[]> {
  const since = new Map<H, string>();
  for (const saga of sagas) since.set(saga, (await saga.progress()).waiting?.since ?? '');
  const key = (saga: H) => `${since.get(saga)} ${saga.workflowId}`;
  return [...sagas].sort((a, b) => (key(a) < key(b) ? -1 : 1));
}
