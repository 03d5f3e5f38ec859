/**
 * What stands against a pivot, as the journal found it in the transaction that was to mean it: a person is asked, and a
 * yes goes along with the next attempt. It is a yes to what was read: another reference that came since, or more that
 * was spent, is asked about again.
 */
import { approvalExpiresInMs, type ExpiringRule } from '../domain/quotes';
import { describeLimit, describePeriod, inAll, type Concern } from '../domain/spending';
import { inWords } from '../domain/times';
import { askApproval } from './approval';
import type { Step } from './progress';
import type { Saga } from './saga';

export interface Concerned {
  step: Step;
  /** What is to be placed: "the order", "the switch". */
  noun: string;
  /** The request's rule: how long a person has to answer. */
  approval: ExpiringRule | undefined;
}

/** @throws SagaFailed `NotApproved` where it is rejected */
export async function askAboutConcern(
  saga: Saga,
  { step, noun, approval }: Concerned,
  concern: Concern,
): Promise<void> {
  const { id, kind } = concern;
  const question = `Place ${noun} anyway? ${describe(concern)}`;
  try {
    await askApproval(saga, { kind, step, subject: id, question, expiresInMs: approvalExpiresInMs(approval) });
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
  return (
    `Account ${account.slice(0, 40)} has a limit of ${limit}. Spent in the last ${describePeriod(withinMs)}: ` +
    `${inAll({ spent, adds: 0 })} ${unit}. This one ${addition}${unpriced === undefined ? `: ${inAll(concern)} in all` : ''}.`
  );
}
