/**
 * What the two sagas that buy at a quoted price have in common: the quote, and the request that it is for.
 *
 * Whether it may be placed at the quote, the pivot's own activity says: by the guard, the approvals and the operator's
 * rules as they are then. If the provider refuses, or it is not available, a person may be asked.
 *
 * A quote ages while the pivot waits to be sent, or to be sent again. So it is quoted again after each answer of a
 * person, and a quote that is too old is replaced before each sending.
 */
import type { z } from 'zod';
import type { CallContext } from '../../activities/call';
import type { QuoteAnswer } from '../../activities/quotes';
import type { SagaFailureName } from '../../domain/failures';
import { cutWell } from '../../domain/markdown';
import { describeQuote, type Quote } from '../../domain/quotes';
import type { RequestOf } from '../../domain/requests';
import type { Checked } from '../../domain/validation';
import { CorrectedRequest } from '../../saga/people/corrected-request';
import { SagaFailed } from '../../saga/control-flow';
import { asksAfterRefusal, refusedQuestion, type Correction } from '../../saga/people/questions';
import type { Saga } from '../../saga/saga';
import type { Pivot } from '../../saga/steps';

/** Of what an approval is for: a change may name two hundred resources. */
const ofCharsMax = 300;

interface Quoting<R> {
  /** For a question: "the change order". */
  noun: string;
  notAvailable: SagaFailureName;
  check: (request: R) => Checked<R>;
  /** Reads the fields that a person may correct. */
  correctionSchema: () => z.ZodObject;
  quote: (request: R, context: CallContext) => Promise<QuoteAnswer>;
}

export class Quotation<R extends RequestOf['changeOrder' | 'switchPlan']> {
  private readonly corrected: CorrectedRequest<R, Partial<R>>;
  private readonly correction: Correction;
  private current: Quote | undefined;
  /** From then on the quote is too old for the pivot, in milliseconds since 1970. */
  private untilMs = Infinity;

  constructor(
    private readonly saga: Saga,
    private readonly first: R,
    private readonly quoting: Quoting<R>,
  ) {
    const { check, correctionSchema } = quoting;
    this.corrected = new CorrectedRequest(saga, first, { check });
    this.correction = this.corrected.correction(correctionSchema);
  }

  /** With all corrections so far. */
  get request(): R {
    return this.corrected.request;
  }

  private get step() {
    return this.saga.step('quote', `Quote ${this.quoting.noun}`);
  }

  /** For a saga that places nothing. */
  async only() {
    const { quote } = await this.ask();
    return { reference: this.first.reference, quote, placed: false, decisions: this.saga.progress.decisions };
  }

  private ask(): Promise<QuoteAnswer> {
    const act = ({ retry }: CallContext) => this.quoting.quote(this.request, { retry });
    const corrections = { refused: this.correction };
    return this.saga.must({ step: this.step, act }, { refusal: 'OrderRejected', corrections });
  }

  /** Until it is available, as often as a person corrects it. @throws SagaFailed where nobody is asked */
  async askUntilAvailable(): Promise<void> {
    const { saga, correction } = this;
    this.untilMs = Infinity;
    for (;;) {
      const answer = await this.ask();
      const { quote, quotedMs, quoteMaxAgeMs } = answer;
      const { step } = this;
      step.setDetail(describeQuote(quote));
      saga.progress.addFacts({ quote });
      if (quote.available) {
        this.current = quote;
        this.untilMs = quotedMs + quoteMaxAgeMs;
        return;
      }
      const why = 'the provider says that it is not available';
      if (!asksAfterRefusal(saga.onRefusal, answer)) throw new SagaFailed(this.quoting.notAvailable, why);
      await saga.throwIfPlaced(step);
      step.end('stuck', why);
      const said = 'The provider says that it is not available.';
      await saga.humanDecisions.ask(refusedQuestion([{ step }], said, { correction }));
    }
  }

  /**
   * What a pivot at this quote has.
   *
   * @param foundBy a person looks for this in the provider's control panel
   * @param changes what is more than that, for who approves it
   */
  pivot(foundBy: (request: R) => string, changes: (request: R) => readonly string[] = () => []) {
    const { corrected, correction, first, quoting } = this;
    return {
      noun: quoting.noun,
      note: () => ({ foundBy: foundBy(this.request), quote: this.current }),
      corrections: { refused: correction },
      timesCorrected: () => corrected.corrections.length,
      approval: first.approval,
      approving: (_, why) => {
        const { account } = this.request;
        const named = [foundBy(this.request), ...(account === undefined ? [] : [`account ${account}`])];
        const of = cutWell([...named, ...changes(this.request)].join(', '), ofCharsMax);
        const price = this.current ? `: ${describeQuote(this.current)}` : '';
        return `Approve ${quoting.noun} (${of})${price}?${why}`;
      },
      beforeSending: async () => {
        if (Date.now() >= this.untilMs) await this.askUntilAvailable();
      },
      quoteUntil: () => (this.untilMs === Infinity ? undefined : new Date(this.untilMs).toISOString()),
    } satisfies Partial<Pivot<never>>;
  }
}
