/**
 * One decision over many sagas: what a job is asked to do. A job is a run of its own and no saga; it sends each saga
 * the same update that a person would send, so each may refuse it.
 *
 * `retry` and `skip` go by a query. `confirmPlaced` and `confirmNotPlaced` say what only a look at the provider can
 * tell, so they go by evidence: one line for each saga, see `evidence.ts`.
 */
import { z } from 'zod';
import { definedOnly } from './defined-only';
import type { DecisionName } from './decisions';
import { isRecord } from './differences';
import { evidenceLinesMax, evidenceLineSchema, readEvidence, type EvidenceLine } from './evidence';
import { lazy } from './lazy';
import type { Problem } from './problems';
import type { WaitKind } from './progress';
import { check } from './validation';

/** The type of a job's workflow. */
export const decideManyWorkflow = 'decideMany';

const jobIdPrefix = 'decide-many/';

export function jobIdOf(name: string): string {
  return `${jobIdPrefix}${name}`;
}

/** Whether a run of this workflow id may be a job: it stands apart from the sagas. */
export function isJobId(workflowId: string): boolean {
  return /^decide-many\/[A-Za-z0-9._:-]{1,128}$/.test(workflowId);
}

/** The updates that a job takes; it takes no signal, because a signal cannot be refused. */
export const jobControls = ['pause', 'resume', 'stop'] as const;
export type JobControl = (typeof jobControls)[number];

interface Bulk {
  sends: DecisionName;
  reaches: readonly WaitKind[];
}

/** The decisions that go by a query: what each saga is sent, and the kinds of questions that it reaches. */
export const bulkDecisions = {
  retry: { sends: 'retry', reaches: ['stuck', 'refused'] },
  skip: { sends: 'skip', reaches: ['stuck'] },
  /** Lets held sagas look again. While the hold is on, the job is refused: they would be held again. */
  release: { sends: 'retry', reaches: ['held'] },
} as const satisfies Record<string, Bulk>;
export type BulkDecision = keyof typeof bulkDecisions;
export const bulkDecisionNames = Object.keys(bulkDecisions) as BulkDecision[];

/** One job takes so many; what waits beyond it is counted in the report, and another job takes it. */
export const sagasMax = 10_000;

/** From one in a hundred seconds to what a namespace of Temporal takes beside its own work. */
const perSecondMin = 0.01;
const perSecondMax = 50;
const perSecondDefault = 5;

/** One page is one run of the job: its history stays short. */
const pageMax = 500;
const pageDefault = 250;

/** The sagas of a probe are asked one by one how they do. */
const probeMax = 50;

const text = (charsMax: number) =>
  z.string('must be a string').max(charsMax, `must not have more than ${charsMax} characters`);
const whole = (max: number) => {
  const must = `must be a whole number from 1 to ${max}`;
  return z.int(must).min(1, must).max(max, must);
};
const needed = (charsMax: number) =>
  z
    .string('is required: say how you know')
    .max(charsMax, `must not have more than ${charsMax} characters`)
    .refine((given) => given.trim() !== '', 'is required: say how you know');

const pace = `must be from ${perSecondMin} to ${perSecondMax}`;

const plainSchema = lazy(() =>
  z.strictObject({
    decision: z.enum(bulkDecisionNames, `must be one of ${bulkDecisionNames.join(', ')}`).optional(),
    /** A list filter of Temporal: `SagaState="stuck" AND SagaStep="place-order"`. */
    where: text(2_000).optional(),
    /** Every saga that the decision reaches. Said in so many words, because an empty filter may be a mistake. */
    all: z.literal(true, 'must be true').optional(),
    /** Evidence for each of the decisions; each saga's record has it. */
    note: needed(2_000),
    by: text(200).min(1, 'must not be empty').optional(),
    /** How many sagas are decided in one second. */
    perSecond: z.number('must be a number').min(perSecondMin, pace).max(perSecondMax, pace).default(perSecondDefault),
    /** How many in all: those that have waited longest. */
    limit: whole(sagasMax).default(sagasMax),
    /** How many are listed at once. */
    pageSize: whole(pageMax).default(pageDefault),
    /**
     * The first so many alone: the job goes on when their steps have succeeded, and pauses itself when one of them asks
     * again.
     */
    probe: z.strictObject({ first: whole(probeMax) }).optional(),
  }),
);

/** As it stands in the contract; {@link readJobRequest} checks more than a schema can say. */
export const decideManySchema = lazy(() =>
  plainSchema().extend({ evidence: z.array(evidenceLineSchema()).min(1).max(evidenceLinesMax).optional() }),
);

/** What goes with a control: nobody has to say why. */
export const jobWordsSchema = lazy(() => z.strictObject({ by: text(200).optional(), note: text(2_000).optional() }));

interface Common {
  note: string;
  by?: string;
  perSecond: number;
  limit: number;
  pageSize: number;
  probe?: { first: number };
}

export interface JobByQuery extends Common {
  decision: BulkDecision;
  /** Absent: all that the decision reaches. */
  where?: string;
}

export interface JobByEvidence extends Common {
  evidence: EvidenceLine[];
}

export type JobRequest = JobByQuery | JobByEvidence;

export type JobChecked = { ok: true; job: JobRequest } | { ok: false; problems: Problem[] };

/**
 * @param input may come from anywhere. Evidence is checked line by line: there may be more of it than of any other
 * request
 */
export function readJobRequest(input: unknown): JobChecked {
  const { evidence, ...rest } = isRecord(input) ? input : {};
  const checked = check(plainSchema(), isRecord(input) ? rest : input);
  const lines = evidence === undefined ? undefined : readEvidence(evidence);
  const problems = [
    ...(checked.ok ? contradictions(checked.value, evidence !== undefined) : checked.problems),
    ...(lines?.ok === false ? lines.problems : []),
  ];
  if (!checked.ok || problems.length > 0) return { ok: false, problems };
  const { decision, where, all: _all, by, probe, ...common } = checked.value;
  const job = { ...common, ...definedOnly({ by, probe }) };
  if (lines?.ok) return { ok: true, job: { ...job, evidence: lines.lines } };
  return { ok: true, job: { ...job, decision: decision ?? 'retry', ...definedOnly({ where }) } };
}

function contradictions(
  { decision, where, all, probe }: z.output<ReturnType<typeof plainSchema>>,
  byEvidence: boolean,
): Problem[] {
  const wrong = (field: string, message: string): Problem => ({ field, message });
  if (byEvidence) {
    return [
      ...(decision === undefined ? [] : [wrong('decision', 'does not go with evidence: each line says its own')]),
      ...(where === undefined ? [] : [wrong('where', 'does not go with evidence, which names each saga')]),
      ...(all === undefined ? [] : [wrong('all', 'does not go with evidence, which names each saga')]),
      ...(probe === undefined ? [] : [wrong('probe', 'does not go with evidence')]),
    ];
  }
  return [
    ...(decision === undefined
      ? [
          wrong(
            'decision',
            `is required: ${bulkDecisionNames.join(' or ')}; whether something was placed goes by evidence`,
          ),
        ]
      : []),
    ...(all === true && where !== undefined ? [wrong('all', 'does not go with where: say one of them')] : []),
    ...(all === undefined && (where ?? '').trim() === ''
      ? [wrong('where', 'is required: a list filter; for all that wait, say all: true')]
      : []),
  ];
}

/** What the job does, for a person: `retry where SagaStep="place-order"`. */
export function describeJob(job: JobRequest): string {
  if ('evidence' in job) return `${job.evidence.length} ${job.evidence.length === 1 ? 'line' : 'lines'} of evidence`;
  return `${job.decision} ${job.where === undefined ? 'all that wait' : `where ${job.where}`}`;
}
