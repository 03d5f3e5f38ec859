/**
 * How workflows call, and how often a call that was lost is made again: the numbers, and what was weighed for them.
 *
 * Budgets of automatic retries are settings of the activities; they reach the workflow in a failure's `retryInMs`.
 */
import {
  log,
  proxyActivities,
  proxyLocalActivities,
  workflowInfo,
  type ActivityInterfaceFor,
} from '@temporalio/workflow';
import type { Activities } from '../activities/index';

/**
 * One call of the provider, exactly once; some look before it or after it.
 *
 * - 50 s from start to close: the journal and the way to the socket (5 s at most), the longest HTTP
 *   timeout that the settings allow (25 s), a look (5 s) and the writing of the outcome (11 s). So a call ends by its own clock and
 *   says how; short enough that a killed worker is noticed within a minute.
 * - One attempt: a repeat is decided in the workflow, where it is counted and where an unknown outcome is remembered.
 * - No limit on the time in the queue: while no worker runs, a saga waits for one and is not stuck.
 */
export function activities(summary: string): ActivityInterfaceFor<Activities> {
  return proxyActivities<Activities>({ startToCloseTimeout: '50 seconds', retry: { maximumAttempts: 1 }, summary });
}

/** Calls of the journal and of Temporal, none of the provider: a repeat does no harm. */
type InPlace = Pick<Activities, 'takeReference' | 'writeEnding'>;

/** With this message `begin.ts` fails a workflow task, so that Temporal has it done once more. */
export const cancelledBeside = 'cancelled while a call in place ended';

/**
 * Makes a call of the journal in place, as a local activity: one marker in the history, no workflow task of its own, and
 * its arguments stand in no history. Where it fails, however it fails, the ordinary activity is to be called: its failure
 * is the one that counts, and a person sees it in the Web UI.
 *
 * If a query is answered while the call ends, the marker is written with this workflow task, but the run hears of it only
 * in the next one, after the other events of that task. A replay hears of it before them. The order must not matter: while
 * the call is under way, nothing else may lead to a command, no other call and no timer.
 *
 * - 3 s, one attempt: a local activity keeps its workflow task open, and a query waits for that.
 *
 * @returns undefined where it failed
 */
export async function viaLocalActivity<T>(
  summary: string,
  act: (journal: ActivityInterfaceFor<InPlace>) => Promise<T>,
): Promise<T | undefined> {
  try {
    return await act(
      proxyLocalActivities<InPlace>({ startToCloseTimeout: '3 seconds', retry: { maximumAttempts: 1 }, summary }),
    );
  } catch (error) {
    log.info('made as an ordinary activity', { summary, why: error instanceof Error ? error.name : typeof error });
    return undefined;
  }
}

/**
 * True from a reset run's first line on, also in what was copied: only an argument of a call may depend on it. The next
 * run of a chain has a start of its own, and is no reset.
 */
export function isReset(): boolean {
  const { runId, originalExecutionRunId } = workflowInfo();
  return runId !== originalExecutionRunId;
}

/**
 * Hands over what receivers are told, beside the saga's work, which does not wait for it; at its end the saga waits, but
 * not for long. Temporal makes the call again: that takes no event of the history, and nobody asks how often.
 */
export function telling(when: 'in background' | 'at the end') {
  const isLast = when === 'at the end';
  return proxyActivities<Pick<Activities, 'tell'>>({
    startToCloseTimeout: '15 seconds',
    retry: { initialInterval: '1 second', maximumInterval: '5 minutes' },
    scheduleToCloseTimeout: isLast ? '30 seconds' : '1 day',
    summary: isLast ? 'tell receivers of the end' : 'tell receivers',
    // If the queue has a rate, calls of the provider go first. An attempt under way is awaited; it hears nothing of
    // the cancellation.
    ...(isLast ? {} : { priority: { priorityKey: 5 }, cancellationType: 'WAIT_CANCELLATION_COMPLETED' }),
  });
}

/**
 * A call that ended without a word (its worker was killed or stopped) may be tried again this often, where a repeat is
 * allowed at all. Five workers that die under one step are no accident: a person looks.
 */
export const lostCallAttemptsMax = 5;

/** The dead worker's place is taken within seconds; the first repeat should not find the same gap. */
export const lostCallDelayMs = 2_000;
