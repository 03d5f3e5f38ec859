/**
 * The hold: new sagas wait before their first call, while a run with this one id is open (docs/internals/decisions.md#the-hold-is-a-run).
 * Everybody who may start a workflow may hold; the end of that run, in any way, ends the hold.
 */
import { cutWell } from './markdown';
import { inWords } from './times';
import { isFilled, isRecord } from './values';

/** Its type, and its id: Temporal never runs two of one id. */
export const holdWorkflow = 'hold';

/** Who holds, and why, as far as it is known: the input and the memo of a hold's run. */
export interface HoldWords {
  by?: string;
  note?: string;
}

export interface Hold extends HoldWords {
  /** ISO time. */
  since: string;
  /** The run of the workflow that is the hold. */
  runId: string;
}

/** @param given an object from outside, of any shape: what cannot be read is left out */
export function readHoldWords(given: unknown): HoldWords {
  const { by, note } = isRecord(given) ? given : {};
  return {
    ...(typeof by === 'string' && isFilled(by) ? { by: cutWell(by, 200) } : {}),
    ...(typeof note === 'string' && isFilled(note) ? { note: cutWell(note, 500) } : {}),
  };
}

/** Reads the hold from a description of its run. */
export function holdOf({ startTime, runId, memo }: { startTime: Date; runId: string; memo?: unknown }): Hold {
  return { since: startTime.toISOString(), runId, ...readHoldWords(memo) };
}

/** "held since 2026-01-31 22:15:00 UTC by ann (moving the database)" */
export function describeHold({ note, ...hold }: Hold): string {
  return `${describeHolder(hold)}${note === undefined ? '' : ` (${note})`}`;
}

/** The same without the note, which may name the accounts of others: for each saga that is held. */
export function describeHolder({ since, by }: Pick<Hold, 'since' | 'by'>): string {
  return `held since ${inWords(since)}${by === undefined ? '' : ` by ${by}`}`;
}
