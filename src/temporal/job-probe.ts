/**
 * How the first sagas of a job do: whether they have done the step that they had waited at. Few are asked, one by one.
 */
import type { Client } from '@temporalio/client';
import type { ProbedSaga } from '../domain/job-report';
import { isOutcome } from '../domain/outcomes';
import type { ProgressView, WaitKind } from '../domain/progress';

/** A worker answers within milliseconds; one that does not answer is asked again at the next look. */
const answerWithinMs = 5_000;

const messageCharsMax = 200;

/** The questions that say that something still fails; any other one comes after a success. */
const ofFailures: readonly WaitKind[] = ['stuck', 'refused', 'outcome-unknown', 'held'];

export interface ProbeSeen {
  underWay: ProbedSaga[];
  /** A sentence about one that asks again. */
  asksAgain?: string;
}

export async function lookAtProbe(client: Client, sagas: readonly ProbedSaga[]): Promise<ProbeSeen> {
  const looks = await Promise.all(
    sagas.map(async (saga) => {
      const ask = () => client.workflow.getHandle(saga.workflowId).query<ProgressView>('progress');
      const progress = await client.withDeadline(Date.now() + answerWithinMs, ask).catch(() => undefined);
      return { saga, asksAgain: progress && againOf(saga, progress), isDone: progress && isDone(saga, progress) };
    }),
  );
  const asksAgain = looks.find((look) => look.asksAgain !== undefined)?.asksAgain;
  const underWay = looks.flatMap(({ saga, isDone: done }) => (done ? [] : [saga]));
  return { underWay, ...(asksAgain === undefined ? {} : { asksAgain }) };
}

function againOf({ workflowId, question }: ProbedSaga, { waiting }: ProgressView): string | undefined {
  if (waiting === undefined || waiting.id === question || !ofFailures.includes(waiting.kind)) return undefined;
  const why = waiting.lastFailure?.message ?? waiting.question;
  return `${workflowId} waits as ${waiting.kind} at ${waiting.step} again: ${why.slice(0, messageCharsMax)}`;
}

/** A step that is not shown is one of our own bookkeeping: it is done when another one has begun. */
function isDone({ step, question }: ProbedSaga, { state, steps, waiting }: ProgressView): boolean {
  if (isOutcome(state)) return true;
  if (waiting !== undefined) return waiting.id !== question;
  const waited = steps.find(({ id }) => id === step);
  if (waited === undefined) return steps.some(({ attempts }) => attempts > 0);
  return waited.status === 'done' || waited.status === 'skipped' || waited.status === 'undone';
}
