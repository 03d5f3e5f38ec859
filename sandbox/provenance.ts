/**
 * Remembers where ids come from: a call that names a cart item or a server does not name its plan or its label, but the
 * sandbox gave out the id. So a fault, or a question to the ledger, can be about all calls of one order, with the
 * deletions and the firewalls of its servers.
 */
import type { Call, LedgerEntry } from './ledger';

interface Origin {
  planId?: number | undefined;
  account?: string | undefined;
  label?: string | undefined;
}

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
