/**
 * The hold: new sagas wait before their first call. It is on while a run with this one id is open in the namespace; no file, row or setting
 * says so (docs/decisions/0019). So everybody who may start a workflow may hold, and ending that run, in any way, ends the hold.
 */
import { z } from 'zod';
import { lazy } from './lazy';

/** Its type, and its id: Temporal never runs two of one id. */
export const holdWorkflow = 'hold';

/** Signals the held sagas to go on. It may have any id; two at once do no harm. */
export const releaseWorkflow = 'releaseHeld';

/** Update and signal of the hold: it ends. */
export const releaseName = 'release';

/** Signal to a saga that is held: it looks again. A saga that is not held ignores it. */
export const heldReleasedSignal = 'heldReleased';

/** A thousand held sagas begin within a minute. */
export const releasePerSecondDefault = 20;

/** From one in a hundred seconds to a load that a namespace of Temporal takes easily. */
const perSecondMin = 0.01;
const perSecondMax = 100;

const text = (charsMax: number) =>
  z.string('must be a string').max(charsMax, `must not have more than ${charsMax} characters`);

/** What should be given. Nothing is refused for it: a hold that was started in a hurry, with any input, holds anyway. */
export const holdSchema = lazy(() => z.strictObject({ by: text(200).optional(), note: text(500).optional() }));

export const releaseSchema = lazy(() =>
  z.strictObject({
    by: text(200).optional(),
    note: text(4_000).optional(),
    perSecond: z
      .number('must be a number')
      .min(perSecondMin, `must be from ${perSecondMin} to ${perSecondMax}`)
      .max(perSecondMax, `must be from ${perSecondMin} to ${perSecondMax}`)
      .default(releasePerSecondDefault),
  }),
);
export type Release = z.output<ReturnType<typeof releaseSchema>>;

/** Who holds, and why, as far as it is known. */
export interface HoldWords {
  by?: string;
  note?: string;
}

export interface Hold extends HoldWords {
  /** ISO time. */
  since: string;
  /** Of the workflow that is the hold. */
  runId: string;
}

/** @param given an object from outside, of any shape: what cannot be read is left out */
export function readHoldWords(given: unknown): HoldWords {
  const { by, note } = (typeof given === 'object' && given !== null ? given : {}) as Record<string, unknown>;
  return {
    ...(typeof by === 'string' && by !== '' ? { by: by.slice(0, 200) } : {}),
    ...(typeof note === 'string' && note !== '' ? { note: note.slice(0, 500) } : {}),
  };
}

/** "held since 2026-01-31 22:15:00 UTC by ann (moving the database)" */
export function describeHold({ since, by, note }: Hold): string {
  const who = by === undefined ? '' : ` by ${by}`;
  const why = note === undefined ? '' : ` (${note})`;
  return `held since ${since.slice(0, 19).replace('T', ' ')} UTC${who}${why}`;
}

/**
 * How held sagas are released: some at once, then a pause, then the next ones. At most `perSecond` begin in one second (or one, where the
 * rate is below one), and all of them together take no longer than the rate requires.
 */
export function wavesOf<T>(held: readonly T[], perSecond: number): { wave: T[]; pauseMs: number }[] {
  const size = Math.max(1, Math.floor(perSecond));
  const pauseMs = Math.ceil((size / perSecond) * 1_000);
  const waves = [];
  for (let from = 0; from < held.length; from += size) waves.push({ wave: held.slice(from, from + size), pauseMs });
  return waves;
}
