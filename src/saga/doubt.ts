/**
 * A pivot of which nobody knows whether it happened: a person is asked about its row in the journal, and the answer is
 * written into that row, for every run that will ever ask.
 */
import { CancellationScope } from '@temporalio/workflow';
import { definedOnly } from '../domain/defined-only';
import type { Placement } from '../domain/effects';
import type { CallFailure, PivotDoubt } from '../domain/failures';
import type { Act } from './attempts';
import { inWords, type Step } from './progress';
import type { Question } from './questions';
import type { Saga } from './saga';
import { activities } from './activities';

export interface Doubtful {
  step: Step;
  /** What may have been placed, for the question: "the order", "the switch". */
  noun: string;
  /**
   * By what it is found in the provider's control panel, where the row does not say it: "account AB-1, label “web-1”".
   */
  foundBy: string;
  confirming?: Confirming | undefined;
}

/** What a person may say beside “it was placed”. */
export interface Confirming {
  /** Stands in the question. */
  hint?: string;
  /** A sentence where these object ids do not fit. */
  objection: (vmObjectIds: readonly number[]) => string | undefined;
}

export interface Doubt extends PivotDoubt {
  /** From then on nobody can be sending it any more, in milliseconds since 1970 by this run's own clock. */
  deniableMs: number;
}

/** A placement that nobody here has the provider's answer of, and that stands. */
export type Seen = Exclude<Placement<never>, { how: 'answered' }>;

/**
 * @returns undefined where the journal is to be asked again: a person says that it has not happened; `cancelled` where
 * it has, and the provider has cancelled it
 */
export async function askAboutPlacement(
  saga: Saga,
  doubtful: Doubtful,
  doubt: Doubt,
  lastFailure?: CallFailure,
): Promise<Seen | 'cancelled' | undefined> {
  const { row } = doubt;
  const question = questionAbout(doubtful, doubt, lastFailure);
  const decision = await saga.humanDecisions.ask({ ...question, ...definedOnly({ lastFailure }) });
  if (decision.decision === 'confirmPlaced') {
    const { by, note, vmObjectIds, orderId } = decision;
    return writePlaced(saga, row, { how: 'confirmed', vmObjectIds, orderId }, { by, note });
  }
  if (decision.decision === 'markCancelled')
    return (await saga.writeCancelled(decision, row)) ? 'cancelled' : undefined;
  if (decision.decision !== 'confirmNotPlaced') throw new Error(`${decision.decision} says nothing of a placement`);
  const { by, note } = decision;
  await write(saga, 'Write into the journal that it was not placed', ({ retry }) =>
    activities('write “not placed” into the journal').denyPlacement({ row, by, note, retry }),
  );
  return undefined;
}

/**
 * @returns undefined where another person has said of this row that it was not placed, and it was sent again since:
 * then a person is asked about that
 */
export async function writePlaced(
  saga: Saga,
  row: string,
  placed: Seen,
  verdict?: { by: string | undefined; note: string },
): Promise<Seen | undefined> {
  const written = await write(saga, 'Write into the journal that it was placed', ({ retry }) =>
    activities('write “placed” into the journal').confirmPlacement({
      row,
      placed,
      ...definedOnly({ verdict }),
      retry,
    }),
  );
  return written === 'done' ? placed : undefined;
}

/** Not cancelled with the saga: what a person has said is kept. */
function write<T>(saga: Saga, title: string, act: Act<T>): Promise<T> {
  const step = saga.quietStep('write-decision', title);
  return CancellationScope.nonCancellable(() => saga.must({ step, act }, { refusal: 'ask' }));
}

function questionAbout(
  { step, noun, confirming, ...doubtful }: Doubtful,
  doubt: Doubt,
  lastFailure: CallFailure | undefined,
): Question {
  const { row, at, putBack, deniableMs, foundBy = doubtful.foundBy } = doubt;
  const what = putBack
    ? `The journal was put back to an older copy. Whether ${noun} was placed in the lost time, nobody here knows`
    : `It is not known whether the provider placed ${noun}, which was sent on ${inWords(at)}`;
  const deniable = inWords(new Date(deniableMs).toISOString());
  return {
    kind: 'outcome-unknown',
    // Of this row and no other, in whichever run it is asked about.
    subject: row,
    step: step.id,
    question:
      `${what}. ${lastFailure?.status === undefined ? '' : `${lastFailure.message}. `}Look in the provider’s control panel (${foundBy}): is it there? ` +
      `“Not placed” is taken from ${deniable} on: look then, because the call may be in the air until then.${
        confirming?.hint === undefined ? '' : ` ${confirming.hint}`
      }`,
    choices: ['confirmPlaced', 'confirmNotPlaced', 'markCancelled'],
    notPlacedFromMs: deniableMs,
    objection: (decision) => {
      if (decision.decision === 'confirmNotPlaced' && Date.now() < deniableMs) {
        return `the call may still be in the air until ${deniable}: look again then`;
      }
      if (decision.decision !== 'confirmPlaced' || decision.vmObjectIds === undefined) return undefined;
      if (confirming === undefined) return 'vmObjectIds: this step brings no servers; leave it out';
      return confirming.objection(decision.vmObjectIds);
    },
  };
}
