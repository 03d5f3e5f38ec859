/**
 * Many decisions, one after the other: a job.
 *
 * ```text
 *   list whom it reaches ──▶ decide, at a pace, with a heartbeat of what came of each ──▶ report
 * ```
 *
 * A job is no saga: it calls no provider and no journal, and nothing of it has to be undone. Each decision is an update
 * that names the question which was listed, so a saga that has moved on refuses it. Request Cancellation stops it: what
 * was decided stays decided, and the report says what was not.
 */
import { ApplicationFailure } from '@temporalio/common';
import { ActivityCancellationType, proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { Activities } from '../../activities/index';
import { isJobId, type JobReport } from '../../domain/decide-many';
import { holdsSecret } from '../../domain/secrets';
import { plaintextRefused } from '../../saga/check-request';
import { cameAsPlaintext } from '../../saga/plaintext-input';

/** Nothing is harmed by a repeat: a look changes nothing, and an update with the same id is the same decision. */
const retry = { initialInterval: '1 second', maximumInterval: '30 seconds' } as const;
const { listDecisions } = proxyActivities<Pick<Activities, 'listDecisions'>>({
  startToCloseTimeout: '1 minute',
  retry,
  summary: 'list whom it reaches',
});
/** Ten thousand sagas, one in a hundred seconds, take eleven days. */
const { decideAll } = proxyActivities<Pick<Activities, 'decideAll'>>({
  startToCloseTimeout: '30 days',
  // Another worker takes it over after so long; and so long a cancellation may take to be noticed.
  heartbeatTimeout: '10 seconds',
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry,
  summary: 'decide',
});

export async function decideMany(request?: unknown): Promise<JobReport> {
  const { workflowId } = workflowInfo();
  if (!isJobId(workflowId)) {
    const message = `the workflow id must be decide-many/ and a name, and it is ${workflowId}`;
    throw ApplicationFailure.nonRetryable(message, 'InvalidRequest');
  }
  // Its decisions go out encrypted: no saga would see that a secret of a correction came in the clear.
  const [problem] = cameAsPlaintext(request) && holdsSecret(request) ? await plaintextRefused() : [];
  if (problem)
    throw ApplicationFailure.nonRetryable(`nothing was sent: ${problem.message}`, 'InvalidRequest', [problem]);
  return decideAll(request, await listDecisions(request));
}
