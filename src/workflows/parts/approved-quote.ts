/**
 * Agrees to terms before a change order or a switch is placed: quotes, checks that it is available, checks the caller's
 * guard, and where the request asks for it, has a person approve.
 *
 * An approval binds one quote. The saga quotes again right after it. If price, currency or availability changed, or the
 * approval took longer than the quote may age, a person is asked about the new quote.
 *
 * If the provider refuses, or it is not available, a person may be asked. A correction needs a new agreement.
 *
 * A quote ages while the pivot waits to be sent, or to be sent again. So a quote that is too old is replaced before
 * each sending; the new one must fit the caller's guard, the caller's limit of approval, and what a person approved.
 */
import { describeQuote, guardViolations, needsApproval, sameTerms, type Quote } from '../../domain/quotes';
import type { ApprovalRule, Guard } from '../../domain/requests';
import type { SagaFailureName } from '../../domain/failures';
import type { QuoteAnswer } from '../../activities/quotes';
import { askApproval } from '../../saga/approval';
import type { Act } from '../../saga/attempts';
import type { Step } from '../../saga/progress';
import { asksAfterRefusal, refusedQuestion, type Correction, type Corrections } from '../../saga/questions';
import { SagaFailed } from '../../saga/ends';
import type { Saga } from '../../saga/saga';

export interface QuoteTerms {
  readonly step: Step;
  quote: Act<QuoteAnswer>;
  notAvailable: SagaFailureName;
  guard: Guard | undefined;
  approval: ApprovalRule | undefined;
  /** A person may correct this if the provider refuses the quote. */
  correction: Correction;
}

interface Approved {
  quote: Quote;
  /** Milliseconds from the quote to its approval. */
  agedMs: number;
}

export class ApprovedQuote {
  quote: Quote | undefined;
  private approved: Approved | undefined;
  /** When the quote becomes too old for the pivot, in milliseconds since 1970. */
  private untilMs = Infinity;

  constructor(
    private readonly saga: Saga,
    private readonly terms: QuoteTerms,
  ) {}

  /**
   * Agrees from the beginning: an earlier approval no longer counts.
   *
   * @throws SagaFailed when it is refused or not available and nobody is asked, breaks the guard, or a person rejects
   * it; StateChanged where another run has placed it, or may have
   */
  agreeFromScratch(): Promise<void> {
    this.approved = undefined;
    return this.agree();
  }

  /** Called before each sending: replaces a quote that is too old. An approval of the same terms still holds. */
  async refresh(): Promise<void> {
    if (Date.now() >= this.untilMs) await this.agree();
  }

  /** The pivot must not be sent after this time. */
  get quoteUntil(): string | undefined {
    return this.untilMs === Infinity ? undefined : new Date(this.untilMs).toISOString();
  }

  /** Offered where the provider refuses the quote or the placement. */
  get corrections(): { refused: Correction } & Corrections {
    const { correction } = this.terms;
    const apply: Correction['apply'] = (corrected, said) => {
      // It approved the request before the correction, even if the price is the same.
      this.approved = undefined;
      return correction.apply(corrected, said);
    };
    return { refused: { ...correction, apply } };
  }

  private async agree(): Promise<void> {
    const { saga, terms } = this;
    const { step } = terms;
    this.untilMs = Infinity;
    for (;;) {
      const policy = { refusal: 'OrderRejected', corrections: this.corrections } as const;
      const quoted = await saga.must({ step, act: terms.quote }, policy);
      const { quote, quotedMs, approvalMaxAgeMs, quoteMaxAgeMs } = quoted;
      step.say(describeQuote(quote));
      saga.progress.learn({ quote });
      if (!quote.available) {
        await this.askOfUnavailable(quoted);
        continue;
      }
      const violations = guardViolations(quote, terms.guard);
      if (violations.length > 0) throw new SagaFailed('GuardViolated', violations.join('; '));
      if (!needsApproval(quote, terms.approval) || this.isStillApproved(quote, approvalMaxAgeMs)) {
        this.quote = quote;
        this.untilMs = quotedMs + quoteMaxAgeMs;
        return;
      }
      this.approved = await approve(saga, terms, quoted, this.approved);
    }
  }

  /** @throws SagaFailed where nobody is asked */
  private async askOfUnavailable(quoted: QuoteAnswer): Promise<void> {
    const { saga, terms } = this;
    const why = 'the provider says that it is not available';
    if (!asksAfterRefusal(saga.onRefusal, quoted)) throw new SagaFailed(terms.notAvailable, why);
    await saga.throwIfPlaced(terms.step);
    terms.step.end('stuck', why);
    const correction = this.corrections.refused;
    await saga.humanDecisions.ask(
      refusedQuestion([terms], 'The provider says that it is not available.', { correction }),
    );
  }

  private isStillApproved(quote: Quote, approvalMaxAgeMs: number): boolean {
    const { approved } = this;
    return approved !== undefined && sameTerms(approved.quote, quote) && approved.agedMs <= approvalMaxAgeMs;
  }
}

async function approve(
  saga: Saga,
  { step, approval }: QuoteTerms,
  { quote, id, quotedMs }: Pick<QuoteAnswer, 'quote' | 'id' | 'quotedMs'>,
  before: Approved | undefined,
): Promise<Approved> {
  const moved =
    before === undefined ? '' : ` The approved quote, ${describeQuote(before.quote)}, changed or became too old.`;
  const question = `Approve ${describeQuote(quote)}?${moved}`;
  await askApproval(saga, { step, subject: id, question, approval });
  return { quote, agedMs: Date.now() - quotedMs };
}
