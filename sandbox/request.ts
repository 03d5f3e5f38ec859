/** A request is about what it names, and what is known of the ids in it. */
import type { CallMatch } from './call-match';
import type { Destination } from './endpoints';
import type { Call, LedgerEntry } from './ledger';

/** @returns what it says as JSON; else the text; null for nothing */
export function bodyIn(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text === '' ? null : text;
  }
}

/** The accounts, subscriptions, servers, … that a call names, so that faults and waits can select by them. */
export function whatItNames(to: Destination | undefined, query: URLSearchParams, body: unknown): Call['names'] {
  const fields = (body ?? {}) as Record<string, unknown>;
  const inPath = (...endpoints: string[]) => (to && endpoints.includes(to.name) ? [to.pathId] : []);

  const all: Record<keyof CallMatch, unknown[]> = {
    account: [fields['account'], query.get('account')],
    label: [fields['label'], query.get('label')],
    planId: [fields['plan_id']],
    subscriptionId: [fields['subscription_id'], ...inPath('switch-plan')],
    vmObjectId: inPath('assign-firewalls', 'unassign-firewalls', 'list-firewalls'),
    cartItemId: [fields['cartItems'], ...inPath('delete-cart-item')].flat(),
  };
  const names: Record<string, (string | number)[]> = {};
  for (const [field, candidates] of Object.entries(all)) {
    const given = candidates.filter((one) => typeof one === 'string' || typeof one === 'number');
    if (given.length > 0) names[field] = given;
  }
  return names;
}

interface Origin {
  planId?: number | undefined;
  account?: string | undefined;
  label?: string | undefined;
}

/**
 * Remembers where ids come from: a call that names a cart item or a server does not name its plan or its label, but the
 * sandbox gave out the id. So a fault, or a question to the ledger, can be about all calls of one order, with the
 * deletions and the firewalls of its servers.
 */
export class Provenance {
  private readonly items = new Map<number, Origin>();
  private readonly servers = new Map<number, Origin>();

  learn(entry: LedgerEntry): void {
    if (entry.type === 'cartItemAdded') this.items.set(entry.cartItemId, { planId: entry.item.plan_id });
    if (entry.type !== 'orderPlaced') return;
    const { account, label, items, vmObjectIds } = entry;
    const origin = { planId: items[0]?.plan_id, account, label: label ?? undefined };
    for (const id of vmObjectIds) this.servers.set(id, origin);
  }

  /** @returns what a call is about, with what is known of the ids that it names */
  of(names: Call['names']): Call['names'] {
    const origins = [
      ...(names.cartItemId ?? []).map((id) => this.items.get(Number(id))),
      ...(names.vmObjectId ?? []).map((id) => this.servers.get(Number(id))),
    ];
    const known: Call['names'] = { ...names };
    for (const field of ['planId', 'account', 'label'] as const) {
      const traced = origins.flatMap((origin) => origin?.[field] ?? []);
      if (traced.length > 0) known[field] = [...new Set([...(names[field] ?? []), ...traced])];
    }
    return known;
  }
}
