/**
 * How long a run's history has grown, and what a saga does about it. Temporal ends a run whose history is too long: it
 * undoes nothing then, and reports nothing. So a saga of long trouble goes slowly while there is room to put everything
 * back, and ends by itself while there still is.
 *
 * ```text
 *   events     0 ─────────────── 10,000 ─────── 15,000 ─────── 20,000 ─────────────── 25,000 ────────────── 51,200
 *   forward      side by side, with │ one after the other, once each, │ it fails as HistoryFull, and undoes;
 *                automatic retries  │ up to the first that fails      │ what may be left out waits on
 *   undoing      side by side, with automatic retries │ one after the other, once each  │ left behind, and listed
 * ```
 *
 * Steps under way at a mark go beyond it: 200 steps side by side by 3,400 events, one after the other by 2,200.
 * docs/internals/decisions.md#a-history-is-never-full has the sum.
 */
import { workflowInfo } from '@temporalio/workflow';

/**
 * From which events and bytes of its history on a saga goes more carefully. Temporal ends a run at 51,200 events or 50
 * MiB, as the server is shipped. Long before that a run is slow: whenever a worker takes it up anew, it replays all of
 * it, and has ten seconds for that. 15,000 events took it three seconds of processor time, and more than ten on a
 * machine that was busy.
 */
const MiB = 1024 * 1024;

const marks = {
  forward: { sideBySideTo: { events: 10_000, bytes: 14 * MiB }, waitsTo: { events: 20_000, bytes: 28 * MiB } },
  ownTriesTo: { events: 5_000, bytes: 7 * MiB },
  undoing: { sideBySideTo: { events: 15_000, bytes: 21 * MiB }, waitsTo: { events: 25_000, bytes: 35 * MiB } },
};

export const whyFull = 'the history of this run is full: it was tried too often';

/** Says whether steps are tried side by side, and again by themselves. */
export function hasRoomForMany(undoing: boolean): boolean {
  return isBelow(undoing ? marks.undoing.sideBySideTo : marks.forward.sideBySideTo);
}

/** Says whether a saga that waits for a person still tries by itself. */
export function hasRoomForOwnTries(): boolean {
  return isBelow(marks.ownTriesTo);
}

/** Says whether a person can still be asked. @param canBeLeftOut nothing has to be undone where nobody answers */
export function hasRoomToAsk(canBeLeftOut: boolean): boolean {
  return isBelow(canBeLeftOut ? marks.undoing.waitsTo : marks.forward.waitsTo);
}

/** As it was when the workflow task began: the same at a replay. */
function isBelow(mark: { events: number; bytes: number }): boolean {
  const { historyLength, historySize } = workflowInfo();
  return historyLength < mark.events && historySize < mark.bytes;
}
