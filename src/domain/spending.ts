/**
 * A saga's purchase, as the journal compares and counts it; limits of accounts; and what needs a person's yes. No
 * price is guessed: an order is counted, and estimated by the operator's list; a change or a switch has the total of
 * its quote.
 */
import { accountName, type WorkflowName } from './identity';
import type { MayBeSent, Terms } from './may-be-sent';
import { serversOrdered, type PlanTypes } from './plan-types';
import { estimateOf, type Estimate, isCurrencyCode, type PriceList } from './prices';
import type { CartItem, ChangeOrderRequest, ProvisionServersRequest, SwitchPlanRequest } from './requests';
import { inWords, periods } from './times';

/** The fate of a purchase; `unknown`: nobody has said yet whether it was placed. */
export const fates = ['placed', 'cancelled', 'unknown', 'not-placed'] as const;
export type Fate = (typeof fates)[number];

export interface Purchase {
  /** Absent where a change or a switch names none. */
  account?: string;
  /** Purchases of the same have the same text. It contains no label, reference, template or secret. */
  what: string;
  /** For an order. An item that may be a server counts as one. */
  servers?: number;
  items?: number;
  /** As the request names it, in lower case. */
  currency?: string;
  /** For an order, where there is a price list. */
  estimate?: Estimate;
}

/**
 * @param request that was checked
 * @param planTypes as the provider's profile has them
 * @returns undefined for a saga that buys nothing
 */
export function purchaseOf(
  workflow: WorkflowName,
  request: unknown,
  planTypes: PlanTypes | undefined,
  priceList?: PriceList,
): Purchase | undefined {
  switch (workflow) {
    case 'provisionServers': {
      const { account, items, currency } = request as ProvisionServersRequest;
      return {
        account: accountName(account),
        what: JSON.stringify(['order', accountName(account), sorted(inOne(items))]),
        servers: serversOrdered(items, planTypes).most,
        items: items.length,
        currency: currency?.toLowerCase(),
        estimate: priceList && estimateOf({ items, currency }, priceList),
      };
    }
    case 'changeOrder': {
      const { account, subscription_id, resources } = request as ChangeOrderRequest;
      const changes = resources.map(({ resource_name, delta_value }) => [
        resource_name,
        delta_value.length > 15 ? delta_value : Number(delta_value),
      ]);
      return {
        account: account && accountName(account),
        what: JSON.stringify(['change', subscription_id, sorted(changes)]),
      };
    }
    case 'switchPlan': {
      const { account, subscription_id, plan_id } = request as SwitchPlanRequest;
      return { account: account && accountName(account), what: JSON.stringify(['switch', subscription_id, plan_id]) };
    }
    case 'setFirewalls':
    case 'cleanCart':
      return undefined;
  }
}

/** Two servers of one plan are the same purchase, as one item or as two. */
function inOne(items: readonly CartItem[]): [plan: string, quantity: number][] {
  const quantities = new Map<string, number>();
  for (const { plan_id, plan_type, billing_cycle, addons = [], quantity = 1 } of items) {
    const added = sorted(addons.map(({ id, additional_value }) => [id, additional_value]));
    const plan = JSON.stringify([plan_id, plan_type, billing_cycle, added]);
    quantities.set(plan, (quantities.get(plan) ?? 0) + quantity);
  }
  return [...quantities];
}

function sorted<T>(values: readonly T[]): T[] {
  const texts = values.map((value) => JSON.stringify(value)).sort();
  return texts.map((text) => JSON.parse(text) as T);
}

/** `AB-1=20 servers/1d`: at most 20 servers in the last day. */
export interface SpendLimit {
  /** `*`: each single account that has no limit of its own for this unit. */
  account: string;
  most: number;
  /** `servers`, `items`, or a currency in lower case: that one limits the totals of quotes. */
  unit: string;
  withinMs: number;
}

/** Units of a limit that count what an order asks for; any other one is a currency. */
const counted = ['servers', 'items'];

export const isCurrency = (unit: string) => !counted.includes(unit);

const periodMsMax = 366 * periods.d;
const mostMax = 1_000_000_000;

/** @param text `AB-1=20 servers/1d, *=500 usd/30d`. @throws Error that says which entry is wrong */
export function parseSpendLimits(text: string): SpendLimit[] {
  const entries = text.split(',').map((entry) => entry.trim());
  const limits = entries.filter((entry) => entry !== '').map(parseLimit);
  const names = limits.map(({ account, unit, withinMs }) => `${account} ${unit} ${withinMs}`);
  const twice = limits.find((_, index) => names.indexOf(names[index] ?? '') < index);
  if (twice) throw new Error(`${describeLimit(twice)}: ${twice.account} has another limit of this unit and period`);
  return limits;
}

function parseLimit(entry: string): SpendLimit {
  const form = /^(\*|[A-Za-z0-9]{2}-\d+)=(\d+(?:\.\d+)?) ?([A-Za-z]{3,16})\/(\d{1,6})([mhd])$/;
  const [, account = '', amount = '', word = '', length = '', period = ''] = form.exec(entry) ?? [];
  if (account === '') throw new Error(`“${entry.slice(0, 60)}” is not account=most unit/period`);
  const limit = {
    account: account === '*' ? account : accountName(account),
    most: Number(amount),
    unit: word.toLowerCase(),
    withinMs: Number(length) * periods[period as keyof typeof periods],
  };
  // As a currency it would limit nothing.
  if (isCurrency(limit.unit) && !isCurrencyCode(limit.unit)) {
    throw new Error(`${entry}: must be servers, items or a currency, like USD`);
  }
  if (limit.most > mostMax) throw new Error(`${entry}: at most ${mostMax}`);
  if (limit.withinMs < periods.m || limit.withinMs > periodMsMax) throw new Error(`${entry}: from 1m to 366d`);
  if (!isCurrency(limit.unit) && !Number.isInteger(limit.most)) throw new Error(`${entry}: must be a whole number`);
  return limit;
}

/** `20 servers/1d` */
export function describeLimit({ most, unit, withinMs }: Pick<SpendLimit, 'most' | 'unit' | 'withinMs'>): string {
  return `${most} ${unit}/${describePeriod(withinMs)}`;
}

/** `1d`, `90m`: in the longest unit that says it as a whole number. */
function describePeriod(ms: number): string {
  const [word, unitMs] = Object.entries(periods).find(([, length]) => ms % length === 0) ?? ['s', 1_000];
  return `${ms / unitMs}${word}`;
}

/** The limits that apply to an account: its own, and those of `*` for units without one of its own. */
export function limitsOf(account: string | undefined, limits: readonly SpendLimit[]): SpendLimit[] {
  const name = account && accountName(account);
  const own = limits.filter((limit) => limit.account === name);
  const units = own.map(({ unit }) => unit);
  return [...own, ...limits.filter((limit) => limit.account === '*' && !units.includes(limit.unit))];
}

/** Why a purchase needs a person's yes before it is intended. */
export type ReviewReason = {
  id: string;
  /** The digest of what is bought: a yes to another one is none to this one. */
  same: string;
} & (
  | {
      kind: 'approval';
      terms: Terms;
      /** Sentences beside the terms. */
      why: string[];
    }
  | {
      kind: 'duplicate';
      /** The same was, or may have been, placed under these; the newest first. */
      others: { row: string; workflow: WorkflowName; reference: string; at: string }[];
      /** True: there are older ones. */
      more: boolean;
      withinMs: number;
    }
  | {
      kind: 'over-limit';
      /** Absent where the request names none: whose limit it would be is not known. */
      account?: string;
      most: number;
      unit: string;
      withinMs: number;
      /** The sum that was, or may have been, spent in the period so far. */
      spent: number;
      adds: number;
      /** Why it is not known what it adds; then a yes is one to its own total alone, if it has one. */
      unpriced?: string;
      total?: number;
      currency?: string;
    }
);

/** Why a purchase may not be sent now; a person is asked, or it ends. */
export type NotNow = Exclude<MayBeSent, { how: 'send' | 'ask' }> | { how: 'asks'; concern: ReviewReason };

/** About other purchases. */
export type OfOthers = Exclude<ReviewReason, { kind: 'approval' }>;
export type OverLimit = Extract<ReviewReason, { kind: 'over-limit' }>;

/**
 * True if an earlier approval covers this concern about other purchases: no reference is new, and no more is added or
 * spent than was approved.
 */
export function isAgreedTo(concern: OfOthers, approved: readonly ReviewReason[]): boolean {
  if (concern.kind === 'duplicate') {
    const seen = approved.flatMap((one) => (one.kind === 'duplicate' ? one.others.map(({ row }) => row) : []));
    return concern.others.every(({ row }) => seen.includes(row));
  }
  const hasSame = (one: typeof concern, ...fields: (keyof typeof concern)[]) =>
    fields.every((field) => one[field] === concern[field]);
  return approved.some(
    (one) =>
      one.kind === 'over-limit' &&
      hasSame(one, 'account', 'most', 'unit', 'withinMs') &&
      (concern.unpriced === undefined ? one.adds >= concern.adds : hasSame(one, 'unpriced', 'total', 'currency')) &&
      inAll(concern) <= inAll(one),
  );
}

/** The sum spent when this one is placed. Sums of decimals are rounded, so that 0.1 and 0.2 are 0.3. */
export function inAll({ spent, adds }: { spent: number; adds: number }): number {
  return Math.round((spent + adds) * 1e6) / 1e6;
}

/** For a person who is asked. */
export function describeConcern(concern: OfOthers): string {
  if (concern.kind === 'duplicate') {
    const { others, more, withinMs } = concern;
    const references = others.map(({ reference, at }) => `${reference} on ${inWords(at)}`).join(', ');
    return (
      `The same was bought within ${describePeriod(withinMs)} under another reference, or may have been: ` +
      `${references}${more ? ', and older ones' : ''}.`
    );
  }
  const { account, unit, withinMs, spent, adds, unpriced } = concern;
  const limit = describeLimit(concern);
  const addition = unpriced === undefined ? `adds ${adds}` : `adds nobody knows how much: ${unpriced}`;
  if (account === undefined) {
    return `It adds ${adds} ${unit} and names no account, so nobody knows whether a limit allows it, such as ${limit}.`;
  }
  const how = isCurrency(unit) ? ' Orders count as the price list estimates them, if there is one.' : '';
  return (
    `Account ${account.slice(0, 40)} has a limit of ${limit}. Spent in the last ${describePeriod(withinMs)}: ` +
    `${inAll({ spent, adds: 0 })} ${unit}. This one ${addition}${unpriced === undefined ? `: ${inAll(concern)} in all` : ''}.${how}`
  );
}
