/** Keeps in the journal what Temporal forgets: who has asked something of a run. Whoever calls it works on without. */
import { Context, log } from '@temporalio/activity';
import type { Journal } from '../journal/journal';
import { writeDeeds } from '../journal/people';
import type { SagaKey } from '../journal/rows';
import { deedsOf } from '../temporal/deeds';
import { describeRun } from '../temporal/service';

/** The run's end waits for it. */
const answerWithinMs = 1_000;

/** @param runId absent: of the latest run */
export async function keepDeeds(journal: Journal, saga: SagaKey, workflowId: string, runId?: string): Promise<void> {
  const { client } = Context.current();
  try {
    const { run, deeds } = await client.withDeadline(Date.now() + answerWithinMs, async () => {
      const run = runId ?? (await describeRun(client, workflowId)).runId;
      return { run, deeds: await deedsOf(client, workflowId, run) };
    });
    await writeDeeds(journal, saga, run, deeds);
  } catch (err) {
    log.warn('who has asked something of the run is not in the journal', { err });
  }
}
