/**
 * Coming to terms before a change order or a switch is placed: quote, check that it is available, check the caller's
 * guard, and where the request asks for it, have a person approve.
 *
 * An approval binds a quote. It is quoted again right after, and if price, currency or availability moved meanwhile, or
 * the approval took longer than the quote may age, the new quote is asked about.
 */
import { describeQuote, guardViolations, needsApproval, sameTerms, type Quote } from '../domain/quotes';
import type { ApprovalRule, Guard } from '../domain/requests';
import type { SagaFailureName } from '../domain/failures';
import type { Quoted } from '../activities/change-orders';
import { askApproval } from './approval';
import type { Act } from './attempts';
import type { Step } from './progress';
import { placementOf } from './look-back';
import { SagaFailed, type Saga } from './saga';

export interface Terms {
  step: Step;
  quote: Act<Quoted>;
  notAvailable: SagaFailureName;
  guard: Guard | undefined;
  approval: ApprovalRule | undefined;
}

interface Approved {
  quote: Quote;
  /** Milliseconds from the quote to its approval. */
  agedMs: number;
}

/**
 * @returns undefined where it was placed before, or perhaps, and nobody knows at which terms: there is nothing to agree to
 * @throws SagaFailed when it is not available, breaks the guard, or a person rejects it
 */
export async function agree(saga: Saga, terms: Terms): Promise<Quote | undefined> {
  const placement = saga.journal.inDoubt ? await placementOf(saga) : undefined;
  if (placement !== undefined && placement.how !== 'none') {
    terms.step.end('skipped', 'it was placed before, or perhaps: the journal is asked first');
    return placement.note?.quote;
  }
  let approved: Approved | undefined;
  for (;;) {
    const { quote, id, approvalMaxAgeMs } = await saga.must(
      { step: terms.step, act: terms.quote },
      { refusal: 'OrderRejected' },
    );
    terms.step.say(describeQuote(quote));
    saga.progress.known['quote'] = quote;
    checkTerms(quote, terms);
    if (!needsApproval(quote, terms.approval)) return quote;
    if (approved && sameTerms(approved.quote, quote) && approved.agedMs <= (approvalMaxAgeMs ?? Infinity)) return quote;
    approved = await approve(saga, terms.step, { quote, id }, approved);
  }
}

function checkTerms(quote: Quote, { notAvailable, guard }: Terms): void {
  if (!quote.available) throw new SagaFailed(notAvailable, 'the provider says that it is not available');
  const violations = guardViolations(quote, guard);
  if (violations.length > 0) throw new SagaFailed('GuardViolated', violations.join('; '));
}

async function approve(saga: Saga, step: Step, { quote, id }: Quoted, before: Approved | undefined): Promise<Approved> {
  const askedMs = Date.now();
  const moved =
    before === undefined ? '' : ` Approved before was ${describeQuote(before.quote)}; it moved or grew old.`;
  await askApproval(saga, { step, subject: id, question: `Approve ${describeQuote(quote)}?${moved}` });
  return { quote, agedMs: Date.now() - askedMs };
}
