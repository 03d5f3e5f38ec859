/**
 * A person's yes, before anything is placed: to a quote or a purchase, and to what stands against a pivot, as the journal
 * found it in the transaction that was to write it. That yes goes along with the next attempt. It is a yes to what was
 * read: another reference that came since, or more that was spent, is asked about again.
 */
import { choicesOf } from '../domain/answers';
import { definedOnly } from '../domain/defined-only';
import type { WaitKind } from '../domain/progress';
import { approvalExpiresInMs, type ExpiringRule } from '../domain/quotes';
import { describeLimit, describePeriod, inAll, isCurrency, type Concern } from '../domain/spending';
import { inWords } from '../domain/times';
import { describeRejection, SagaFailed } from './ends';
import type { Step } from './progress';
import type { Saga } from './saga';

export interface Approving {
  /** @default 'approval' */
  kind?: Extract<WaitKind, 'approval' | Concern['kind']>;
  step: Step;
  /** See {@link Question.subject}. */
  subject?: string;
  question: string;
  /** The request's rule: how long a person has to answer. Then it is rejected. */
  approval: ExpiringRule | undefined;
}

/** @throws SagaFailed `NotApproved` where it is rejected; StateChanged where it was placed, or may have been */
export async function askApproval(
  saga: Saga,
  { kind = 'approval', step, subject, question, approval }: Approving,
): Promise<void> {
  // Nobody should approve or reject a purchase of another run.
  if (kind === 'approval') await saga.throwIfPlaced(step);
  const expiresInMs = approvalExpiresInMs(approval);
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
  if (decision.decision !== 'approve') throw new SagaFailed('NotApproved', describeRejection(decision));
}

/** @param noun "the order", "the switch". @throws SagaFailed `NotApproved` where it is rejected */
export async function askAboutConcern(
  saga: Saga,
  { step, noun, approval }: Pick<Approving, 'step' | 'approval'> & { noun: string },
  concern: Concern,
): Promise<void> {
  const { id, kind } = concern;
  const question = `Place ${noun} anyway? ${describe(concern)}`;
  try {
    await askApproval(saga, { kind, step, subject: id, question, approval });
  } catch (error) {
    step.end('failed', 'not approved');
    throw error;
  }
  saga.approved.push(concern);
}

function describe(concern: Concern): string {
  if (concern.kind === 'duplicate') {
    const { others, more, withinMs } = concern;
    const references = others.map(({ reference, at }) => `${reference} on ${inWords(at)}`).join(', ');
    return (
      `The same was bought within ${describePeriod(withinMs)} under another reference, or may have been: ` +
      `${references}${more ? ', and older ones' : ''}.`
    );
  }
  const { account, unit, withinMs, spent, adds, unpriced } = concern;
  const limit = describeLimit(concern);
  const addition = unpriced === undefined ? `adds ${adds}` : `adds nobody knows how much: ${unpriced}`;
  if (account === undefined) {
    return `It adds ${adds} ${unit} and names no account, so nobody knows whether a limit allows it, such as ${limit}.`;
  }
  const how = isCurrency(unit) ? ' Orders count as the price list estimates them, if there is one.' : '';
  return (
    `Account ${account.slice(0, 40)} has a limit of ${limit}. Spent in the last ${describePeriod(withinMs)}: ` +
    `${inAll({ spent, adds: 0 })} ${unit}. This one ${addition}${unpriced === undefined ? `: ${inAll(concern)} in all` : ''}.${how}`
  );
}
