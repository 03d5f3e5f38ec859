/**
 * How much Temporal still takes of a run. It ends one whose history has grown too long: nothing is undone then, and nothing is told. So
 * a saga of long trouble goes slowly while there is room to put everything back, and ends by itself while there still is.
 *
 * ```text
 *            0 ─────────────────────── 0.4 ───────────────────────── 0.7 ──────────────── 0.8 ────────── 1
 *   forward    side by side, with        one after the other, once     it fails as HistoryFull, and undoes;
 *              automatic retries         each, up to a failure         what may be left out waits on to 0.8
 *   undoing    side by side, with automatic retries ─── 0.6 ─── one after the other ─── 0.8 ─ left behind, and told
 * ```
 *
 * What is under way at a mark may go beyond it: 200 steps side by side by 3,400 of the 51,200 events, and each of the three passes one
 * after the other that may come after the last mark by 2,200. docs/decisions/0025 has the sum.
 */
import { workflowInfo } from '@temporalio/workflow';
import { historyMax } from './history-max';

/** Nothing more can be waited for; see the module. */
export class HistoryIsFull extends Error {}

export const whyFull = 'the history of this run is full: Temporal takes hardly any more of it';

/** Whether steps are tried side by side, and again by themselves. */
export function hasRoomForMany(undoing: boolean): boolean {
  return used() < (undoing ? 0.6 : 0.4);
}

/** Whether a person can still be asked. @param canBeLeftOut nothing has to be put back where nobody answers */
export function hasRoomToAsk(canBeLeftOut: boolean): boolean {
  return used() < (canBeLeftOut ? 0.8 : 0.7);
}

/** From 0 to 1, as it was when the workflow task began: the same at a replay. */
function used(): number {
  const { historyLength, historySize } = workflowInfo();
  return Math.max(historyLength / historyMax.events, historySize / historyMax.bytes);
}
