/**
 * A person's yes, before anything is placed: to a quote or a purchase, and to what stands against a pivot, as the journal
 * found it in the transaction that was to write it. That yes is written into the journal. It is a yes to what was read:
 * another price, another reference that came since, or more that was spent, is asked about again.
 */
import { describeConcern, type ReviewReason } from '../../domain/spending';
import { inWords } from '../../domain/times';
import { activities } from '../activities';
import { describeRejection, SagaFailed } from '../control-flow';
import type { Saga } from '../saga';
import type { Step } from '../shown/progress';
import type { Pivot } from '../steps';

/** What the question needs of a pivot. */
type Approving = Pick<Pivot<never>, 'noun' | 'approval' | 'approving'> &
  Partial<Pick<Pivot<never>, 'note'>> & { step: Step };

/** @throws SagaFailed `NotApproved` where it is rejected */
export async function askForReview(saga: Saga, asking: Approving, concern: ReviewReason): Promise<void> {
  const { step, noun, approval, approving } = asking;
  const { id, kind } = concern;
  const question =
    kind === 'approval'
      ? approving(concern.terms, concern.why.map((sentence) => ` ${sentence}`).join(''))
      : `Place ${noun} anyway? ${describeConcern(concern)}`;
  const { expiresAfterSeconds } = typeof approval === 'object' ? approval : {};
  const expiresInMs = expiresAfterSeconds && expiresAfterSeconds * 1_000;
  const at = expiresInMs === undefined ? '' : inWords(new Date(Date.now() + expiresInMs).toISOString());
  try {
    const decision = await saga.humanDecisions.ask({
      kind,
      subject: id,
      step: step.id,
      question: at === '' ? question : `${question} Without an answer it is rejected on ${at}.`,
      expiry:
        expiresInMs === undefined
          ? undefined
          : {
              inMs: expiresInMs,
              decision: { decision: 'reject', reason: `nobody answered until ${at}` },
            },
    });
    if (decision.decision !== 'approve') throw new SagaFailed('NotApproved', describeRejection(decision));
    const { by, note } = decision;
    const approval = { concern, by, note, quote: asking.note?.().quote };
    await saga.write('write-approval', 'Write the approval into the journal', ({ retry }) =>
      activities('write the approval into the journal').writeApproval({ ...approval, retry }),
    );
  } catch (error) {
    step.end('failed', 'not approved');
    throw error;
  }
}
