/**
 * The two stories that buy at a quoted price have this in common: quote, agree, place; or only quote.
 *
 * ```text
 *   quote ── quoteOnly ──▶ the quote
 *     └──▶ available? ═══ guard, approval, place ═══▶ the quote, and the placement
 * ```
 */
import type { z } from 'zod';
import type { CallContext } from '../../activities/call';
import type { EffectContext } from '../../activities/effect';
import type { QuoteAnswer } from '../../activities/quotes';
import type { Effected, Placement } from '../../domain/effects';
import type { SagaFailureName } from '../../domain/failures';
import { describeQuote, type Quote } from '../../domain/quotes';
import type { RequestOf } from '../../domain/requests';
import type { StoryResult } from '../../domain/results';
import type { Checked } from '../../domain/validation';
import { CorrectedRequest } from '../../saga/corrected-request';
import type { StoryOf } from '../../saga/story';
import { CurrentQuote } from './current-quote';

type Quoted = 'changeOrder' | 'switchPlan';

type Told<W extends Quoted> = Omit<StoryResult<W>, 'reference' | 'quote' | 'placed' | 'decisions'>;

export interface QuotedStory<W extends Quoted, P> {
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
  /** The report and the result say this of what was placed, by name. */
  known: (placed: Placement<P>) => Told<W>;
  /** A sentence where it was placed on other terms than these. */
  differs?: (placed: Placement<P>, agreed: Quote) => string | undefined;
  /** The result says this if only a quote was asked for. */
  unplaced: Told<W>;
}

export function placeQuoted<W extends Quoted, P>(spec: QuotedStory<W, P>): StoryOf<W, P> {
  return (saga, first, { corrections }) => {
    const { reference, approval, quoteOnly } = first;
    const { progress } = saga;
    const corrected = new CorrectedRequest<RequestOf[W], Partial<RequestOf[W]>>(saga, first, corrections, {
      apply: (request, correction) => ({ ...request, ...correction }),
      check: spec.check,
    });
    const correction = corrected.correction(spec.correctionSchema);
    const quote = ({ retry }: CallContext) => spec.quote(corrected.request, { retry });
    const step = () => saga.step('quote', spec.quoteTitle);
    const { decisions } = progress;
    if (quoteOnly) {
      const policy = { refusal: 'OrderRejected', corrections: { refused: correction } } as const;
      const finish = async () => {
        const quoted = await saga.must({ step: step(), act: quote }, policy);
        const result = { reference, quote: quoted.quote, placed: false, ...spec.unplaced, decisions };
        return result as unknown as StoryResult<W>;
      };
      return { finish };
    }
    const current = new CurrentQuote(saga, {
      get step() {
        return step();
      },
      quote,
      notAvailable: spec.notAvailable,
      correction,
    });
    const { id, title } = spec.pivot;
    return {
      prepare: () => current.renew(),
      pivot: {
        get step() {
          return saga.step(id, title);
        },
        noun: spec.noun,
        known: spec.known,
        note: () => ({ foundBy: spec.foundBy(corrected.request), quote: current.quote }),
        act: (context) => spec.place(corrected.request, context),
        refusal: 'OrderRejected',
        corrections: { refused: correction },
        timesCorrected: () => corrected.corrections.length,
        approval,
        approving: (_, why) => `Approve ${current.quote ? describeQuote(current.quote) : spec.noun}?${why}`,
        beforeSending: () => current.refresh(),
        quoteUntil: () => current.quoteUntil,
      },
      finish: ({ placement, note }) => {
        const agreed = note?.quote;
        if (agreed) progress.learn({ quote: agreed });
        const told = spec.known(placement);
        progress.learn(told);
        const other = agreed && spec.differs?.(placement, agreed);
        if (other !== undefined) saga.step(id, title).say(other);
        const result = { reference, quote: agreed, placed: true, ...told, decisions };
        return Promise.resolve(result as unknown as StoryResult<W>);
      },
    };
  };
}
