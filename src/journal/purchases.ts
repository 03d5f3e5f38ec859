/**
 * Concerns about a purchase, over all references: the same was bought just now, or the account's limit is reached. They
 * are checked in the transaction that means the pivot, under locks on the account and on what is bought, so that of two
 * concurrent purchases the second one sees the first.
 *
 * ```text
 *   lock the account, lock what is bought ── look ──nothing, or a person has agreed──▶ mean the pivot, with its purchase beside it
 *                                              └──▶ asks
 * ```
 *
 * Purchases that are meant, done or unknown count. Those that were surely refused or not placed do not, and neither do
 * those that the provider has cancelled.
 */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { definedOnly } from '../domain/defined-only';
import type { PriceList } from '../domain/prices';
import { inAll, isAgreedTo, isCurrency, limitsOf, type Concern, type SpendLimit } from '../domain/spending';
import { lockName, nowMs } from './dialects';
import { iso, mayHaveTakenEffect, ofSaga, timeNow, type SagaKey, type Tx } from './rows';
import type { PurchaseTable } from './schema';

/** The operator's settings, and what a person has agreed to. */
export interface PurchaseRules {
  /** The setting `PLAN_TYPES_MORE`. An item that may be a server counts as one. */
  planTypesMore: readonly string[];
  /** 0: nobody is asked about likely duplicates. */
  duplicateWithinMs: number;
  spendLimits: readonly SpendLimit[];
  /** The setting `PRICE_LIST_FILE`. */
  priceList?: PriceList | undefined;
  approved?: readonly Concern[] | undefined;
}

/** A purchase, as it is written with its pivot. */
export interface Bought extends Omit<PurchaseTable, 'effect' | 'same' | 'meant_ms'> {
  /** Keyed digests of what is bought: the first by the key that encrypts, the others by older keys. */
  digests: readonly string[];
  /** Why an order has no estimate, where there is a price list. */
  unpriced?: string | undefined;
}

/** A question names at most so many references. */
const othersNamedMax = 5;

/** @returns the first concern that nobody has agreed to yet */
export async function concernAbout(
  tx: Tx,
  key: SagaKey,
  bought: Bought,
  { duplicateWithinMs, spendLimits, approved = [] }: PurchaseRules,
): Promise<Concern | undefined> {
  const { account, digests } = bought;
  if (duplicateWithinMs === 0 && spendLimits.length === 0) return undefined;
  const limits = limitsOf(account ?? undefined, spendLimits).filter((limit) => mayAdd(bought, limit));
  // Always in this order, so that no two transactions wait for each other.
  if (account !== null && limits.length > 0) await lockName(tx, `account ${account}`);
  if (duplicateWithinMs > 0) for (const digest of [...digests].sort()) await lockName(tx, `purchase ${digest}`);

  // The time is a number, so that the index is used. It is read after the locks, so that their last holder's purchase
  // is in the past.
  const now = await timeNow(tx);
  const concerns = [
    ...(duplicateWithinMs > 0 ? await duplicates(tx, key, bought, { now, withinMs: duplicateWithinMs }) : []),
    ...(account === null ? ofNoAccount(bought, spendLimits) : await overLimits(tx, account, bought, { now, limits })),
  ];
  return concerns.find((concern) => !isAgreedTo(concern, approved));
}

export async function insertPurchase(tx: Tx, effect: string, purchase: Bought): Promise<void> {
  const { digests, unpriced: _, ...bought } = purchase;
  await tx
    .insertInto('purchase')
    .values({ effect, ...bought, same: digests[0] ?? '', meant_ms: nowMs(tx) })
    .execute();
}

async function duplicates(
  tx: Tx,
  key: SagaKey,
  { digests, currency, total }: Bought,
  { now, withinMs }: { now: number; withinMs: number },
): Promise<Concern[]> {
  const rows = await live(tx, now - withinMs)
    .select(['effect.id', 'effect.workflow', 'effect.reference', 'purchase.meant_ms'])
    .where('purchase.same', 'in', [...digests])
    .where(sql<boolean>`not ${ofSaga(key)}`)
    // An order without a currency has its account's; the currency of a quote is the provider's.
    .$if(currency !== null && total === null, (query) =>
      query.where((where) =>
        where.or([where('purchase.currency', 'is', null), where('purchase.currency', '=', currency)]),
      ),
    )
    .orderBy('purchase.meant_ms', 'desc')
    .limit(othersNamedMax + 1)
    .execute();
  if (rows.length === 0) return [];
  const others = rows.slice(0, othersNamedMax).map(({ id, meant_ms, ...other }) => {
    return { row: id, ...other, at: iso(meant_ms) };
  });
  return [{ id: randomUUID(), kind: 'duplicate', others, more: rows.length > othersNamedMax, withinMs }];
}

async function overLimits(
  tx: Tx,
  account: string,
  bought: Bought,
  { now, limits }: { now: number; limits: readonly SpendLimit[] },
): Promise<Concern[]> {
  const concerns: Concern[] = [];
  for (const { most, unit, withinMs } of limits) {
    const amount = isCurrency(unit)
      ? sql<number>`coalesce(purchase.total, purchase.estimate)`
      : sql.ref<number>(`purchase.${unit}`);
    const { spent } = await live(tx, now - withinMs)
      .select(sql<number>`coalesce(sum(${amount}), 0)`.as('spent'))
      .where('purchase.account', '=', account)
      // A credit does not raise the limit.
      .where(amount, '>', 0)
      .$if(isCurrency(unit), (query) => query.where(sql`coalesce(purchase.estimated_in, purchase.currency)`, '=', unit))
      .executeTakeFirstOrThrow();
    const adds = added(bought, { unit });
    const unpriced = isCurrency(unit) ? bought.unpriced : undefined;
    if (unpriced === undefined && inAll({ spent, adds }) <= most) continue;
    const concern = { id: randomUUID(), kind: 'over-limit', account, most, unit, withinMs, spent, adds } as const;
    concerns.push({ ...concern, ...definedOnly({ unpriced }) });
  }
  return concerns;
}

/** The account is not known: any limit for this unit may apply. */
function ofNoAccount(bought: Bought, limits: readonly SpendLimit[]): Concern[] {
  const limit = limits.find((one) => mayAdd(bought, one));
  if (limit === undefined) return [];
  const { most, unit, withinMs } = limit;
  return [{ id: randomUUID(), kind: 'over-limit', most, unit, withinMs, spent: 0, adds: added(bought, limit) }];
}

/** How much this purchase adds to what the limit counts. */
function added(
  { servers, items, total, currency, estimate, estimated_in }: Bought,
  { unit }: Pick<SpendLimit, 'unit'>,
): number {
  if (unit === 'servers') return servers ?? 0;
  if (unit === 'items') return items ?? 0;
  if (unit === estimated_in) return estimate ?? 0;
  return unit === currency ? Math.max(0, total ?? 0) : 0;
}

function mayAdd(bought: Bought, { unit }: SpendLimit): boolean {
  return added(bought, { unit }) > 0 || (isCurrency(unit) && bought.unpriced !== undefined);
}

/** Later purchases that were placed, or may have been, and were not cancelled; also where only a late answer says so. */
function live(tx: Tx, sinceMs: number) {
  return tx
    .selectFrom('purchase')
    .innerJoin('effect', 'effect.id', 'purchase.effect')
    .where('purchase.meant_ms', '>', sinceMs)
    .where('effect.cancelled_ms', 'is', null)
    .where((where) => where.or([mayHaveTakenEffect, where('effect.late', 'is not', null)]));
}
