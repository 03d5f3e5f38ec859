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
  if (shape === 'pending') return { status: 202, body: { order_id: order.orderId, status: 'pending_payment' } };
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

/** Row 10: the first half of a longer list, in one of the forms that interfaces give it. */
export function firewallPageAnswer(ids: number[], form: number): Answer {
  const shown = ids.slice(0, Math.ceil(ids.length / 2));
  const data = shown.map((id) => ({ id }));
  const total = ids.length;
  const forms = [
    { data, meta: { pagination: { page: 1, per_page: shown.length, next_page: 2, total_entries: total } } },
    { data, links: { first: '?page=1', next: '?page=2' } },
    { firewalls: shown, total, per_page: shown.length, page: 1 },
    { data, meta: { current_page: 1, last_page: 2, total } },
    { firewalls: data, next: '?offset=1' },
  ];
  return { status: 200, body: forms[form % forms.length] };
}

/** Row 10, while some of the firewalls are on their way. */
export function pendingFirewallsAnswer(ids: number[], pending: readonly number[]): Answer {
  return { status: 200, body: ids.map((id) => ({ id, status: pending.includes(id) ? 'pending' : 'active' })) };
}

/** Statuses of a refusal that say nothing of whether the call took effect. */
export const unsureStatuses = [409, 423, 425, 499] as const;

/** Bodies of a success that say no. */
export const noes: readonly unknown[] = [
  { success: false, error: 'Insufficient account balance' },
  { result: 'error', message: 'Payment method declined' },
  { status: 'error', data: { message: 'Subscription is suspended' } },
  { data: { message: 'Not created', code: '400' } },
  { code: 400, message: 'Not created' },
  { data: { success: 0, message: 'Not created' } },
  { errors: [{ message: 'Not created' }] },
  false,
];

/** All numbers as texts, amounts with two decimals: encoders of some languages write them so. */
export function inTexts(body: unknown): unknown {
  const texts = JSON.stringify(body, (name, value: unknown) =>
    typeof value !== 'number' ? value : name === 'total' ? value.toFixed(2) : String(value),
  ) as string | undefined;
  return texts === undefined ? undefined : (JSON.parse(texts) as unknown);
}
