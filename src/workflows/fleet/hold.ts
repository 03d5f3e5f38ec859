/**
 * Holds new sagas while it is open. A held saga asks again and again whether it is (`src/activities/temporal.ts`), so
 * nobody has to be told of its end, whatever ends it.
 */
import { ApplicationFailure } from '@temporalio/common';
import { condition, log, setCurrentDetails, upsertMemo, workflowInfo } from '@temporalio/workflow';
import { describeHold, holdOf, holdWorkflow, readHoldWords } from '../../domain/hold';
import { plainMarkdown } from '../../domain/markdown';

/** Longer than any "held since … by …" with a note of some sentences. */
const wordsCharsMax = 700;

export async function hold(given?: unknown): Promise<void> {
  const { workflowId, runId, startTime } = workflowInfo();
  if (workflowId !== holdWorkflow) {
    const message = `this holds nothing: the workflow id must be ${holdWorkflow}, and it is ${workflowId}`;
    throw ApplicationFailure.nonRetryable(message, 'InvalidRequest');
  }
  const words = readHoldWords(given);
  // Who starts it in the Web UI gives no memo, and workers and the command line read that.
  upsertMemo({ ...words });
  const inWords = describeHold(holdOf({ startTime, runId, memo: words }));
  log.warn('new sagas are held', { by: words.by });
  setCurrentDetails(
    [
      `### New sagas are ${plainMarkdown(inWords, wordsCharsMax)}`,
      'Press **Request Cancellation** to let them begin. Each asks again within five minutes. Those under way go on.\n\n\u00a0',
    ].join('\n\n'),
  );
  await condition(() => false);
}
