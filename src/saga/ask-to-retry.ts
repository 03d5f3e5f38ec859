/** Steps that do not go on by themselves: a person says what becomes of them, and may correct the request first. */
import type { Decision } from '../domain/decisions';
import { definedOnly } from '../domain/defined-only';
import type { OnRefusal } from '../domain/requests';
import type { HumanDecisions } from './human-decisions';
import { cause, refusedQuestion, type Corrections, type Question, type Stuck } from './questions';

/**
 * Where the request does not say what follows a refusal, the setting does; it came with the answer, because a workflow
 * reads none.
 */
export function asksAfterRefusal(requested: OnRefusal | undefined, { asks }: { asks?: true }): boolean {
  return requested === undefined ? asks === true : requested === 'ask';
}

/**
 * Asks about steps before the pivot, the first of which the provider refuses.
 *
 * @param onRefusal as the request says it
 * @returns undefined where the refusal ends the saga
 */
export function questionOfRefusal(
  onRefusal: OnRefusal | undefined,
  [refused, ...others]: readonly [Stuck, ...Stuck[]],
  corrections: Corrections | undefined,
): Question | undefined {
  const { failure } = refused;
  const correction = corrections?.refused;
  if (correction === undefined || !asksAfterRefusal(onRefusal, failure)) return undefined;
  const specs = [refused, ...others].map(({ spec }) => spec);
  return refusedQuestion(specs, cause(failure), { lastFailure: failure, correction });
}

/** What was corrected holds when this returns. */
export async function askToRetry(humanDecisions: HumanDecisions, question: Question): Promise<Decision> {
  const decision = await humanDecisions.ask(question);
  const { correction, step } = question;
  if (decision.decision === 'retry' && decision.correction && correction) {
    const { by, note } = decision;
    await correction.apply(correction.schema().parse(decision.correction), {
      step,
      ...definedOnly({ by, note }),
    });
  }
  return decision;
}
