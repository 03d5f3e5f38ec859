/**
 * A pivot of which nobody knows whether it happened: the saga waits until the call can be in flight no more (it is
 * `settling`), then asks a person about the pivot's row in the journal. The answer is written into that row, for every
 * run that will ever ask.
 */
import { setCurrentDetails, sleep, uuid4 } from '@temporalio/workflow';
import type { Namesake, Placement } from '../../domain/effects';
import { describeFailure, type CallFailure, type PivotDoubt } from '../../domain/failures';
import { describeOthers, type OfOther } from '../../domain/servers';
import { inWords } from '../../domain/times';
import { describeSettling } from '../shown/current-details';
import type { Step } from '../shown/progress';
import type { Question } from './questions';
import type { Saga } from '../saga';
import type { Pivot } from '../steps';
import { activities } from '../activities';

/** `foundBy`: says what to look for at the provider, if the row does not: "account AB-1, label “web-1”". */
type InDoubt = Pick<Pivot<never>, 'noun' | 'confirming'> & { step: Step; foundBy: string };

/** A placement that nobody here has the provider's answer of, and that stands. */
export type Seen = Exclude<Placement<never>, { how: 'answered' }>;

/**
 * Nobody is asked before: who looks earlier may see nothing of a call that takes effect later. It waits once for each
 * row, whatever the clock says by then: a replay may go by another time, and has to come to the same timer.
 *
 * @returns whether it had to wait
 * @throws CancelledFailure when the saga is cancelled meanwhile
 */
export async function untilSettled(
  saga: Saga,
  { step, noun }: InDoubt,
  doubt: Pick<PivotDoubt, 'row' | 'inFlightMs'>,
  failure?: CallFailure,
): Promise<boolean> {
  const { progress } = saga;
  const { inFlightMs } = doubt;
  const known = firstSeen(saga, doubt);
  const settledMs = known.seenMs + inFlightMs;
  if (inFlightMs <= 0 || settledMs <= known.waitedMs) return false;
  const until = inWords(new Date(settledMs).toISOString());
  step.resume(`may still take effect until ${until}`);
  progress.enterSettling(step.id, settledMs);
  setCurrentDetails(describeSettling(noun, until));
  try {
    await sleep(Math.max(1, settledMs - Date.now()));
    known.waitedMs = settledMs;
    step.end('stuck', failure && describeFailure(failure));
    return true;
  } catch (error) {
    step.end('failed', `nobody was asked whether ${noun} was placed`);
    throw error;
  } finally {
    progress.leaveSettling(step.id);
    setCurrentDetails('');
  }
}

/** From now on the time in flight of its row counts. */
export function firstSeen({ inDoubt }: Saga, { row }: Pick<PivotDoubt, 'row'>) {
  const known = inDoubt.get(row) ?? { seenMs: Date.now(), waitedMs: 0 };
  inDoubt.set(row, known);
  return known;
}

/**
 * To be called once the call is settled.
 *
 * @returns undefined where the journal is to be asked again: a person says that it has not happened; `cancelled` where
 * it has, and the provider has cancelled it
 */
export async function askAboutPlacement(
  saga: Saga,
  doubtful: InDoubt,
  doubt: PivotDoubt,
  lastFailure?: CallFailure,
  look?: Pivot<never>['look'],
): Promise<Seen | 'cancelled' | undefined> {
  const { row } = doubt;
  let found: Seen | 'none' | undefined;
  // It only looks again: what was written as placed counts more than a decision that came meanwhile.
  const make = async () => {
    const ids = await look?.(true);
    if (Array.isArray(ids)) found = (await writeFound(saga, row, ids)) ?? 'none';
    return found === undefined;
  };
  const delaysMs = look ? (lastFailure?.ownTriesMs ?? saga.ownTriesMs) : [];
  for (let others: readonly OfOther[] = []; ;) {
    const question = questionAbout(doubtful, doubt, { lastFailure, others });
    const decision = await saga.humanDecisions.askOrTry(question, { delaysMs, make });
    if (decision === undefined || found !== undefined) return found === 'none' ? undefined : found;
    if (decision.decision === 'confirmPlaced') {
      const { by, note, vmObjectIds, orderId } = decision;
      const placed = { how: 'confirmed', vmObjectIds, orderId } as const;
      const written = await writePlaced(saga, row, placed, { by, note });
      if (!Array.isArray(written)) return written === 'done' ? placed : undefined;
      others = written;
      continue;
    }
    if (decision.decision === 'markCancelled')
      return (await saga.writeCancelled(decision, row)) ? 'cancelled' : undefined;
    const { by, note } = decision;
    await saga.write('write-decision', 'Write into the journal that it was not placed', ({ retry }) =>
      activities('write “not placed” into the journal').denyPlacement({ row, by, note, retry }),
    );
    return undefined;
  }
}

/** @returns undefined where another order has them since the look, or the row stands no more */
export async function writeFound(saga: Saga, row: string, vmObjectIds: number[]): Promise<Seen | undefined> {
  const placed = { how: 'found', vmObjectIds } as const;
  return (await writePlaced(saga, row, placed)) === 'done' ? placed : undefined;
}

/**
 * @returns `superseded` where a person has denied this row, and it was sent again since: that one is asked about; or ids of
 * servers that other orders have, and then nothing is written
 */
function writePlaced(
  saga: Saga,
  row: string,
  placed: Seen,
  verdict?: { by: string; note: string },
): Promise<'done' | 'superseded' | OfOther[]> {
  return saga.write('write-decision', 'Write into the journal that it was placed', ({ retry }) =>
    activities('write “placed” into the journal').confirmPlacement({ row, placed, verdict, retry }),
  );
}

/** A sentence, so that nobody takes another reference's order for this one. */
function describeNamesakes(namesakes: readonly Namesake[]): string {
  const named = namesakes.map(({ reference, at, orderId }) => {
    return `${orderId === undefined ? '' : `${orderId} is `}${reference}${orderId === undefined ? '' : '’s'} (${inWords(at)})`;
  });
  return named.length === 0 ? '' : ` Others there, by the journal: ${named.join(', ')}.`;
}

function questionAbout(
  { step, noun, confirming, ...doubtful }: InDoubt,
  doubt: PivotDoubt,
  { lastFailure, others }: { lastFailure: CallFailure | undefined; others: readonly OfOther[] },
): Question<'outcome-unknown'> {
  const { row, at, restored, foundBy = doubtful.foundBy, namesakes = [] } = doubt;
  const what = restored
    ? `The journal was restored from an older copy. Whether ${noun} was placed in the lost time, nobody here knows`
    : `It is not known whether the provider placed ${noun}, which was sent on ${inWords(at)}`;
  const { hint, objection } = confirming?.() ?? {};
  return {
    kind: 'outcome-unknown',
    // Nobody knows it before; and it is of this row: a restored Temporal gives the same random ids again.
    subject: uuid4().slice(0, 4) + row.slice(0, 4),
    step: step.id,
    question:
      `${what}. ${lastFailure?.status === undefined ? '' : `${lastFailure.message}. `}` +
      `Look now in the provider’s control panel (${foundBy}): is it there?${describeNamesakes(namesakes)}${hint === undefined ? '' : ` ${hint}`}${describeOthers(others)}`,
    lastFailure,
    objection: (decision) => {
      if (decision.decision !== 'confirmPlaced' || decision.vmObjectIds === undefined) return undefined;
      return objection ? objection(decision.vmObjectIds) : 'vmObjectIds: this step brings no servers; leave it out';
    },
  };
}
