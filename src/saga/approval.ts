/** A person's yes, before anything is placed. */
import { choicesOf } from '../domain/answers';
import { definedOnly } from '../domain/defined-only';
import type { WaitKind } from '../domain/progress';
import type { Concern } from '../domain/spending';
import { inWords } from '../domain/times';
import type { Step } from './progress';
import { describeRejection, SagaFailed } from './ends';
import type { Saga } from './saga';

export interface Approving {
  /** @default 'approval' */
  kind?: Extract<WaitKind, 'approval' | Concern['kind']>;
  step: Step;
  /** See {@link Question.subject}. */
  subject?: string;
  question: string;
  /** Rejected where nobody has decided so long after it was asked. */
  expiresInMs: number | undefined;
}

/** @throws SagaFailed `NotApproved` where it is rejected; StateChanged where it was placed, or may have been */
export async function askApproval(
  saga: Saga,
  { kind = 'approval', step, subject, question, expiresInMs }: Approving,
): Promise<void> {
  // What another run has bought, nobody should approve or reject.
  if (kind === 'approval') await saga.throwIfPlaced(step);
  const at = expiresInMs === undefined ? '' : inWords(new Date(Date.now() + expiresInMs).toISOString());
  const decision = await saga.humanDecisions.ask({
    kind,
    ...definedOnly({ subject }),
    step: step.id,
    question: at === '' ? question : `${question} Without an answer it is rejected on ${at}.`,
    choices: choicesOf(kind),
    ...(expiresInMs === undefined
      ? {}
      : { expiry: { inMs: expiresInMs, decision: { decision: 'reject', reason: `nobody answered until ${at}` } } }),
  });
  if (decision.decision !== 'reject') return;
  throw new SagaFailed('NotApproved', describeRejection(decision));
}
