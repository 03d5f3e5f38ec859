/**
 * What the two stories that buy at a quoted price have in common: quote, agree, place; or only quote.
 *
 * ```text
 *   quote ── quoteOnly ──▶ the quote
 *     └──▶ available?, guard, approval ═══ place ═══▶ the quote, and the placement
 * ```
 */
import type { CallContext } from '../activities/call';
import type { EffectContext } from '../activities/effect';
import type { QuoteAnswer } from '../activities/quotes';
import type { Effected, Placement } from '../domain/effects';
import type { SagaFailureName } from '../domain/failures';
import type { Quote } from '../domain/quotes';
import type { ApprovalRule, Guard } from '../domain/requests';
import type { Checked } from '../domain/validation';
import type { z } from 'zod';
import { CorrectedRequest } from '../saga/corrected-request';
import { PlacedBefore } from '../saga/ends';
import type { PivotStep } from '../saga/look-back';
import { placePivot } from '../saga/pivot';
import type { Saga } from '../saga/saga';
import { ApprovedQuote } from './approved-quote';

interface QuotedRequest {
  guard?: Guard | undefined;
  approval?: ApprovalRule | undefined;
  quoteOnly?: boolean | undefined;
}

export interface QuotedStory<R, P> {
  pivot: PivotStep;
  /** What is placed, for a question: "the change order". */
  noun: string;
  quoteTitle: string;
  notAvailable: SagaFailureName;
  check: (request: R) => Checked<R>;
  /** Of the fields that a person may correct. */
  correctionSchema: () => z.ZodObject;
  /** What a person looks for in the provider's control panel. */
  foundBy: (request: R) => string;
  quote: (request: R, context: CallContext) => Promise<QuoteAnswer>;
  place: (request: R, context: EffectContext) => Promise<Effected<Placement<P>>>;
}

/**
 * @param first the request with which the reference was taken
 * @param corrections by people, in earlier runs
 * @returns no placement where only a quote was asked for; no quote where another run placed it on terms that are not
 * known here
 * @throws SagaFailed when it is refused, not available, breaks the guard, or a person rejects it
 */
export async function placeQuoted<R extends QuotedRequest, P>(
  saga: Saga,
  first: R,
  corrections: unknown[],
  story: QuotedStory<R, P>,
): Promise<{ quote: Quote | undefined; placement?: Placement<P> }> {
  const { guard, approval, quoteOnly } = first;
  const { pivot, noun, notAvailable } = story;
  const corrected = new CorrectedRequest<R, Partial<R>>(saga, first, corrections, {
    apply: (request, correction) => ({ ...request, ...correction }),
    check: story.check,
  });
  const correction = corrected.correction(story.correctionSchema);
  const step = saga.step('quote', story.quoteTitle);
  const quote = ({ retry }: CallContext) => story.quote(corrected.request, { retry });
  if (quoteOnly) {
    const policy = { refusal: 'OrderRejected', corrections: { refused: correction } } as const;
    for (;;) {
      try {
        return { quote: (await saga.must({ step, act: quote }, policy)).quote };
      } catch (error) {
        // Nothing is corrected any more, as the ignored decision says: the first request is quoted again.
        if (!(error instanceof PlacedBefore)) throw error;
      }
    }
  }
  const placing = saga.step(pivot.id, pivot.title);
  const approved = new ApprovedQuote(saga, { step, quote, notAvailable, guard, approval, correction });
  await approved.come();
  const placement = await placePivot<P>(saga, {
    step: placing,
    noun,
    note: () => ({ foundBy: story.foundBy(corrected.request), quote: approved.quote }),
    act: (context) => story.place(corrected.request, context),
    refusal: 'OrderRejected',
    corrections: approved.corrections,
    timesCorrected: () => corrected.timesCorrected,
    approval,
    isAgreed: () => approved.isAgreed,
    beforeAgain: () => approved.come(),
    beforeSending: () => approved.refresh(),
    quoteUntil: () => approved.quoteUntil,
  });
  return { quote: approved.quote, placement };
}
