/**
 * The two sagas that buy at a quoted price have this in common: quote, agree, place; or only quote.
 *
 * ```text
 *   quote ── quoteOnly ──▶ the quote
 *     └──▶ available? ═══ guard, approval, place ═══▶ the quote, and the placement
 * ```
 *
 * Whether it may be placed at the quote, the pivot's own activity says: by the guard, the approvals and the operator's
 * rules as they are then. If the provider refuses, or it is not available, a person may be asked.
 *
 * A quote ages while the pivot waits to be sent, or to be sent again. So it is quoted again after each answer of a
 * person, and a quote that is too old is replaced before each sending.
 */
import type { z } from 'zod';
import type { CallContext } from '../../activities/call';
import type { EffectContext } from '../../activities/effect';
import type { QuoteAnswer } from '../../activities/quotes';
import type { Effected, Placement } from '../../domain/effects';
import type { SagaFailureName } from '../../domain/failures';
import { describeQuote, type Quote } from '../../domain/quotes';
import type { RequestOf } from '../../domain/requests';
import type { SagaResult } from '../../domain/results';
import type { Checked } from '../../domain/validation';
import { CorrectedRequest } from '../../saga/people/corrected-request';
import { SagaFailed } from '../../saga/control-flow';
import { asksAfterRefusal, refusedQuestion } from '../../saga/people/questions';
import type { DefineSaga } from '../../saga/definition';

type Quoted = 'changeOrder' | 'switchPlan';

/** What the results of both have. */
type Told = Pick<SagaResult<Quoted>, 'reference' | 'quote' | 'placed' | 'decisions'>;

export interface QuotedSaga<W extends Quoted, P> {
  pivot: { id: string; title: string };
  /** For a question: "the change order". */
  noun: string;
  quoteTitle: string;
  notAvailable: SagaFailureName;
  check: (request: RequestOf[W]) => Checked<RequestOf[W]>;
  /** Reads the fields that a person may correct. */
  correctionSchema: () => z.ZodObject;
  /** A person looks for this in the provider's control panel. */
  foundBy: (request: RequestOf[W]) => string;
  quote: (request: RequestOf[W], context: CallContext) => Promise<QuoteAnswer>;
  place: (request: RequestOf[W], context: EffectContext) => Promise<Effected<Placement<P>>>;
  /** The report says this of what was placed, by name. */
  facts: (placed: Placement<P>) => Record<string, unknown>;
  /** @param placed undefined where only a quote was asked for */
  result: (told: Told, placed?: Placement<P>) => SagaResult<W>;
  /** A sentence where it was placed on other terms than these. */
  differs?: (placed: Placement<P>, agreed: Quote) => string | undefined;
}

export function placeQuoted<W extends Quoted, P>(spec: QuotedSaga<W, P>): DefineSaga<W, P> {
  return (saga, first, { corrections }) => {
    const { reference, approval, quoteOnly } = first;
    const { progress } = saga;
    const { decisions } = progress;
    const corrected = new CorrectedRequest<RequestOf[W], Partial<RequestOf[W]>>(saga, first, corrections, {
      apply: (request, correction) => ({ ...request, ...correction }),
      check: spec.check,
    });
    const refusal = 'OrderRejected';
    const correction = corrected.correction(spec.correctionSchema);
    const quoting = () => saga.step('quote', spec.quoteTitle);
    const ask = () => {
      const act = ({ retry }: CallContext) => spec.quote(corrected.request, { retry });
      return saga.must({ step: quoting(), act }, { refusal, corrections: { refused: correction } });
    };
    if (quoteOnly) {
      const finish = async () => {
        const { quote } = await ask();
        return spec.result({ reference, quote, placed: false, decisions });
      };
      return { finish };
    }
    let current: Quote | undefined;
    /** From then on the quote is too old for the pivot, in milliseconds since 1970. */
    let untilMs = Infinity;
    const quoteAnew = async () => {
      untilMs = Infinity;
      for (;;) {
        const answer = await ask();
        const { quote, quotedMs, quoteMaxAgeMs } = answer;
        quoting().setDetail(describeQuote(quote));
        progress.addFacts({ quote });
        if (quote.available) {
          current = quote;
          untilMs = quotedMs + quoteMaxAgeMs;
          return;
        }
        const why = 'the provider says that it is not available';
        if (!asksAfterRefusal(saga.onRefusal, answer)) throw new SagaFailed(spec.notAvailable, why);
        const step = quoting();
        await saga.throwIfPlaced(step);
        step.end('stuck', why);
        const said = 'The provider says that it is not available.';
        await saga.humanDecisions.ask(refusedQuestion([{ step }], said, { correction }));
      }
    };
    const { id, title } = spec.pivot;
    return {
      prepare: quoteAnew,
      pivot: {
        get step() {
          return saga.step(id, title);
        },
        noun: spec.noun,
        facts: spec.facts,
        note: () => ({ foundBy: spec.foundBy(corrected.request), quote: current }),
        act: (context) => spec.place(corrected.request, context),
        refusal,
        corrections: { refused: correction },
        timesCorrected: () => corrected.corrections.length,
        approval,
        approving: (_, why) => `Approve ${current ? describeQuote(current) : spec.noun}?${why}`,
        beforeSending: async () => {
          if (Date.now() >= untilMs) await quoteAnew();
        },
        quoteUntil: () => (untilMs === Infinity ? undefined : new Date(untilMs).toISOString()),
      },
      finish: ({ placement, note }) => {
        const agreed = note?.quote;
        if (agreed) progress.addFacts({ quote: agreed });
        progress.addFacts(spec.facts(placement));
        const other = agreed && spec.differs?.(placement, agreed);
        if (other !== undefined) saga.step(id, title).setDetail(other);
        return Promise.resolve(spec.result({ reference, quote: agreed, placed: true, decisions }, placement));
      },
    };
  };
}
