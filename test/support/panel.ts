/** The provider's control panel, in which a person does by hand what our calls could not do. */
import type { Sandbox } from '../../sandbox/server';

/** @param sandbox with no fault left that would strike the person as well */
export function panelOf({ url }: Pick<Sandbox, 'url'>) {
  const send = async (method: string, path: string, body?: unknown): Promise<void> => {
    const init =
      body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
    const response = await fetch(`${url}${path}`, { method, ...init });
    if (!response.ok) throw new Error(`the panel shows ${String(response.status)}: ${await response.text()}`);
  };
  const change = (verb: string, vmObjectId: number, firewalls: readonly number[]) =>
    send('POST', `/firewalls/${verb}/object/${String(vmObjectId)}`, { firewalls: firewalls.map((id) => ({ id })) });
  return {
    assign: (vmObjectId: number, firewalls: readonly number[]) => change('assign', vmObjectId, firewalls),
    unassign: (vmObjectId: number, firewalls: readonly number[]) => change('unassign', vmObjectId, firewalls),
    deleteCartItem: (cartItemId: number) => send('DELETE', `/order/cartItems/delete/${String(cartItemId)}`),
  };
}
