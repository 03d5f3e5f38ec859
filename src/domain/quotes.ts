/** The provider's answers to "what would it cost?" (rows 5, 6 and 7), and when a saga goes on or stops. */
import { z } from 'zod';
import { lazy } from './lazy';
import { cutWell } from './markdown';
import type { ApprovalRule, Guard } from './requests';

export const quoteSchema = lazy(() =>
  z.looseObject({
    available: z.boolean(),
    total: z.number(),
    currency: z.string(),
    date_from: z.string(),
    date_to: z.string(),
    /** Present in the answer of row 5 only. */
    inapplicable_resources: z.array(z.unknown()).optional(),
  }),
);
export type Quote = z.infer<ReturnType<typeof quoteSchema>>;

/** The guard's parts that a quote breaks, each as a sentence; none when it may go on. */
export function guardViolations(quote: Quote, guard: Guard | undefined): string[] {
  const broken: string[] = [];
  // No total is within no limit.
  if (guard?.maxTotal !== undefined && !(quote.total <= guard.maxTotal)) {
    broken.push(`the total is ${quote.total} and the guard allows ${guard.maxTotal}`);
  }
  if (guard?.currency !== undefined && quote.currency !== guard.currency.toLowerCase()) {
    broken.push(`the quote is in ${quote.currency} and the guard asks for ${guard.currency.toLowerCase()}`);
  }
  // An order that would apply only in part is not what was asked for, unless the caller allows it.
  if (quote.inapplicable_resources?.length && !guard?.allowInapplicable) {
    broken.push(`resources that do not apply: ${JSON.stringify(quote.inapplicable_resources)}`);
  }
  return broken;
}

export function needsApproval(quote: Pick<Quote, 'total'>, rule: ApprovalRule = 'never'): boolean {
  if (rule === 'never') return false;
  return rule === 'always' || !('above' in rule) || !(quote.total <= rule.above);
}

/** For a quote or a purchase. */
export type ExpiringRule = 'never' | 'always' | { expiresAfterSeconds?: number | undefined };

/** When a question without a decision is rejected; undefined where it waits for ever. */
export function approvalExpiresInMs(rule: ExpiringRule = 'never'): number | undefined {
  if (typeof rule === 'string' || rule.expiresAfterSeconds === undefined) return undefined;
  return rule.expiresAfterSeconds * 1_000;
}

/** True if an approval of one quote holds for the other: the same price, currency and availability. Dates may move. */
export function sameTerms(one: Quote, other: Quote): boolean {
  return (
    one.total === other.total &&
    one.currency === other.currency &&
    one.available === other.available &&
    JSON.stringify(one.inapplicable_resources ?? []) === JSON.stringify(other.inapplicable_resources ?? [])
  );
}

/** Who approves it reads what would not apply, too. */
export function describeQuote({
  total,
  currency,
  date_from,
  date_to,
  inapplicable_resources: not = [],
}: Quote): string {
  const without = not.length === 0 ? '' : `, without ${cutWell(JSON.stringify(not), 200)}, which would not apply`;
  return `${total} ${currency}, ${date_from} to ${date_to}${without}`;
}
