/** What `decide-many` decides: by a filter the same for all that it finds, or by lines one for each. */
import type { Readable } from 'node:stream';
import { z } from 'zod';
import { objectionTo } from '../client/checked';
import { InvalidRequestError } from '../client/errors';
import { parseJson } from '../domain/json';
import { cancellationSchema, decisionNames } from '../domain/decisions';
import { readWorkflowId } from '../domain/identity';
import { lazy } from '../domain/lazy';
import { describeProblems, firstOf } from '../domain/problems';
import { waitKinds, type WaitKind } from '../domain/progress';
import { check } from '../domain/validation';
import type { Attribution } from './define';
import { UsageError } from './exit-status';
import { readText } from './read-request';

/** A decision of one saga; or to cancel it, which is Temporal's own request. */
const decisions = [...decisionNames, 'cancel'] as const;
export type ManyDecision = (typeof decisions)[number];

/** The questions that each decision reaches by a filter. The other decisions say what a look at each saga shows. */
export const reached: Partial<Record<ManyDecision, readonly WaitKind[]>> = {
  retry: ['stuck', 'refused'],
  skip: ['stuck'],
  markDone: ['stuck'],
  approve: ['approval', 'duplicate', 'over-limit'],
  reject: ['approval', 'duplicate', 'over-limit'],
  cancel: waitKinds,
};
export const filteredDecisions = Object.keys(reached) as ManyDecision[];

export const decisionsMax = 10_000;
const linesBytesMax = 10_000_000;

const lineSchema = lazy(() =>
  z.looseObject({
    saga: z
      .string('is required: a workflow id')
      .refine((id) => readWorkflowId(id) !== undefined, 'must be a workflow id'),
    decision: z.enum(decisions, `must be one of ${decisions.join(', ')}`),
    /** For the eye. */
    kind: z.string().optional(),
    /** When the question was asked. */
    since: z.iso.datetime('must be a time').optional(),
  }),
);

export interface OneDecision {
  saga: string;
  decision: ManyDecision;
  since?: string;
  /** The decision's JSON object. */
  body: object;
}

/** JSON lines; the first one is line 1, and empty ones at the end are none. @throws UsageError, InvalidRequestError */
export async function readLines(file: string, stdin: Readable, said: Attribution): Promise<OneDecision[]> {
  const text = await readText(file, stdin, linesBytesMax, 'a list of decisions');
  const lines = text.trimEnd().split(/\r?\n/);
  if (lines.length > decisionsMax) throw new UsageError(`--lines takes ${decisionsMax} decisions at most`);
  const read = lines.map((line, index) => readLine(parseJson(line, `line ${index + 1}`), said));
  const problems = read.flatMap((one, index) =>
    typeof one === 'string' ? [{ field: `line ${index + 1}`, message: one }] : [],
  );
  if (problems.length > 0) throw new InvalidRequestError(firstOf(problems));
  return read as OneDecision[];
}

/** @returns a sentence where it is wrong */
function readLine(line: unknown, said: Attribution): OneDecision | string {
  const checked = check(lineSchema(), line);
  if (!checked.ok) return describeProblems(checked.problems);
  const { saga, decision, kind: _, since, ...rest } = checked.value;
  const body = { ...said, ...rest };
  if (decision !== 'cancel') return objectionTo(decision, body) ?? { saga, decision, since, body };
  const cancellation = check(cancellationSchema(), body);
  return cancellation.ok ? { saga, decision, body } : `cancel: ${describeProblems(cancellation.problems)}`;
}
