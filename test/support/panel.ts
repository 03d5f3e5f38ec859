/** The provider's control panel, in which a person does by hand what our calls could not do. */
import type { Sandbox } from '../../sandbox/server';

export function panelOf(sandbox: Pick<Sandbox, 'byHand'>) {
  const change = (verb: string, vmObjectId: number, firewalls: readonly number[]) => {
    const body = { firewalls: firewalls.map((id) => ({ id })) };
    sandbox.byHand('POST', `/firewalls/${verb}/object/${vmObjectId}`, body);
  };
  return {
    assign: (vmObjectId: number, firewalls: readonly number[]) => change('assign', vmObjectId, firewalls),
    unassign: (vmObjectId: number, firewalls: readonly number[]) => change('unassign', vmObjectId, firewalls),
    deleteCartItem: (cartItemId: number) => sandbox.byHand('DELETE', `/order/cartItems/delete/${cartItemId}`),
  };
}
