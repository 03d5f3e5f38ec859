/**
 * Ours is measured against these: the same provider calls as plain activities with the same timeouts, and nothing else.
 * No check, no progress, no decisions, no reports; a refused order is undone, because its calls are part of the work.
 */
import { proxyActivities } from '@temporalio/workflow';
import type { CartItemBody } from '../../src/provider/schemas';
import type { BareActivities } from './activities';

export interface BareRequest {
  account: string;
  label?: string;
  items: CartItemBody[];
  firewalls?: number[];
}

const { addCartItem, deleteCartItem, placeOrder, assignFirewalls, listFirewalls } = proxyActivities<BareActivities>({
  startToCloseTimeout: '30 seconds',
  retry: { maximumAttempts: 1 },
});

/** As it is written first. */
export function bareOneAfterAnother(request: BareRequest) {
  return provision(request, async (inputs, act) => {
    const results = [];
    for (const input of inputs) results.push(await act(input));
    return results;
  });
}

/** As ours: what does not depend on each other runs side by side. */
export function bareSideBySide(request: BareRequest) {
  return provision(request, (inputs, act) => Promise.all(inputs.map(act)));
}

type Each = <I, O>(inputs: readonly I[], act: (input: I) => Promise<O>) => Promise<O[]>;

async function provision({ account, label, items, firewalls = [] }: BareRequest, each: Each) {
  const added = await each(items, (item) => addCartItem(item));
  const cartItems = added.map(({ cartItemId }) => cartItemId);
  const order = await placeOrder({ account, label, cartItems }).catch(async (error: unknown) => {
    await each(cartItems, (id) => deleteCartItem(id));
    throw error;
  });
  const { vm_object_ids: vmObjectIds } = order as { vm_object_ids: number[] };
  if (firewalls.length > 0) {
    await each(vmObjectIds, (id) => assignFirewalls(id, firewalls));
    await each(vmObjectIds, (id) => listFirewalls(id));
  }
  return { cartItems, order };
}
