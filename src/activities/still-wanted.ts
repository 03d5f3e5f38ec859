/**
 * Asks Temporal whether it still waits for this task, right before a call that changes something is sent. A worker that
 * was suspended may hold a task that Temporal gave up long ago, of a run that was reset, deleted or terminated since.
 */
import { Context } from '@temporalio/activity';
import { grpcCodeOf, grpcCodes } from '../temporal/grpc';
import { OwnFailure } from './translate-failure';

/** After a longer wait the call could hardly be sent within `SEND_WITHIN_MS`. */
const answerWithinMs = 2_500;

/** @throws OwnFailure `Unwanted`, or `TemporalUnavailable` where Temporal does not answer */
export async function stillWanted(): Promise<void> {
  const { client, info } = Context.current();
  const { namespace } = client.options;
  try {
    await client.withDeadline(Date.now() + answerWithinMs, () =>
      client.workflowService.recordActivityTaskHeartbeat({ namespace, taskToken: info.taskToken }),
    );
  } catch (error) {
    if (grpcCodeOf(error) === grpcCodes.notFound) {
      throw new OwnFailure('Unwanted', 'Temporal no longer waits for this call; nothing was sent');
    }
    throw new OwnFailure(
      'TemporalUnavailable',
      'Temporal could not say whether this call is still wanted; nothing was sent',
    );
  }
}
