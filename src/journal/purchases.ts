/**
 * What stands against a purchase over all references: the same was bought just now, or an account has spent enough. It is looked at
 * in the transaction that means the pivot, under a lock that all who could be counted together wait for: of two at once the second one
 * sees the first.
 *
 * ```text
 *   lock the account, lock what is bought ── look ──nothing, or a person has agreed──▶ mean the pivot, with its purchase beside it
 *                                              └──▶ asks
 * ```
 *
 * What is meant, done or unknown counts. What was surely refused, or not placed, does not.
 */
import { randomUUID } from 'node:crypto';
import { sql, type Transaction } from 'kysely';
import type { WorkflowName } from '../domain/identity';
import { inAll, isAgreedTo, isCurrency, limitsOf, type Concern, type SpendLimit } from '../domain/spending';
import { lockName, nowMs } from './dialects';
import type { JournalTables } from './schema';

type Tx = Transaction<JournalTables>;

interface Key {
  workflow: WorkflowName;
  reference: string;
}

/** What an operator has set, and what a person has agreed to. */
export interface PurchaseRules {
  /** As the setting has them: what may be a server counts as one. */
  planTypesMore: readonly string[];
  /** 0: nobody is asked about the same under another reference. */
  duplicateWithinMs: number;
  spendLimits: readonly SpendLimit[];
  approved?: readonly Concern[] | undefined;
}

/** A purchase as it is written beside its pivot. */
export interface Bought {
  account: string | null;
  /** What is bought, by a keyed digest: the first is of the key that encrypts, each of the others of an older one. */
  digests: readonly string[];
  servers: number | null;
  items: number | null;
  /** Of a quote. */
  total: number | null;
  currency: string | null;
}

/** References that a question names. */
const othersToldMax = 5;

/** @returns the first concern that nobody has agreed to yet */
export async function concernAbout(
  tx: Tx,
  key: Key,
  bought: Bought,
  { duplicateWithinMs, spendLimits, approved = [] }: PurchaseRules,
): Promise<Concern | undefined> {
  const { account, digests } = bought;
  const limits = limitsOf(account ?? undefined, spendLimits).filter((limit) => added(bought, limit) > 0);
  // Always in this order, so that no two wait for each other.
  if (account !== null && limits.length > 0) await lockName(tx, `account ${account}`);
  if (duplicateWithinMs > 0) for (const digest of [...digests].sort()) await lockName(tx, `purchase ${digest}`);

  // As a number: by the clock itself no index can be searched. After the locks: whoever had them is before it.
  const { now } = await tx.selectNoFrom(nowMs(tx).as('now')).executeTakeFirstOrThrow();
  const concerns = [
    ...(duplicateWithinMs > 0 ? await duplicates(tx, key, bought, { now, withinMs: duplicateWithinMs }) : []),
    ...(account === null ? ofNoAccount(bought, spendLimits) : await overLimits(tx, account, bought, { now, limits })),
  ];
  return concerns.find((concern) => !isAgreedTo(concern, approved));
}

export async function insertPurchase(tx: Tx, effect: string, { digests, ...bought }: Bought): Promise<void> {
  await tx
    .insertInto('purchase')
    .values({ effect, ...bought, same: digests[0] ?? '', meant_ms: nowMs(tx) })
    .execute();
}

async function duplicates(
  tx: Tx,
  { workflow, reference }: Key,
  { digests, currency, total }: Bought,
  { now, withinMs }: { now: number; withinMs: number },
): Promise<Concern[]> {
  const rows = await live(tx, now - withinMs)
    .select(['effect.id', 'effect.workflow', 'effect.reference', 'purchase.meant_ms'])
    .where('purchase.same', 'in', [...digests])
    .where((where) => where.or([where('effect.workflow', '!=', workflow), where('effect.reference', '!=', reference)]))
    // The currency of an order may be left out, and is the account's then; that of a quote is the provider's.
    .$if(currency !== null && total === null, (query) =>
      query.where((where) =>
        where.or([where('purchase.currency', 'is', null), where('purchase.currency', '=', currency)]),
      ),
    )
    .orderBy('purchase.meant_ms', 'desc')
    .limit(othersToldMax + 1)
    .execute();
  if (rows.length === 0) return [];
  const others = rows.slice(0, othersToldMax).map(({ id, meant_ms, ...other }) => {
    return { row: id, ...other, at: new Date(meant_ms).toISOString() };
  });
  return [{ id: randomUUID(), kind: 'duplicate', others, more: rows.length > othersToldMax, withinMs }];
}

async function overLimits(
  tx: Tx,
  account: string,
  bought: Bought,
  { now, limits }: { now: number; limits: readonly SpendLimit[] },
): Promise<Concern[]> {
  const concerns: Concern[] = [];
  for (const { most, unit, withinMs } of limits) {
    const amount = isCurrency(unit) ? 'total' : (unit as 'servers' | 'items');
    const { spent } = await live(tx, now - withinMs)
      .select(sql<number>`coalesce(sum(${sql.ref(`purchase.${amount}`)}), 0)`.as('spent'))
      .where('purchase.account', '=', account)
      // A credit allows no more.
      .where(`purchase.${amount}`, '>', 0)
      .$if(isCurrency(unit), (query) => query.where('purchase.currency', '=', unit))
      .executeTakeFirstOrThrow();
    const adds = added(bought, { unit });
    if (inAll({ spent, adds }) <= most) continue;
    concerns.push({ id: randomUUID(), kind: 'over-limit', account, most, unit, withinMs, spent, adds });
  }
  return concerns;
}

/** Nobody knows whose it is: it may be anybody's who has a limit in this currency. */
function ofNoAccount(bought: Bought, limits: readonly SpendLimit[]): Concern[] {
  const limit = limits.find(({ unit }) => added(bought, { unit }) > 0);
  if (limit === undefined) return [];
  const { most, unit, withinMs } = limit;
  return [{ id: randomUUID(), kind: 'over-limit', most, unit, withinMs, spent: 0, adds: added(bought, limit) }];
}

/** By what is to be meant now; 0 where the limit does not count it. */
function added({ servers, items, total, currency }: Bought, { unit }: Pick<SpendLimit, 'unit'>): number {
  if (unit === 'servers') return servers ?? 0;
  if (unit === 'items') return items ?? 0;
  return unit === currency ? Math.max(0, total ?? 0) : 0;
}

/** Purchases since then that were placed, or may have been. */
function live(tx: Tx, sinceMs: number) {
  return tx
    .selectFrom('purchase')
    .innerJoin('effect', 'effect.id', 'purchase.effect')
    .where('purchase.meant_ms', '>', sinceMs)
    .where((where) =>
      where.or([where('effect.outcome', 'is', null), where('effect.outcome', 'in', ['done', 'unknown'])]),
    );
}
