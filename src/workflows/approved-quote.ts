/**
 * Coming to terms before a change order or a switch is placed: quote, check that it is available, check the caller's
 * guard, and where the request asks for it, have a person approve.
 *
 * An approval binds a quote. It is quoted again right after, and if price, currency or availability moved meanwhile, or
 * the approval took longer than the quote may age, the new quote is asked about.
 *
 * A refusal, and what is not available, may be asked about; what was corrected is agreed to from the beginning.
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
import type { QuoteAnswer } from '../activities/quotes';
import { askApproval } from '../saga/approval';
import type { Act } from '../saga/attempts';
import type { Step } from '../saga/progress';
import { asksAfterRefusal, askToRetry } from '../saga/ask-to-retry';
import { placedBefore } from '../saga/look-back';
import { refusedQuestion, type Correction, type Corrections } from '../saga/questions';
import { PlacedBefore, SagaFailed, whyPlacedBefore } from '../saga/ends';
import type { Saga } from '../saga/saga';

export interface QuoteTerms {
  step: Step;
  quote: Act<QuoteAnswer>;
  notAvailable: SagaFailureName;
  guard: Guard | undefined;
  approval: ApprovalRule | undefined;
  /** Of what is quoted, where the provider refuses it. */
  correction: Correction;
}

interface Approved {
  quote: Quote;
  /** Milliseconds from the quote to its approval. */
  agedMs: number;
}

export class ApprovedQuote {
  /** Undefined where it was placed before, or perhaps, and nobody knows at which terms: there is nothing to agree to. */
  quote: Quote | undefined;
  /** Without it nothing is placed: see {@link quote}. */
  isAgreed = false;
  private approved: Approved | undefined;
  /** From then on the quote is too old to be placed by, in milliseconds since 1970. */
  private untilMs = Infinity;

  constructor(
    private readonly saga: Saga,
    private readonly terms: QuoteTerms,
  ) {}

  /**
   * From the beginning: what was approved before counts no more.
   *
   * @throws SagaFailed when it is refused or not available and nobody is asked, breaks the guard, or a person rejects it
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

  /** Where the provider refuses what is quoted, or placed. */
  get corrections(): { refused: Correction } & Corrections {
    const { correction } = this.terms;
    const apply: Correction['apply'] = (corrected, said) => {
      // It was of something else, though at the same price.
      this.approved = undefined;
      return correction.apply(corrected, said);
    };
    return { refused: { ...correction, apply } };
  }

  private async agree(): Promise<void> {
    this.untilMs = Infinity;
    this.isAgreed = false;
    for (;;) {
      if (this.saga.journal.inDoubt && (await this.wasPlaced())) return;
      try {
        await this.agreeToQuote();
        return;
      } catch (error) {
        // Known to be in doubt from here on.
        if (!(error instanceof PlacedBefore)) throw error;
      }
    }
  }

  /** @throws PlacedBefore where there is nothing to agree to any more */
  private async agreeToQuote(): Promise<void> {
    const { saga, terms } = this;
    for (;;) {
      const quoted = await saga.must(
        { step: terms.step, act: terms.quote },
        { refusal: 'OrderRejected', corrections: this.corrections, placedBefore: () => this.wasPlaced() },
      );
      const { quote, approvalMaxAgeMs, quoteMaxAgeMs } = quoted;
      const quotedMs = Date.now();
      terms.step.say(describeQuote(quote));
      saga.progress.learn({ quote });
      const violations = guardViolations(quote, terms.guard);
      const isAgreed = !needsApproval(quote, terms.approval) || this.holds(quote, approvalMaxAgeMs);
      const isFit = quote.available && violations.length === 0;
      if ((!isFit || !isAgreed) && (await this.wasPlaced())) return;
      if (!quote.available) {
        await this.askOfUnavailable(quoted);
        continue;
      }
      if (violations.length > 0) throw new SagaFailed('GuardViolated', violations.join('; '));
      if (isAgreed) {
        this.quote = quote;
        this.isAgreed = true;
        this.untilMs = quotedMs + quoteMaxAgeMs;
        return;
      }
      this.approved = await approve(saga, terms, quoted, this.approved);
    }
  }

  /** By another run, or perhaps: nobody is asked about terms, and none are missed. */
  private async wasPlaced(): Promise<boolean> {
    const { saga, terms } = this;
    const placement = await placedBefore(saga);
    if (placement === undefined) return false;
    terms.step.end('skipped', whyPlacedBefore);
    this.quote = placement.note?.quote;
    if (this.quote) saga.progress.learn({ quote: this.quote });
    return true;
  }

  /** @throws SagaFailed where it ends the saga */
  private async askOfUnavailable(quoted: QuoteAnswer): Promise<void> {
    const { saga, terms } = this;
    const why = 'the provider says that it is not available';
    if (!asksAfterRefusal(saga.onRefusal, quoted)) throw new SagaFailed(terms.notAvailable, why);
    terms.step.end('stuck', why);
    const correction = this.corrections.refused;
    await askToRetry(
      saga.humanDecisions,
      refusedQuestion([terms], 'The provider says that it is not available.', { correction }),
    );
  }

  private holds(quote: Quote, approvalMaxAgeMs: number): boolean {
    const { approved } = this;
    return approved !== undefined && sameTerms(approved.quote, quote) && approved.agedMs <= approvalMaxAgeMs;
  }
}

async function approve(
  saga: Saga,
  { step, approval }: QuoteTerms,
  { quote, id }: Pick<QuoteAnswer, 'quote' | 'id'>,
  before: Approved | undefined,
): Promise<Approved> {
  const askedMs = Date.now();
  const moved =
    before === undefined ? '' : ` Approved before was ${describeQuote(before.quote)}; it moved or grew old.`;
  const question = `Approve ${describeQuote(quote)}?${moved}`;
  await askApproval(saga, { step, subject: id, question, expiresInMs: approvalExpiresInMs(approval) });
  return { quote, agedMs: Date.now() - askedMs };
}
