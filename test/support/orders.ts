/** Orders that meet trouble, each at calls of its own; and requests about servers that are there already. */
import type { FaultSpec } from '../../sandbox/faults';
import { firewallsRequest, planIdOf, provisionRequest } from './requests';
import type { Rig } from './rig';
import { untilWaiting } from './sagas';

/** The calls that name its items meet these faults. */
export async function orderThat(
  rig: Pick<Rig, 'sandbox' | 'sagas'>,
  faults: Omit<FaultSpec, 'match'> | Omit<FaultSpec, 'match'>[],
  changes: Parameters<typeof provisionRequest>[0] = {},
) {
  const request = provisionRequest(changes);
  const match = { planId: planIdOf(request.reference) };
  for (const fault of [faults].flat()) rig.sandbox.faults.add({ ...fault, match });
  return { request, saga: await rig.sagas.provision(request) };
}

/** Our credentials are refused once, and it waits. */
export async function stuckOrder(
  rig: Pick<Rig, 'sandbox' | 'sagas'>,
  changes: Parameters<typeof provisionRequest>[0] = {},
  endpoint: FaultSpec['endpoint'] = 'place-order',
) {
  const { request, saga } = await orderThat(rig, { endpoint, kind: 'unauthorized' }, changes);
  return { request, saga, waiting: await untilWaiting(saga, 'stuck') };
}

/** About a server that has these firewalls. */
export function requestAtServer({ sandbox }: Pick<Rig, 'sandbox'>, firewalls: number[], changes: object = {}) {
  const request = firewallsRequest({ assign: undefined, ...changes });
  sandbox.addServer({ vmObjectId: request.vmObjectId, firewalls });
  return request;
}
