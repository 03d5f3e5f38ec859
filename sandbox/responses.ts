/**
 * Answers. The document shows the body of row 2 and the quotes of rows 5–7. All other success bodies and all errors are
 * "not shown": their shape is made up here, some by a setting, and the service must not rely on it.
 */
import type { z } from 'zod';
import type { OrderPlaced } from './ledger';
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

/** Thrown where a call is refused: it has no effect. */
export class Refused extends Error {
  constructor(readonly answer: Answer) {
    super('refused');
  }
}

export function refuse(status: number, message: string, errors?: string[]): never {
  throw new Refused(refusal(status, message, errors));
}

/** @returns what a row's schema makes of a body. @throws Refused */
export function checked<T>(schema: z.ZodType<T>, body: unknown): T {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const errors = parsed.error.issues.map(({ path, message }) => `${path.join('.') || 'body'}: ${message}`);
  refuse(422, 'The request is not valid', errors);
}

/** Row 2, as the document shows it: key `0` and key `data`. */
export function cartItemAnswer(cartItemId: number): Answer {
  return { status: 200, body: { '0': cartItemId, data: { message: 'The item was added to the cart', code: 200 } } };
}

/** The answer of a row for which the document shows none. */
export const accepted = { status: 'accepted' };
export const plainAnswer: Answer = { status: 200, body: accepted };

/** Row 1. */
export function orderAnswer(shape: Settings['orderResponse'], order: OrderPlaced): Answer {
  if (shape === 'opaque') return plainAnswer;
  const { orderId, vmObjectIds } = order;
  const named = shape === 'ids' ? { order_id: orderId, vm_object_ids: vmObjectIds } : shape(order);
  return { status: 200, body: { ...accepted, ...named } };
}

/** Row 10. */
export function firewallListAnswer(shape: Settings['firewallListResponse'], ids: number[]): Answer {
  if (shape === 'opaque') return { status: 200, body: { status: 'ok' } };
  const listed = shape === 'objects' ? ids : shape(ids);
  const active = (one: unknown) => (typeof one === 'number' ? { id: one, status: 'active' } : one);
  return { status: 200, body: Array.isArray(listed) ? listed.map(active) : listed };
}

/** Row 10: the first half of a longer list, in one of the forms that interfaces give it. */
export function firewallPageAnswer(ids: number[], form: number): Answer {
  const shown = ids.slice(0, Math.ceil(ids.length / 2));
  const data = shown.map((id) => ({ id, status: 'active' }));
  const total = ids.length;
  const ofHttp: Answer[] = [
    { status: 200, headers: { link: '</firewalls?page=2>; rel="next"' } },
    { status: 206, headers: { 'content-range': `items 0-${shown.length - 1}/${total}` } },
  ];
  const forms = [
    { data, meta: { pagination: { page: 1, per_page: shown.length, next_page: 2, total_entries: total } } },
    { data, links: { first: '?page=1', next: '?page=2' } },
    { firewalls: data, total, per_page: shown.length, page: 1 },
    { data, result_info: { page: 1, total_count: total } },
    { firewalls: data, partial: true },
    { data, meta: { current_page: 1, last_page: 2, total } },
    { firewalls: data, next: '?offset=1' },
  ];
  const nth = form % (forms.length + ofHttp.length);
  const { status, headers } = ofHttp[nth - forms.length] ?? { status: 200 };
  return { status, body: forms[nth] ?? data, ...(headers ? { headers } : {}) };
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
  );
  return JSON.parse(texts) as unknown;
}
