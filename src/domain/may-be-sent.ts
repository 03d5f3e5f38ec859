/**
 * The one gate before money: whether a pivot may be sent now, by the facts of now. It is asked where the pivot is
 * intended, each time; a question that a person is asked earlier decides nothing by itself. Limits and duplicates are
 * looked up beside it, under their locks: src/journal/purchases.ts.
 *
 * ```text
 *   past its time ──▶ late        breaks the guard ──▶ refuse        needs a yes, or cannot be compared ──▶ ask
 *                                                                                   └─ a person said it to these terms ──▶ send
 * ```
 */
import { type PlanTypes, serversOrdered, type ServersOrdered } from './plan-types';
import type { Estimate } from './prices';
import { purchaseViolations } from './purchases';
import type { Quote } from './quotes';
import type { ChangeOrderRequest, Guard, ProvisionServersRequest, PurchaseGuard } from './requests';

/** What a person agrees to, who approves: a yes to other terms is none to these. */
export interface Terms {
  /** A keyed digest of what is bought. */
  same: string;
  total?: number;
  /** In lower case. */
  currency?: string;
  /** Why the total is not known, as a sentence. */
  unpriced?: string;
}

export interface SendFacts {
  nowMs: number;
  /** ISO times: the request's, and that from which the quote is too old. */
  notAfter?: string;
  quoteUntil?: string;
  terms: Terms;
  guard?: Guard & PurchaseGuard;
  approval?: (ChangeOrderRequest | ProvisionServersRequest)['approval'];
  /** An order's: what may be a server counts as one. */
  items?: ProvisionServersRequest['items'];
  ordered?: ServersOrdered;
  /** Resources of a quote that would not apply. */
  inapplicable?: readonly unknown[];
  /** It buys servers, and names no firewalls. */
  isUnprotected: boolean;
  requireFirewalls?: 'off' | 'ask' | 'refuse';
  /** People's approvals that hold, of terms that may be other ones. */
  approved: readonly Agreed[];
}

/** What a person read who approved: the terms, and the sentences beside them. */
interface Agreed {
  terms: Terms;
  why: readonly string[];
}

export type MayBeSent =
  | { how: 'send' }
  | { how: 'late'; failure: 'DeadlinePassed' | 'QuoteAged'; why: string }
  | { how: 'refuse'; why: string }
  /** `why`: sentences beside the terms, for the question. */
  | { how: 'ask'; why: string[] };

export function mayBeSent(facts: SendFacts): MayBeSent {
  const { nowMs, terms, approved } = facts;
  const late = whyLate(nowMs, facts);
  if (late) return late;
  const broken = violations(facts);
  if (broken.length > 0) return { how: 'refuse', why: broken.join('; ') };
  const why = whatCannotBeCompared(facts);
  if (facts.isUnprotected && facts.requireFirewalls === 'ask')
    why.push('It names no firewalls: the servers will have none.');
  if (why.length === 0 && !needsApproval(facts)) return { how: 'send' };
  if (approved.some((one) => isSame(one.terms, terms) && why.every((sentence) => one.why.includes(sentence)))) {
    return { how: 'send' };
  }
  const before = approved.findLast((one) => one.terms.same === terms.same && !isSame(one.terms, terms));
  return { how: 'ask', why: before ? [...why, `It was approved at ${priceOf(before.terms)}.`] : why };
}

/** Asked here, and once more in the tick in which a call is sent. */
export function whyLate(nowMs: number, { notAfter, quoteUntil }: Pick<SendFacts, 'notAfter' | 'quoteUntil'>) {
  const isPast = (time: string | undefined) => time !== undefined && nowMs > Date.parse(time);
  const late = (failure: 'DeadlinePassed' | 'QuoteAged', why: string) =>
    ({ how: 'late', failure, why: `was not sent: ${why}` }) as const;
  if (isPast(notAfter)) return late('DeadlinePassed', `the request says “not after ${notAfter}”`);
  return isPast(quoteUntil) ? late('QuoteAged', `its quote was too old from ${quoteUntil} on`) : undefined;
}

const isSame = (one: Terms, other: Terms) =>
  one.same === other.same && one.total === other.total && one.currency === other.currency;

/** No total, and none below zero, is within any limit. */
const isWithin = (total: number | undefined, most: number) => total !== undefined && total >= 0 && total <= most;

const priceOf = ({ total, currency, unpriced }: Terms) => unpriced ?? `${total} ${currency}`;

function violations(facts: SendFacts): string[] {
  const { terms, guard = {}, items, ordered, inapplicable = [], isUnprotected, requireFirewalls } = facts;
  const { maxTotal, allowInapplicable } = guard;
  const broken = items && ordered ? purchaseViolations(items, ordered, guard) : [];
  if (maxTotal !== undefined && isComparable(facts) && isKnown(terms.total) && !isWithin(terms.total, maxTotal)) {
    broken.push(`the total is ${priceOf(terms)} and the guard allows ${maxTotal}`);
  }
  // An order that would apply only in part is not what was asked for, unless the caller allows it.
  if (inapplicable.length > 0 && !allowInapplicable) {
    broken.push(`resources that do not apply: ${JSON.stringify(inapplicable)}`);
  }
  if (isUnprotected && requireFirewalls === 'refuse')
    broken.push('it buys servers and names no firewalls, and REQUIRE_FIREWALLS refuses that');
  return broken;
}

const isKnown = (total: number | undefined): total is number => total !== undefined && Number.isFinite(total);

const isComparable = ({ terms, guard: { currency } = {} }: SendFacts) =>
  currency === undefined || currency.toLowerCase() === terms.currency;

function whatCannotBeCompared(facts: SendFacts): string[] {
  const { terms, guard = {} } = facts;
  const { total, currency, unpriced = 'the total is no number' } = terms;
  const { maxTotal, currency: wanted } = guard;
  const why: string[] = [];
  if (maxTotal !== undefined && !isKnown(total)) why.push(`The guard allows a total of ${maxTotal}, and ${unpriced}.`);
  if (!isComparable(facts)) why.push(`The guard is in ${wanted}, and the price in ${currency ?? 'no currency'}.`);
  return why;
}

function needsApproval({ terms, approval: rule = 'never', ordered }: SendFacts): boolean {
  if (typeof rule === 'string') return rule === 'always';
  if ('aboveTotal' in rule) return !isWithin(terms.total, rule.aboveTotal);
  if ('above' in rule) return ordered ? ordered.most > rule.above : !isWithin(terms.total, rule.above);
  return true;
}

/**
 * The facts that follow from the request, with all corrections, and its price of now.
 *
 * @param what is bought, as `purchaseOf` says it
 * @param digest is keyed
 */
export function factsOf(
  request: Partial<Pick<ProvisionServersRequest, 'items' | 'firewalls' | 'currency' | 'guard' | 'approval'>> &
    Partial<Pick<ChangeOrderRequest, 'guard' | 'approval'>>,
  what: string,
  price: Quote | Estimate | undefined,
  { planTypes, digest }: { planTypes: PlanTypes | undefined; digest: (text: string) => string },
) {
  const { items, firewalls = [], currency = null, guard, approval } = request;
  const ordered = items && serversOrdered(items, planTypes);
  const isUnprotected = ordered !== undefined && ordered.most > 0 && firewalls.length === 0;
  const quote = price !== undefined && 'available' in price ? price : undefined;
  const inapplicable = quote?.inapplicable_resources ?? [];
  const templates = items?.map(({ os_template_id: template }) => template ?? null);
  // An account's first order fixes its currency for ever.
  const same = digest(JSON.stringify([what, isUnprotected, inapplicable, templates, currency?.toLowerCase()]));
  return { terms: { same, ...termsOf(price) }, guard, approval, items, ordered, inapplicable, isUnprotected };
}

function termsOf(price: Quote | Estimate | undefined): Omit<Terms, 'same'> {
  if (price === undefined) return { unpriced: 'there is no price list (PRICE_LIST_FILE)' };
  const { total, currency, unpriced } = price as Estimate;
  return unpriced === undefined ? { total, currency: currency.toLowerCase() } : { unpriced };
}
