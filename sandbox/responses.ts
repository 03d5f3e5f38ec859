/**
 * Answers. The document shows the body of row 2 and the quotes of rows 5–7. All other success bodies and all errors are
 * "not shown": their shape is a setting here, and the service must not rely on it.
 */
import type { ChangeOrderPlaced, OrderPlaced } from './ledger';
import type { Settings } from './settings';

export interface Answer {
  status: number;
  /** Undefined: no body. */
  body?: unknown;
  headers?: Record<string, string>;
}

export function refusal(status: number, message: string, errors: string[] = []): Answer {
  return { status, body: { code: status, message, errors } };
}

/** Row 2, as the document shows it: key `0` and key `data`. */
export function cartItemAnswer(cartItemId: number): Answer {
  return { status: 200, body: { '0': cartItemId, data: { message: 'The item was added to the cart', code: 200 } } };
}

export function plainAnswer(shape: Settings['plainResponse']): Answer {
  switch (shape) {
    case 'none':
      return { status: 204 };
    case 'empty':
      return { status: 200, body: {} };
    case 'opaque':
      return { status: 200, body: { status: 'accepted' } };
  }
}

/** Row 1. */
export function orderAnswer(shape: Settings['orderResponse'], order: OrderPlaced): Answer {
  if (typeof shape === 'function') return { status: 200, body: shape(order) };
  if (shape === 'ids') {
    return { status: 200, body: { order_id: order.orderId, vm_object_ids: order.vmObjectIds } };
  }
  if (shape === 'servers') {
    const servers = order.vmObjectIds.map((id) => ({ id }));
    return { status: 200, body: { data: { code: 200, order: { id: order.orderId, servers } } } };
  }
  return plainAnswer(shape);
}

/** Row 4. */
export function changeOrderAnswer(shape: Settings['changeOrderResponse'], change: ChangeOrderPlaced): Answer {
  return shape === 'ids' ? { status: 200, body: { change_order_id: change.changeOrderId } } : plainAnswer(shape);
}

/** Row 10. */
export function firewallListAnswer(shape: Settings['firewallListResponse'], ids: number[]): Answer {
  if (typeof shape === 'function') return { status: 200, body: shape(ids) };
  const objects = ids.map((id) => ({ id, name: `firewall-${id}` }));
  const bodies = {
    ids,
    objects,
    firewalls: { firewalls: objects },
    'firewall-ids': { firewalls: ids },
    data: { data: objects },
    'data-ids': { data: ids },
    opaque: { status: 'ok' },
  };
  return { status: 200, body: bodies[shape] };
}
