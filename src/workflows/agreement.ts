/**
 * Coming to terms before a change order or a switch is placed: quote, check that it is available, check the caller's
 * guard, and where the request asks for it, have a person approve.
 *
 * An approval binds a quote. It is quoted again right after, and if price, currency or availability moved meanwhile, or
 * the approval took longer than the quote may age, the new quote is asked about.
 *
 * A quote ages while the pivot waits to be sent, or to be sent again: one that is too old is replaced before each sending. What was
 * agreed to is the caller's guard, the caller's limit of approval, and what a person approved.
 */
import {
  approvalExpiresInMs,
  describeQuote,
  guardViolations,
  needsApproval,
  sameTerms,
  type Quote,
} from '../domain/quotes';
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

export class Agreement {
  /** Undefined where it was placed before, or perhaps, and nobody knows at which terms: there is nothing to agree to. */
  quote: Quote | undefined;
  private approved: Approved | undefined;
  /** From then on the quote is too old to be placed by, in milliseconds since 1970. */
  private untilMs = Infinity;

  constructor(
    private readonly saga: Saga,
    private readonly terms: Terms,
  ) {}

  /**
   * From the beginning: what was approved before counts no more.
   *
   * @throws SagaFailed when it is not available, breaks the guard, or a person rejects it
   */
  come(): Promise<void> {
    this.approved = undefined;
    return this.agree();
  }

  /** Before it is placed, each time: where the quote is too old by now, another one is agreed to; an approval of the same terms holds. */
  async refresh(): Promise<void> {
    if (Date.now() >= this.untilMs) await this.agree();
  }

  /** It is not to be sent later. */
  get quoteUntil(): string | undefined {
    return this.untilMs === Infinity ? undefined : new Date(this.untilMs).toISOString();
  }

  private async agree(): Promise<void> {
    const { saga, terms } = this;
    this.untilMs = Infinity;
    const placement = saga.journal.inDoubt ? await placementOf(saga) : undefined;
    if (placement !== undefined && placement.how !== 'none') {
      terms.step.end('skipped', 'it was placed before, or perhaps: the journal is asked first');
      this.quote = placement.note?.quote;
      return;
    }
    for (;;) {
      const { quote, id, approvalMaxAgeMs, quoteMaxAgeMs } = await saga.must(
        { step: terms.step, act: terms.quote },
        { refusal: 'OrderRejected' },
      );
      const quotedMs = Date.now();
      terms.step.say(describeQuote(quote));
      saga.progress.known['quote'] = quote;
      checkTerms(quote, terms);
      if (!needsApproval(quote, terms.approval) || this.holds(quote, approvalMaxAgeMs)) {
        this.quote = quote;
        this.untilMs = quotedMs + (quoteMaxAgeMs ?? Infinity);
        return;
      }
      this.approved = await approve(saga, terms, { quote, id }, this.approved);
    }
  }

  private holds(quote: Quote, approvalMaxAgeMs = Infinity): boolean {
    const { approved } = this;
    return approved !== undefined && sameTerms(approved.quote, quote) && approved.agedMs <= approvalMaxAgeMs;
  }
}

function checkTerms(quote: Quote, { notAvailable, guard }: Terms): void {
  if (!quote.available) throw new SagaFailed(notAvailable, 'the provider says that it is not available');
  const violations = guardViolations(quote, guard);
  if (violations.length > 0) throw new SagaFailed('GuardViolated', violations.join('; '));
}

async function approve(
  saga: Saga,
  { step, approval }: Terms,
  { quote, id }: Quoted,
  before: Approved | undefined,
): Promise<Approved> {
  const askedMs = Date.now();
  const moved =
    before === undefined ? '' : ` Approved before was ${describeQuote(before.quote)}; it moved or grew old.`;
  const question = `Approve ${describeQuote(quote)}?${moved}`;
  await askApproval(saga, { step, subject: id, question, expiresInMs: approvalExpiresInMs(approval) });
  return { quote, agedMs: Date.now() - askedMs };
}
