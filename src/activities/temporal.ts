/** Asks Temporal about the hold and about other sagas. It keeps nothing of an answer. */
import { Context } from '@temporalio/activity';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import { describeHolder, type Hold } from '../domain/hold';
import { waitKinds, type WaitKind } from '../domain/progress';
import { sagaAttributes } from '../temporal/search-attributes';
import { describeRun, grpcCodeOf, grpcCodes, isOpen, lookAtHold } from '../temporal/service';
import { OwnFailure } from './translate-failure';

const answerWithinMs = 2_500;

/** Fails while new sagas are held, and Temporal makes it again: that takes no event of the saga's history. */
export async function awaitRelease(): Promise<void> {
  const hold = await whoHolds();
  if (hold === undefined) return;
  const category = ApplicationFailureCategory.BENIGN;
  throw ApplicationFailure.create({ type: 'Held', message: `new sagas are ${describeHolder(hold)}`, category });
}

/**
 * The hold that a new saga has to wait for. It is asked once for each saga that begins.
 *
 * @returns undefined where it may begin. @throws OwnFailure `TemporalUnavailable` where Temporal does not answer
 */
export async function whoHolds(): Promise<Hold | undefined> {
  const { client } = Context.current();
  try {
    return await client.withDeadline(Date.now() + answerWithinMs, () => lookAtHold(client));
  } catch {
    throw new OwnFailure('TemporalUnavailable', 'Temporal could not say whether new sagas are held; nothing was sent');
  }
}

/** @returns undefined where no run of this workflow id does more. One that Temporal has forgotten does not */
export async function lookAtRun(workflowId: string): Promise<{ waits: WaitKind | undefined } | undefined> {
  try {
    const run = await describeRun(Context.current().client, workflowId);
    const state = run.typedSearchAttributes.get(sagaAttributes.state);
    return isOpen(run) ? { waits: waitKinds.find((kind) => kind === state) } : undefined;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw new OwnFailure('TemporalUnavailable', `Temporal could not say whether ${workflowId} is running`);
  }
}

export function isNotFound(error: unknown): boolean {
  return grpcCodeOf(error) === grpcCodes.notFound || (error as Error).name === 'WorkflowNotFoundError';
}
