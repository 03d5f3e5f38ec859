/**
 * Whether anybody still waits for this task: an answer of Temporal's, asked for right before a pivot is sent. A worker that
 * stood still may hold a task that was given up long ago, of a run that was reset, deleted or terminated since.
 */
import { Context } from '@temporalio/activity';
import { grpcCodeOf, grpcCodes } from '../temporal/grpc';
import { OwnFailure } from './translate-failure';

/** Whoever waits for longer is not likely to send within `SEND_WITHIN_MS` any more. */
const answerWithinMs = 2_500;

/** @throws OwnFailure `Unwanted`, or `TemporalUnavailable` where nobody can say */
export async function stillWanted(): Promise<void> {
  const { client, info } = Context.current();
  const { namespace } = client.options;
  try {
    await client.withDeadline(Date.now() + answerWithinMs, () =>
      client.workflowService.recordActivityTaskHeartbeat({ namespace, taskToken: info.taskToken }),
    );
  } catch (error) {
    if (grpcCodeOf(error) === grpcCodes.notFound) {
      throw new OwnFailure('Unwanted', 'Temporal has given this call up; nothing was sent');
    }
    throw new OwnFailure(
      'TemporalUnavailable',
      'Temporal could not say whether this call is still wanted; nothing was sent',
    );
  }
}
