/**
 * Many decisions, one after the other. A job is a run of its own and no saga; it sends each saga the same update that a
 * person would send, so each may refuse it.
 *
 * ```text
 *   {"by":"ann","note":"the provider is back","decision":"retry","where":"SagaStep=\"place-order\""}
 *   {"by":"ann","note":"in the panel","decisions":[{"saga":"provision/PO-7","decision":"confirmPlaced","question":"1a2b3c4d","orderId":"77"}]}
 * ```
 */
import { z } from 'zod';
import { decisionNames, decisionSchemas, jobCancellationSchema } from './decisions';
import { isRecord } from './differences';
import { lazy } from './lazy';
import { describeProblems, firstOf, type Problem } from './problems';
import { waitKinds, type WaitKind } from './progress';
import { bytesOf, check, type Checked } from './validation';

/** The type of a job's workflow. */
export const decideManyWorkflow = 'decideMany';

export function jobIdOf(name: string): string {
  return `decide-many/${name}`;
}

/** True if a run of this workflow id may be a job: it stands apart from the sagas. */
export function isJobId(workflowId: string): boolean {
  return /^decide-many\/[A-Za-z0-9._:-]{1,128}$/.test(workflowId);
}

/** A decision of one saga; or to cancel it, which is Temporal's own request. */
const jobDecisions = [...decisionNames, 'cancel'] as const;
export type JobDecision = (typeof jobDecisions)[number];

/** The decisions that go by a filter, and the questions that each reaches. The others say what a look at each shows. */
export const filteredDecisions = {
  retry: ['stuck', 'refused'],
  skip: ['stuck'],
  markDone: ['stuck'],
  approve: ['approval', 'duplicate', 'over-limit'],
  reject: ['approval', 'duplicate', 'over-limit'],
  cancel: waitKinds,
} as const satisfies Partial<Record<JobDecision, readonly WaitKind[]>>;
export type FilteredDecision = keyof typeof filteredDecisions;
export const filteredDecisionNames = Object.keys(filteredDecisions) as FilteredDecision[];

/** In `where`: every saga that the decision reaches. Said in so many words, because an empty filter may be a mistake. */
export const everySaga = 'all';

/** One job takes as many; what waits beyond it is counted in the report, and another job takes it. */
export const decisionsMax = 10_000;
/** The size of a job's JSON: it travels in one payload of Temporal's. */
export const jobBytesMax = 1_500_000;

/** From one in a hundred seconds to what a namespace of Temporal takes beside its own work. */
const pace = 'must be from 0.01 to 50';

const needed = (charsMax: number, what: string) =>
  z
    .string(what)
    .max(charsMax, `must not have more than ${charsMax} characters`)
    .refine((given) => given.trim() !== '', what);

const lineSchema = lazy(() =>
  z.looseObject({
    /** The workflow id, as `order-saga questions` prints it. */
    saga: z
      .string('is required: a workflow id')
      .regex(/^[a-z]{1,16}\/[A-Za-z0-9._:-]{1,128}$/, 'must be a workflow id'),
    decision: z.enum(jobDecisions, `must be one of ${jobDecisions.join(', ')}`),
  }),
);

/** `decision` and `where`, or `decisions`: see {@link readJob}. */
export const decideManySchema = lazy(() =>
  z.strictObject({
    by: needed(200, 'is required: who you are'),
    /** Each saga's record has it. */
    note: needed(2_000, 'is required: say how you know'),
    decision: z.enum(filteredDecisionNames, `must be one of ${filteredDecisionNames.join(', ')}`).optional(),
    /** A list filter of Temporal: `SagaState="stuck" AND SagaStep="place-order"`; `all` for every saga that is reached. */
    where: needed(2_000, `must be a list filter, or ${everySaga}`).optional(),
    /** How many in all, those that have waited longest; it goes with `where`. */
    limit: z.int().min(1).max(decisionsMax, `must be from 1 to ${decisionsMax}`).default(decisionsMax),
    /** One for each saga: `saga`, `decision`, `question`, and what else the decision takes. */
    decisions: z.array(lineSchema()).min(1, 'must have at least one').max(decisionsMax).optional(),
    /** How many sagas are decided in one second. */
    perSecond: z.number('must be a number').min(0.01, pace).max(50, pace).default(5),
  }),
);

export interface OneDecision {
  /** The workflow id. */
  saga: string;
  decision: JobDecision;
  /** The decision's JSON object. */
  body: Record<string, unknown>;
}

export interface Job {
  by: string;
  note: string;
  perSecond: number;
  limit: number;
  /** Whom it reaches; or what it says to whom. */
  what: { decision: FilteredDecision; where: string | undefined } | { decisions: OneDecision[] };
}

/** @param input may come from anywhere. Lines are checked one by one: there may be more of them than of any request */
export function readJob(input: unknown): Checked<Job> {
  const { decisions: lines, ...rest } = isRecord(input) ? input : {};
  const checked = check(decideManySchema(), isRecord(input) ? rest : input);
  if (!checked.ok) return checked;
  const { by, note, perSecond, limit, decision, where } = checked.value;
  const wrong = (field: string, message: string) => ({ ok: false as const, problems: [{ field, message }] });
  if (lines === undefined) {
    if (decision === undefined) return wrong('decision', 'is required, with where; or decisions, one for each saga');
    if (where === undefined) return wrong('where', `is required: a list filter, or ${everySaga}`);
    const what = { decision, where: where === everySaga ? undefined : where };
    return { ok: true, value: { by, note, perSecond, limit, what } };
  }
  if (decision ?? where) return wrong('decisions', 'does not go with decision and where');
  if (!Array.isArray(lines) || lines.length === 0) return wrong('decisions', 'must be a list, and not empty');
  if (lines.length > decisionsMax) return wrong('decisions', `must not be more than ${decisionsMax}`);
  if ((bytesOf(lines) ?? Infinity) > jobBytesMax)
    return wrong('decisions', `must be JSON of ${jobBytesMax} bytes at most`);
  const read = lines.map((line, index) => readLine(line, index + 1, { by, note }));
  const problems = read.flatMap((line) => ('problem' in line ? [line.problem] : []));
  if (problems.length > 0) return { ok: false, problems: firstOf(problems) };
  return { ok: true, value: { by, note, perSecond, limit, what: { decisions: read as OneDecision[] } } };
}

function readLine(line: unknown, number: number, words: Pick<Job, 'by' | 'note'>): OneDecision | { problem: Problem } {
  const checked = check(lineSchema(), line);
  if (!checked.ok) return { problem: { field: `line ${number}`, message: describeProblems(checked.problems) } };
  // The kind of question, as it was printed, is for the eye.
  const { saga, decision, kind: _, ...rest } = checked.value;
  const body = { ...words, ...rest };
  const ofDecision = check<unknown>(bodySchema(decision), body);
  if (ofDecision.ok) return { saga, decision, body };
  return { problem: { field: `line ${number}`, message: `${decision}: ${describeProblems(ofDecision.problems)}` } };
}

function bodySchema(decision: JobDecision): z.ZodType {
  return decision === 'cancel' ? jobCancellationSchema() : decisionSchemas[decision]();
}

/** For a person: `retry where SagaStep="place-order"`. */
export function describeJob({ what }: Job): string {
  if ('decisions' in what) return `${what.decisions.length} ${what.decisions.length === 1 ? 'decision' : 'decisions'}`;
  return `${what.decision} ${what.where === undefined ? 'all that wait' : `where ${what.where}`}`;
}

/** `movedOn`: it asks another question, or none. `gone`: it has ended. `unanswered`: perhaps it has taken it. */
export const manyOutcomes = ['taken', 'refused', 'movedOn', 'gone', 'unanswered'] as const;
export type ManyOutcome = (typeof manyOutcomes)[number];

export type Decided = { outcome: Exclude<ManyOutcome, 'refused'> } | { outcome: 'refused'; why: string };

export type ManyCounts = Record<ManyOutcome, number>;

/** A job's result. */
export const jobReportSchema = lazy(() =>
  z.strictObject({
    job: z.string(),
    /** In words: `retry where SagaStep="place-order"`. */
    asked: z.string(),
    by: z.string(),
    note: z.string(),
    outcome: z.enum(['done', 'stopped']),
    endedAt: z.iso.datetime(),
    counts: z.strictObject({ taken: z.int(), refused: z.int(), movedOn: z.int(), gone: z.int(), unanswered: z.int() }),
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

/** In their order; a refusal by the number of its reason, null where there is no answer yet. The heartbeat has it. */
export interface JobPlace {
  came: (Exclude<ManyOutcome, 'refused'> | number | null)[];
  reasons: string[];
}

const whyCharsMax = 400;
/** Sentences may hold a time or an id. Those beyond are counted together. */
const reasonsMax = 100;
export const otherReasons = 'for other reasons; order-saga decide shows a saga’s own';

export function beginJob(count: number): JobPlace {
  return { came: Array.from({ length: count }, () => null), reasons: [] };
}

export function record({ came, reasons }: JobPlace, index: number, decided: Decided): void {
  if (decided.outcome !== 'refused') {
    came[index] = decided.outcome;
    return;
  }
  const said = decided.why.slice(0, whyCharsMax);
  const why = reasons.includes(said) || reasons.length < reasonsMax ? said : otherReasons;
  if (!reasons.includes(why)) reasons.push(why);
  came[index] = reasons.indexOf(why);
}

export function countsOf({ came }: JobPlace): ManyCounts {
  const counts = { taken: 0, refused: 0, movedOn: 0, gone: 0, unanswered: 0 };
  for (const one of came) if (one !== null) counts[typeof one === 'number' ? 'refused' : one] += 1;
  return counts;
}

/** Each saga under what came of it. */
export function sagasOf({ came, reasons }: JobPlace, sagas: readonly string[]): Pick<JobReport, ManyOutcome> {
  const that = (outcome: JobPlace['came'][number]) => sagas.filter((_, index) => came[index] === outcome);
  return {
    taken: that('taken'),
    movedOn: that('movedOn'),
    gone: that('gone'),
    unanswered: that('unanswered'),
    refused: reasons.map((why, reason) => ({ why, sagas: that(reason) })),
  };
}

export function sumOf(some: ManyCounts): number {
  return manyOutcomes.reduce((sum, outcome) => sum + some[outcome], 0);
}

const words: Record<ManyOutcome, string> = {
  taken: 'taken',
  refused: 'refused',
  movedOn: 'no longer waiting',
  gone: 'ended before',
  unanswered: 'unanswered',
};

/** "2,913 taken, 4 refused, 1 ended before": what is zero is left out, but for the first. */
export function describeCounts(some: ManyCounts): string {
  const shown = manyOutcomes.filter((outcome) => outcome === 'taken' || some[outcome] > 0);
  return shown.map((outcome) => `${some[outcome].toLocaleString('en')} ${words[outcome]}`).join(', ');
}

/** The words that go with each decision: whoever reads a saga's record finds the job. */
export function wordsOf({ by, note }: { by: string; note: string }, job: string): { by: string; note: string } {
  return { by, note: `${note} (${job})` };
}
