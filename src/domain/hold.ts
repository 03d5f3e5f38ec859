/**
 * The hold: new sagas wait before their first call. It is on while a run with this one id is open in the namespace; no
 * file, row or setting says so (docs/decisions/0019). So everybody who may start a workflow may hold, and ending that
 * run, in any way, ends the hold.
 */
import { z } from 'zod';
import { lazy } from './lazy';
import { cutWell } from './markdown';
import { probePlanSchema, type ProbePlan } from './hold-probe';

/** Its type, and its id: Temporal never runs two of one id. */
export const holdWorkflow = 'hold';

/** Signals the held sagas to go on. It may have any id; two at once do no harm. */
export const releaseWorkflow = 'releaseHeld';

/** Update and signal of the hold: it ends. */
export const releaseName = 'release';

/**
 * Update and signal of the hold: a person makes a hold that a worker has set their own, and nothing but a person ends
 * it then.
 */
export const keepName = 'keep';

/** Signal to a saga that is held: it looks again. A saga that is not held ignores it. */
export const heldReleasedSignal = 'heldReleased';

/** A thousand held sagas begin within a minute. */
const releasePerSecondDefault = 20;

/** From one in a hundred seconds to a load that a namespace of Temporal takes easily. */
const perSecondMin = 0.01;
const perSecondMax = 100;

const text = (charsMax: number) =>
  z.string('must be a string').max(charsMax, `must not have more than ${charsMax} characters`);

/**
 * What should be given. Nothing is refused for it: a hold that was started in a hurry, with any input, holds anyway.
 */
export const holdSchema = lazy(() =>
  z.strictObject({
    by: text(200).optional(),
    note: text(500).optional(),
    /** A worker set it, because it saw an outage. */
    detected: z.literal(true).optional(),
    /** It is released when probes are answered. Without it only a person releases it. */
    probe: probePlanSchema().optional(),
  }),
);

export const keepSchema = lazy(() => z.strictObject({ by: text(200).optional(), note: text(500).optional() }));

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

/** What a hold is started with. */
export interface HoldStart extends HoldWords {
  detected?: true;
  probe?: ProbePlan;
}

export interface Hold extends HoldWords {
  /** ISO time. */
  since: string;
  /** Of the workflow that is the hold. */
  runId: string;
  /** A worker set it, because it saw an outage, and no person has taken it over. */
  detected?: true;
  /** Present where probes release it. */
  probing?: Probing;
}

export interface Probing {
  /** Probes in a row that were not answered. */
  failed: number;
  /** Sagas that were let go since, and made no call: they wait for something else, or no worker answers for them. */
  silent?: number;
  /** When the next one begins, ISO time; absent while one is under way. */
  nextAt?: string;
}

/** What the run of the hold says of itself in its memo. Whoever starts it in the Web UI gives none. */
export interface HoldMemo extends HoldWords {
  detected: boolean;
  /** When the hold began, in an earlier run of it: a hold that probes for long goes on as another run. */
  since?: string;
  probing: Probing | null;
  /** The held sagas that a probe lets go: their workflow ids. */
  letGo: string[];
  /** Written at its end. A hold that was terminated has none. */
  releasedBy?: 'person' | 'probes';
}

/** @param given an object from outside, of any shape: what cannot be read is left out */
export function readHoldWords(given: unknown): HoldWords {
  const { by, note } = fieldsOf(given);
  return {
    ...(typeof by === 'string' && by !== '' ? { by: cutWell(by, 200) } : {}),
    ...(typeof note === 'string' && note !== '' ? { note: cutWell(note, 500) } : {}),
  };
}

/** As {@link readHoldWords}. A plan for probes that is not one leaves the hold to a person. */
export function readHoldStart(given: unknown): HoldStart & { since?: string; failed: number } {
  const { detected, probe, since, failed } = fieldsOf(given);
  const plan = probePlanSchema().safeParse(probe);
  return {
    ...readHoldWords(given),
    ...(detected === true ? { detected } : {}),
    ...(plan.success ? { probe: plan.data } : {}),
    ...(typeof since === 'string' && !Number.isNaN(Date.parse(since)) ? { since } : {}),
    failed: typeof failed === 'number' ? failed : 0,
  };
}

/** What a run that holds, or held, tells in its memo. */
export function readHoldMemo(memo: unknown): Omit<HoldMemo, 'probing'> & { probing?: Probing } {
  const { detected, since, probing, letGo, releasedBy } = fieldsOf(memo);
  const { failed, silent, nextAt } = fieldsOf(probing);
  return {
    ...readHoldWords(memo),
    detected: detected === true,
    ...(typeof since === 'string' ? { since } : {}),
    ...(typeof failed === 'number'
      ? {
          probing: {
            failed,
            ...(typeof silent === 'number' && silent > 0 ? { silent } : {}),
            ...(typeof nextAt === 'string' ? { nextAt } : {}),
          },
        }
      : {}),
    letGo: Array.isArray(letGo) ? letGo.filter((id) => typeof id === 'string') : [],
    ...(releasedBy === 'person' || releasedBy === 'probes' ? { releasedBy } : {}),
  };
}

function fieldsOf(given: unknown): Record<string, unknown> {
  return (typeof given === 'object' && given !== null ? given : {}) as Record<string, unknown>;
}

/** The hold as a description of its run tells it. */
export function holdOf({ startTime, runId, memo }: { startTime: Date; runId: string; memo?: unknown }): Hold {
  const { detected, since, probing, ...words } = readHoldMemo(memo);
  return {
    since: since ?? startTime.toISOString(),
    runId,
    ...readHoldWords(words),
    ...(detected ? { detected } : {}),
    ...(probing ? { probing } : {}),
  };
}

/** "held since 2026-01-31 22:15:00 UTC by ann (moving the database)" */
export function describeHold({ note, ...hold }: Hold): string {
  return `${describeHolder(hold)}${note === undefined ? '' : ` (${note})`}`;
}

/** The same without the note, which may name the accounts of others: for each saga that is held. */
export function describeHolder({ since, by }: Pick<Hold, 'since' | 'by'>): string {
  const who = by === undefined ? '' : ` by ${by}`;
  return `held since ${since.slice(0, 19).replace('T', ' ')} UTC${who}`;
}

/** "3 probes in a row were not answered; 2 sagas that were let go made no call; the next one at 22:31:00 UTC" */
export function describeProbing({ failed, silent = 0, nextAt }: Probing): string {
  const many = failed === 1 ? '1 probe was' : `${failed} probes in a row were`;
  const before = failed === 0 ? 'no probe has failed' : `${many} not answered`;
  const mute = silent === 0 ? '' : `; ${silent} ${silent === 1 ? 'saga' : 'sagas'} that were let go made no call`;
  return `${before}${mute}; ${nextAt === undefined ? 'one is under way' : `the next one at ${nextAt.slice(11, 19)} UTC`}`;
}

/**
 * How held sagas are released: some at once, then a pause, then the next ones. At most `perSecond` begin in one second
 * (or one, where the rate is below one), and all of them together take no longer than the rate requires.
 */
export function wavesOf<T>(held: readonly T[], perSecond: number): { wave: T[]; pauseMs: number }[] {
  const size = Math.max(1, Math.floor(perSecond));
  const pauseMs = Math.ceil((size / perSecond) * 1_000);
  const waves = [];
  for (let from = 0; from < held.length; from += size) waves.push({ wave: held.slice(from, from + size), pauseMs });
  return waves;
}
