/** The provider's answers to "what would it cost?" (rows 5, 6 and 7). */
import { z } from 'zod';
import { lazy } from './lazy';
import { cutWell } from './markdown';

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

/** For a quote or a purchase. Without a number of seconds its question waits for ever. */
export type ExpiringRule = 'never' | 'always' | { expiresAfterSeconds?: number };

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
export function describeQuote({ inapplicable_resources: not = [], ...quote }: Quote): string {
  const without = not.length === 0 ? '' : `, without ${cutWell(JSON.stringify(not), 200)}, which would not apply`;
  return `${quote.total} ${quote.currency}, ${quote.date_from} to ${quote.date_to}${without}`;
}
