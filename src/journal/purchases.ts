/**
 * Purchases over all references: concerns about one before it is made, and a list for people who ask who bought what,
 * when, and for how much.
 *
 * Concerns are that the same was bought just now, or that the account's limit is reached. They are checked in the
 * transaction that intends the pivot, under locks on the account and on what is bought, so that of two concurrent
 * purchases the second one sees the first.
 *
 * ```text
 *   lock the account, lock what is bought ── look ──nothing, or a person has agreed──▶ intend the pivot, with its purchase beside it
 *                                              └──▶ asks
 * ```
 *
 * Purchases that are intended, done or unknown count. Those that were surely refused or not placed do not, and neither do
 * those that the provider has cancelled.
 */
import { randomUUID } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import type { PivotNote } from '../domain/effects';
import { accountName, type WorkflowName } from '../domain/identity';
import type { PriceList } from '../domain/prices';
import type { Profile } from '../domain/profile';
import type { RecordedEnding } from '../domain/record';
import type { Metadata } from '../domain/requests';
import { type factsOf, mayBeSent } from '../domain/may-be-sent';
import {
  type ReviewReason,
  type Fate,
  inAll,
  isAgreedTo,
  isCurrency,
  limitsOf,
  type NotNow,
  type OfOthers,
  type OverLimit,
  type Purchase,
  type SpendLimit,
} from '../domain/spending';
import type { Approval } from './approvals';
import { lockName } from './database/dialects';
import {
  type Effect,
  iso,
  mayHaveTakenEffect,
  ofSaga,
  present,
  type Reference,
  type SagaKey,
  timeNow,
  type Tx,
} from './rows';
import type { PurchaseTable } from './database/schema';
import { orderIdOf } from './namesakes';
import { isOfOrder, unnamed } from './servers';
import type { Store } from './store';

/** The operator's settings, and until when it may be sent. */
export interface PurchaseRules {
  /** An item that may be a server counts as one. */
  profile?: Pick<Profile, 'planTypes'> | undefined;
  /** A person is asked where the same was bought under another reference within this time. 0: nobody is. */
  duplicateWithinMs: number;
  /** A person is asked about a purchase that would exceed one of them. */
  spendLimits: readonly SpendLimit[];
  /** For orders, which the provider does not quote: the setting `PRICE_LIST_FILE`. */
  priceList?: PriceList | undefined;
  /** Servers that are bought without firewalls: `ask` has a person approve them. */
  requireFirewalls?: 'off' | 'ask' | 'refuse' | undefined;
  notAfter?: string | undefined;
  quoteUntil?: string | undefined;
}

/** A purchase, as it is held against others, and written with its pivot. */
export interface Buying extends Omit<Purchase, 'what' | 'currency'> {
  /** The quote's. */
  total: number | undefined;
  /** The quote's or the order's, in lower case. */
  currency: string | undefined;
  /** Keyed digests of what is bought: the first by the key that encrypts, the others by older keys. */
  digests: readonly string[];
  /** Why an order has no estimate, where there is a price list. */
  unpriced?: string | undefined;
  facts: ReturnType<typeof factsOf>;
  /** Keyed digests of what a person agrees to beside the price, as `digests`. */
  agreed: readonly string[];
}

/** A question names at most so many references. */
const othersNamedMax = 5;

/** Other purchases may speak against one. */
export const isLimited = (rules: PurchaseRules) => rules.duplicateWithinMs > 0 || rules.spendLimits.length > 0;

const identified = ({ terms }: Buying['facts']) => ({ id: randomUUID(), same: terms.same });

/** The gate's answer by the facts of now, but for other purchases. @returns undefined where it may be sent */
export function whyNotNow(
  { facts, agreed }: Buying,
  rules: PurchaseRules,
  approved: readonly ReviewReason[] = [],
): NotNow | undefined {
  const { requireFirewalls, notAfter, quoteUntil } = rules;
  // By whichever key it was digested.
  const { same } = facts.terms;
  const read = approved.flatMap((one) =>
    one.kind === 'approval' && agreed.includes(one.terms.same) ? { terms: { ...one.terms, same }, why: one.why } : [],
  );
  const times = { nowMs: Date.now(), notAfter, quoteUntil };
  const answer = mayBeSent({ ...facts, ...times, requireFirewalls, approved: read });
  if (answer.how === 'send') return undefined;
  if (answer.how !== 'ask') return answer;
  return { how: 'asks', concern: { ...identified(facts), kind: 'approval', terms: facts.terms, why: answer.why } };
}

/** As {@link whyNotNow}, and by other purchases: the first concern that nobody has agreed to yet. */
export async function whatSpeaksAgainst(
  tx: Tx,
  key: SagaKey,
  buying: Buying,
  rules: PurchaseRules,
  approved: readonly ReviewReason[] = [],
): Promise<NotNow | undefined> {
  const { duplicateWithinMs } = rules;
  const notNow = whyNotNow(buying, rules, approved);
  if (notNow || !isLimited(rules)) return notNow;
  const { account, digests } = buying;
  const counted = countedBy(buying, rules);
  // Always in this order, so that no two transactions wait for each other.
  if (account !== undefined && counted.limits.length > 0) await lockName(tx, `account ${account}`);
  if (duplicateWithinMs > 0) for (const digest of [...digests].sort()) await lockName(tx, `purchase ${digest}`);
  const { duplicates, spending } = await others(tx, key, counted, duplicateWithinMs);
  const concern = [...duplicates, ...spending.filter(isOver)].find((one) => !isAgreedTo(one, approved));
  return concern && { how: 'asks', concern };
}

/** For who asks ahead: nothing is locked, so another purchase may still come between. */
export async function foresee(tx: Tx, key: SagaKey, buying: Buying, rules: PurchaseRules) {
  const { duplicates, spending } = await others(tx, key, countedBy(buying, rules), rules.duplicateWithinMs);
  return { notNow: whyNotNow(buying, rules), concerns: [...duplicates, ...spending.filter(isOver)], spending };
}

/** The purchase as limits count it, and the limits that do. */
function countedBy(buying: Buying, { spendLimits }: PurchaseRules) {
  const { account } = buying;
  const applying = account === undefined ? spendLimits : limitsOf(account, spendLimits);
  const bought = { ...buying, unpriced: whyNotKnown(buying, applying) };
  return {
    bought,
    limits: applying.filter(
      ({ unit }) => added(bought, unit) > 0 || (isCurrency(unit) && bought.unpriced !== undefined),
    ),
  };
}

async function others(tx: Tx, key: SagaKey, { bought, limits }: ReturnType<typeof countedBy>, withinMs: number) {
  // The time is a number, so that the index is used. It is read after the locks, so that their last holder's purchase
  // is in the past.
  const now = await timeNow(tx);
  return {
    duplicates: withinMs > 0 ? await duplicatesOf(tx, key, bought, { now, withinMs }) : [],
    // Where the account is not known, any limit for this unit may apply.
    spending: await spendingOf(tx, bought, { now, limits: bought.account === undefined ? limits.slice(0, 1) : limits }),
  };
}

export async function writePurchase(
  tx: Tx,
  effect: string,
  { account, servers, items, total, currency, estimate, digests: [same = ''] }: Buying,
): Promise<void> {
  // Of the row itself: a purchase is shown with one time, by account and by all else.
  const intended_ms = tx.selectFrom('effect').select('intended_ms').where('id', '=', effect);
  const estimated = { estimate: estimate?.total, estimated_in: estimate?.currency };
  const row = { effect, account, same, servers, items, total, currency, ...estimated, intended_ms };
  await tx.insertInto('purchase').values(row).execute();
}

async function duplicatesOf(
  tx: Tx,
  key: SagaKey,
  { digests, currency, total, facts }: Buying,
  { now, withinMs }: { now: number; withinMs: number },
): Promise<OfOthers[]> {
  // An order without a currency has its account's; the currency of a quote is the provider's.
  const isOfCurrency = sql`(purchase.currency is null or purchase.currency = ${currency})`;
  const { rows } = await sql<SagaKey & { id: string; intended_ms: number }>`
    select effect.id, workflow, reference, purchase.intended_ms from ${live(now - withinMs)}
      and same in (${sql.join(digests)}) and not ${ofSaga(key)}
      ${currency !== undefined && total === undefined ? sql`and ${isOfCurrency}` : sql``}
      order by purchase.intended_ms desc limit ${othersNamedMax + 1}`.execute(tx);
  if (rows.length === 0) return [];
  const others = rows.slice(0, othersNamedMax).map(({ id, intended_ms, ...other }) => {
    return { row: id, ...other, at: iso(intended_ms) };
  });
  return [{ ...identified(facts), kind: 'duplicate', others, more: rows.length > othersNamedMax, withinMs }];
}

async function spendingOf(
  tx: Tx,
  bought: Buying,
  { now, limits }: { now: number; limits: readonly SpendLimit[] },
): Promise<OverLimit[]> {
  const { account } = bought;
  const spending: OverLimit[] = [];
  for (const { most, unit, withinMs } of limits) {
    const amount = isCurrency(unit) ? sql`coalesce(total, estimate)` : sql.ref(`purchase.${unit}`);
    // A credit does not raise the limit.
    const { rows } = await sql<{ spent: number }>`
      select coalesce(sum(${amount}), 0) as spent from ${live(now - withinMs)} and account = ${account ?? null}
        and ${amount} > 0 ${isCurrency(unit) ? sql`and coalesce(estimated_in, currency) = ${unit}` : sql``}`.execute(
      tx,
    );
    const spent = rows[0]?.spent ?? 0;
    const adds = added(bought, unit);
    const unpriced = isCurrency(unit) ? bought.unpriced : undefined;
    const { total, currency } = bought.facts.terms;
    const about = { ...present({ account }), most, unit, withinMs, spent, adds, total, currency, unpriced };
    spending.push({ ...identified(bought.facts), kind: 'over-limit', ...about });
  }
  return spending;
}

const isOver = (one: OverLimit) => one.account === undefined || one.unpriced !== undefined || inAll(one) > one.most;

/** How much this purchase adds to what the limit counts. */
function added({ servers, items, total, currency, estimate }: Buying, unit: SpendLimit['unit']): number {
  if (unit === 'servers') return servers ?? 0;
  if (unit === 'items') return items ?? 0;
  if (unit === estimate?.currency) return estimate.total;
  return unit === currency ? Math.max(0, total ?? 0) : 0;
}

/** Why nobody knows what it adds to limits in money, where that is not known. */
function whyNotKnown(
  { unpriced, total, currency, estimate }: Buying,
  limits: readonly SpendLimit[],
): string | undefined {
  const pricedIn = estimate?.currency ?? (total === undefined ? undefined : currency);
  const units = limits.map(({ unit }) => unit).filter(isCurrency);
  if (unpriced !== undefined || pricedIn === undefined || units.length === 0 || units.includes(pricedIn))
    return unpriced;
  return `its price is in ${pricedIn}`;
}

/** Later purchases that were placed, or may have been, and were not cancelled; also where only a late answer says so. */
const live = (sinceMs: number) => sql`purchase join effect on effect.id = purchase.effect
  where purchase.intended_ms > ${sinceMs} and effect.cancelled_ms is null and (${mayHaveTakenEffect} or late is not null)`;

export interface BoughtFilter {
  account?: string | undefined;
  /** Milliseconds since 1970, of when it was sent; the second one is not in it. */
  sinceMs?: number | undefined;
  untilMs?: number | undefined;
  fate?: Fate | undefined;
  vmObjectId?: number | undefined;
}

export interface Bought {
  at: string;
  workflow: WorkflowName;
  reference: string;
  account?: string;
  fate: Fate;
  /** How many were ordered. */
  servers?: number;
  items?: number;
  /** An order's, as it was sent. */
  label?: string;
  /** The provider's, where it is known. */
  orderId?: string;
  /** It may have reached the provider until then. Absent where it surely did not, or the journal was restored since. */
  sentUntil?: string;
  /** True where what was sent, or its answer, cannot be decrypted here. */
  unreadable?: true;
  vmObjectIds: number[];
  /** The quote's. The provider quotes no order: of one it is the estimate of the operator's price list, if there is one. */
  total?: number;
  currency?: string;
  isEstimate?: true;
  /** The request's own words about it. */
  metadata: Metadata;
  /** Who has approved it, or confirmed what became of it. */
  by: string[];
  /** How the saga has ended; absent while it goes on, and where that cannot be decrypted. */
  ended?: NonNullable<RecordedEnding['ended']>;
}

/** The index `pivot_by_fate` has the same words. */
const fateOf = sql<Fate>`case when cancelled_ms is not null then 'cancelled'
  when outcome = 'done' or late is not null then 'placed' when outcome is null or outcome = 'unknown' then 'unknown'
  else 'not-placed' end`;

const pageMax = 200;

/** The oldest first, page by page: whoever reads no more ends it. */
export async function* bought(journal: Store, filter: BoughtFilter): AsyncGenerator<Bought> {
  const pageAfter = (after?: After) => journal.rows(pageOf(filter, after));
  for (let page = await pageAfter(); ; page = await pageAfter(page.at(-1))) {
    for (const row of page) yield await described(journal, row);
    if (page.length < pageMax) return;
  }
}

/** The last row of the page before. */
interface After {
  age_ms: number;
  id: string;
}

type Row = After &
  SagaKey &
  Pick<Reference, 'account' | 'request'> &
  Pick<Effect, 'decided' | 'note' | 'answer' | 'in_flight_ms'> &
  Pick<PurchaseTable, 'servers' | 'items' | 'total' | 'currency' | 'estimate'> & {
    fate: Fate;
    /** Joined by a comma. */
    ids: string | null;
    /** Sealed, and joined by a line break. */
    approved: string | null;
    /** Sealed. */
    report: string | null;
  };

const ordersOf = (vmObjectId: number) =>
  sql`select workflow, reference from server where vm_object_id = ${vmObjectId} and ${isOfOrder}`;

function pageOf(filter: BoughtFilter, after: After | undefined): RawBuilder<Row> {
  const { account, sinceMs = 0, untilMs, fate, vmObjectId } = filter;
  // The index of an account has the purchase's own columns.
  const [age, id] =
    account === undefined
      ? [sql`effect.intended_ms`, sql`effect.id`]
      : [sql`purchase.intended_ms`, sql`purchase.effect`];
  const asked = [
    ...(untilMs === undefined ? [] : [sql`${age} < ${untilMs}`]),
    ...(account === undefined ? [] : [sql`purchase.account = ${accountName(account)}`]),
    ...(fate === undefined ? [] : [sql`${fateOf} = ${fate}`]),
    ...(vmObjectId === undefined ? [] : [sql`(effect.workflow, effect.reference) in (${ordersOf(vmObjectId)})`]),
    ...(after === undefined ? [] : [sql`(${age}, ${id}) > (${after.age_ms}, ${after.id})`]),
  ];
  return sql`
    select effect.id, effect.workflow, effect.reference, decided, note, answer, in_flight_ms,
      reference.account, request, servers, items, estimate, ${age} as age_ms, coalesce(total, estimate) as total, coalesce(estimated_in, currency) as currency, ${fateOf} as fate,
      (select string_agg(cast(vm_object_id as text), ',') from server where server.workflow = effect.workflow
        and server.reference = effect.reference and vm_object_id <> ${unnamed} and ${isOfOrder}) as ids,
      (select string_agg(said, ${'\n'}) from approval join approval_use on approval.id = approval_use.approval
        where approval_use.effect = effect.id) as approved,
      (select report from ending where ending.workflow = effect.workflow and ending.reference = effect.reference
        and ended_by = ending.workflow order by ended_ms desc limit 1) as report
    from effect left join purchase on purchase.effect = effect.id
      join reference on reference.workflow = effect.workflow and reference.reference = effect.reference
    where kind = 'pivot' and ${age} >= ${sinceMs} ${asked.length > 0 ? sql`and ${sql.join(asked, sql` and `)}` : sql``}
    order by ${age}, ${id} limit ${pageMax}`;
}

async function described(journal: Store, row: Row): Promise<Bought> {
  const { workflow, reference, fate, ids, total, currency, estimate, servers, items, account, note } = row;
  const read = async (sealed: string | null) => {
    if (sealed === null) return undefined;
    // A value that cannot be decrypted here is left out; the rest is known.
    return journal.unseal(sealed, 'what is known of a purchase').catch(() => undefined);
  };
  const ending = (await read(row.report)) as Pick<RecordedEnding, 'ended' | 'report'> | undefined;
  const sent = (await read(note)) as PivotNote | undefined;
  const placed = await read(row.answer);
  const isUnreadable = (note !== null && sent === undefined) || (row.answer !== null && placed === undefined);
  const isUnsent = note === null || (fate === 'not-placed' && row.decided === null);
  const verdict = (await read(row.decided)) as { by?: string } | undefined;
  const said = row.approved?.split('\n').map(read) ?? [];
  const approvedBy = (await Promise.all(said)).flatMap((one) => (one as Approval | undefined)?.by ?? []);
  const { metadata = {} } = ((await read(row.request)) ?? {}) as { metadata?: Metadata };
  const approvals = (ending?.report?.decisions ?? []).filter(({ decision }) => decision === 'approve');
  const by = approvedBy.concat([...approvals, ...(verdict ? [verdict] : [])].flatMap(({ by: who }) => who ?? []));
  return {
    ...{ at: iso(row.age_ms), workflow, reference, fate },
    ...present({ account, currency, total, servers, items, ended: ending?.ended }),
    ...(estimate === null ? {} : { isEstimate: true }),
    ...present({ label: sent?.label, orderId: orderIdOf(placed), unreadable: isUnreadable || undefined }),
    ...(isUnsent ? {} : { sentUntil: iso(row.age_ms + row.in_flight_ms) }),
    vmObjectIds: ids === null ? [] : ids.split(',').map(Number),
    ...{ metadata, by: [...new Set(by)] },
  };
}
