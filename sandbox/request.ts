/** Reads a request: its body, and what it is about. */
import type { IncomingMessage } from 'node:http';
import type { Destination } from './endpoints';
import type { CallMatch } from './call-match';
import type { Call } from './ledger';

/** Larger bodies are refused. The document shows no limit, but a real server has one. */
export const bodyBytesMax = 2 * 1024 * 1024;

export interface ReceivedBody {
  text: string;
  /** Undefined where the text is not JSON. */
  json: { value: unknown } | undefined;
  tooLarge: boolean;
}

/** @returns undefined where the client closed the connection before the request was complete */
export async function readBody(request: IncomingMessage): Promise<ReceivedBody | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      size += chunk.length;
      // The rest is read and dropped, so that the client sees the answer and not a reset.
      if (size <= bodyBytesMax) chunks.push(chunk);
    }
  } catch {
    return undefined;
  }
  if (size > bodyBytesMax) return { text: '', json: undefined, tooLarge: true };
  const text = Buffer.concat(chunks).toString('utf8');
  return { text, json: parsed(text), tooLarge: false };
}

function parsed(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}

/** The accounts, subscriptions, servers, … that a call names, so that faults and waits can select by them. */
export function whatItNames(to: Destination, query: URLSearchParams, body: ReceivedBody): Call['names'] {
  const value = body.json?.value;
  const fields = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>;
  const pathId = 'pathId' in to ? to.pathId : null;
  const name = to.endpoint?.name;
  const inPath = (...endpoints: string[]) => (name !== undefined && endpoints.includes(name) ? [pathId] : []);
  const cartItems = fields['cartItems'];

  const all: Record<keyof CallMatch, unknown[]> = {
    account: [fields['account'], query.get('account')],
    label: [fields['label'], query.get('label')],
    planId: [fields['plan_id']],
    subscriptionId: [fields['subscription_id'], ...inPath('switch-plan')],
    vmObjectId: inPath('assign-firewalls', 'unassign-firewalls', 'list-firewalls'),
    cartItemId: [...(Array.isArray(cartItems) ? (cartItems as unknown[]) : []), ...inPath('delete-cart-item')],
  };
  const names: Record<string, (string | number)[]> = {};
  for (const [field, candidates] of Object.entries(all)) {
    const given = candidates.filter(
      (one): one is string | number => typeof one === 'string' || typeof one === 'number',
    );
    if (given.length > 0) names[field] = given;
  }
  return names;
}
