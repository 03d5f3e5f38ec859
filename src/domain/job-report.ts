/** What a job has done: counted while it runs, and told of each saga at its end. */
import { z } from 'zod';
import { lazy } from './lazy';

export const manyOutcomes = ['taken', 'refused', 'movedOn', 'gone', 'unanswered'] as const;
/**
 * `movedOn`: it asks another question by now, or none. `gone`: it has ended. `unanswered`: its worker did not answer in
 * time, and it may have taken the decision all the same: its progress shows it.
 */
export type ManyOutcome = (typeof manyOutcomes)[number];

/** What came of one decision. */
export type Decided = { outcome: Exclude<ManyOutcome, 'refused'> } | { outcome: 'refused'; why: string };

/** A saga of the probe: it took the decision about this question of this step. */
export interface ProbedSaga {
  workflowId: string;
  question: string;
  step: string;
}

export type ManyCounts = Record<ManyOutcome, number>;

const counts = () =>
  z.strictObject({ taken: z.int(), refused: z.int(), movedOn: z.int(), gone: z.int(), unanswered: z.int() });
const time = z.iso.datetime();
const pauseSchema = z.strictObject({
  since: time,
  /** Why: a person's words, or what the probe has shown. */
  why: z.string().optional(),
  by: z.string().optional(),
});
export type JobPause = z.infer<typeof pauseSchema>;

const said = () => ({
  job: z.string(),
  /** In words: `retry where SagaStep="place-order"`. */
  asked: z.string(),
  note: z.string(),
  by: z.string().optional(),
  startedAt: time,
  counts: counts(),
});

/** What the query `progress` of a job answers. */
export const jobProgressSchema = lazy(() =>
  z.strictObject({
    ...said(),
    state: z.enum(['running', 'paused', 'stopping', 'done', 'stopped']),
    perSecond: z.number(),
    /** How many sagas it is about: as many as waited when it began. */
    total: z.int(),
    paused: pauseSchema.optional(),
    /** How many sagas of the probe have not done their step yet: the others wait for them. */
    probe: z.strictObject({ underWay: z.int() }).optional(),
    /** Why sagas refused, with how many did: the most frequent ones. */
    refusals: z.array(z.strictObject({ why: z.string(), count: z.int() })),
  }),
);
export type JobProgress = z.infer<ReturnType<typeof jobProgressSchema>>;

/** A job's result. */
export const jobReportSchema = lazy(() =>
  z.strictObject({
    ...said(),
    outcome: z.enum(['done', 'stopped']),
    stopped: pauseSchema.optional(),
    endedAt: time,
    /** Sagas that it did not come to: it was stopped, or there were more than its limit. */
    notReached: z.int(),
    /** Workflow ids, each in one of the lists. */
    taken: z.array(z.string()),
    movedOn: z.array(z.string()),
    gone: z.array(z.string()),
    unanswered: z.array(z.string()),
    refused: z.array(z.strictObject({ why: z.string(), sagas: z.array(z.string()) })),
  }),
);
export type JobReport = z.infer<ReturnType<typeof jobReportSchema>>;

/** Each saga under what came of it: the part of the report that travels from run to run. */
export type Tally = Pick<JobReport, 'taken' | 'movedOn' | 'gone' | 'unanswered' | 'refused'>;

const whyCharsMax = 400;
/**
 * Sentences may hold a time or an id. Those beyond are counted together, so that the report fits one payload of
 * Temporal's.
 */
const reasonsMax = 100;
export const otherReasons = 'for other reasons; order-saga decide shows a saga’s own';
const shownRefusals = 5;

export function emptyTally(): Tally {
  return { taken: [], movedOn: [], gone: [], unanswered: [], refused: [] };
}

export function record(tally: Tally, workflowId: string, decided: Decided): void {
  if (decided.outcome !== 'refused') {
    tally[decided.outcome].push(workflowId);
    return;
  }
  const why = decided.why.slice(0, whyCharsMax);
  const find = (reason: string) => tally.refused.find((group) => group.why === reason);
  const known = find(why) ?? (tally.refused.length < reasonsMax ? undefined : find(otherReasons));
  if (known) known.sagas.push(workflowId);
  else tally.refused.push({ why: tally.refused.length < reasonsMax ? why : otherReasons, sagas: [workflowId] });
}

export function countsOf({ taken, movedOn, gone, unanswered, refused }: Tally): ManyCounts {
  return {
    taken: taken.length,
    refused: refused.reduce((sum, { sagas }) => sum + sagas.length, 0),
    movedOn: movedOn.length,
    gone: gone.length,
    unanswered: unanswered.length,
  };
}

export function sumOf(some: ManyCounts): number {
  return manyOutcomes.reduce((sum, outcome) => sum + some[outcome], 0);
}

/** The most frequent ones first. */
export function refusalsOf({ refused }: Tally): { why: string; count: number }[] {
  return refused
    .map(({ why, sagas }) => ({ why, count: sagas.length }))
    .sort((a, b) => b.count - a.count)
    .slice(0, shownRefusals);
}

const words: Record<ManyOutcome, string> = {
  taken: 'taken',
  refused: 'refused',
  movedOn: 'moved on',
  gone: 'ended before',
  unanswered: 'unanswered',
};

/** "2,913 taken, 4 refused, 1 moved on": what is zero is left out, but for the first. */
export function describeCounts(some: ManyCounts): string {
  const shown = manyOutcomes.filter((outcome) => outcome === 'taken' || some[outcome] > 0);
  return shown.map((outcome) => `${inThousands(some[outcome])} ${words[outcome]}`).join(', ');
}

/** "█████░░░░░ 52 %", of so many characters. Never full before all is done. */
export function bar(done: number, total: number, width = 20): string {
  const share = total === 0 ? 1 : Math.min(1, done / total);
  const full = Math.floor(share * width);
  return `${'█'.repeat(full)}${'░'.repeat(width - full)} ${Math.floor(share * 100)} %`;
}

export function inThousands(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',');
}
