/** A person's yes, before anything is placed. */
import type { Step } from './progress';
import { SagaFailed, type Saga } from './saga';

export interface Approving {
  step: Step;
  /** See {@link Question.subject}. */
  subject?: string;
  question: string;
}

/** @throws SagaFailed `NotApproved` where it is rejected */
export async function askApproval(saga: Saga, { step, subject, question }: Approving): Promise<void> {
  const decision = await saga.desk.ask({
    kind: 'approval',
    ...(subject === undefined ? {} : { subject }),
    step: step.id,
    question,
    choices: ['approve', 'reject'],
  });
  if (decision.decision !== 'reject') return;
  const why = decision.reason ? `rejected: ${decision.reason}` : 'rejected';
  throw new SagaFailed('NotApproved', why);
}
