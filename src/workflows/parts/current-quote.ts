/**
 * The quote that a change order or a switch is placed at. Whether it may be placed at it, the pivot's own activity says:
 * by the guard, the approvals and the operator's rules as they are then.
 *
 * If the provider refuses, or it is not available, a person may be asked.
 *
 * A quote ages while the pivot waits to be sent, or to be sent again. So it is quoted again after each answer of a
 * person, and a quote that is too old is replaced before each sending.
 */
import { describeQuote, type Quote } from '../../domain/quotes';
import type { SagaFailureName } from '../../domain/failures';
import type { QuoteAnswer } from '../../activities/quotes';
import type { Act } from '../../saga/attempts';
import type { Step } from '../../saga/progress';
import { asksAfterRefusal, refusedQuestion, type Correction } from '../../saga/questions';
import { SagaFailed } from '../../saga/ends';
import type { Saga } from '../../saga/saga';

export interface QuoteTerms {
  readonly step: Step;
  quote: Act<QuoteAnswer>;
  notAvailable: SagaFailureName;
  /** A person may correct this if the provider refuses the quote. */
  correction: Correction;
}

export class CurrentQuote {
  quote: Quote | undefined;
  /** When the quote becomes too old for the pivot, in milliseconds since 1970. */
  private untilMs = Infinity;

  constructor(
    private readonly saga: Saga,
    private readonly terms: QuoteTerms,
  ) {}

  /** Called before each sending: replaces a quote that is too old. */
  async refresh(): Promise<void> {
    if (Date.now() >= this.untilMs) await this.renew();
  }

  /** The pivot must not be sent after this time. */
  get quoteUntil(): string | undefined {
    return this.untilMs === Infinity ? undefined : new Date(this.untilMs).toISOString();
  }

  /**
   * @throws SagaFailed when it is refused or not available and nobody is asked; StateChanged where another run has placed
   * it, or may have
   */
  async renew(): Promise<void> {
    const { saga, terms } = this;
    const { step, correction } = terms;
    this.untilMs = Infinity;
    for (;;) {
      const policy = { refusal: 'OrderRejected', corrections: { refused: correction } } as const;
      const quoted = await saga.must({ step, act: terms.quote }, policy);
      const { quote, quotedMs, quoteMaxAgeMs } = quoted;
      step.say(describeQuote(quote));
      saga.progress.learn({ quote });
      if (!quote.available) {
        await this.askOfUnavailable(quoted);
        continue;
      }
      this.quote = quote;
      this.untilMs = quotedMs + quoteMaxAgeMs;
      return;
    }
  }

  /** @throws SagaFailed where nobody is asked */
  private async askOfUnavailable(quoted: QuoteAnswer): Promise<void> {
    const { saga, terms } = this;
    const why = 'the provider says that it is not available';
    if (!asksAfterRefusal(saga.onRefusal, quoted)) throw new SagaFailed(terms.notAvailable, why);
    await saga.throwIfPlaced(terms.step);
    terms.step.end('stuck', why);
    const { correction } = terms;
    await saga.humanDecisions.ask(
      refusedQuestion([terms], 'The provider says that it is not available.', { correction }),
    );
  }
}
