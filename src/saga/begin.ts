/**
 * The begin of a run: its reference belongs to its request for ever, the run owns it, and knows what was done under it.
 *
 * ```text
 *   begin ──another request has it──▶ Failed ReferenceTaken
 *     │  └──it has ended────────────▶ the recorded ending
 *     └── wait for the turn, where another saga works on the same server or subscription ──▶ the story
 * ```
 */
import type { PlacementFound, ReferenceTaken } from '../activities/journal';
import { definedOnly } from '../domain/defined-only';
import type { WorkflowName } from '../domain/identity';
import type { RequestOf } from '../domain/requests';
import { inPlace, isReset } from './activities';
import { EndedBefore } from './ends';
import { inWords } from './progress';
import type { Saga } from './saga';
import { waitForTurn } from './turn';

export interface Begun {
  /** What people have corrected of the request, in order. */
  corrections: unknown[];
  placement: PlacementFound;
}

/** @returns the run that has the reference with another request, where there is one. @throws EndedBefore */
export async function begin(
  saga: Saga,
  request: RequestOf[WorkflowName],
  resource: string | undefined,
): Promise<Begun | Extract<ReferenceTaken, { how: 'taken' }>> {
  const { journal, pivot } = saga;
  // Before the call: its place in the queue is given back also where the saga ends before it hears of it.
  if (resource !== undefined) journal.resource = resource;
  const step = saga.quietStep('take-reference', 'Write the request into the journal');
  const account = 'account' in request ? request.account : undefined;
  const taken = await saga.must(
    {
      step,
      inFlight: () => pivot?.step,
      act: async ({ retry, knows }) => {
        const asked = {
          request,
          hasPivot: pivot !== undefined,
          isReset: isReset(),
          ...definedOnly({ account, resource, knows }),
          retry,
        };
        const answer = await inPlace('write the request into the journal', retry !== undefined, (calls) =>
          calls.takeReference(asked),
        );
        if (answer.how === 'ended') throw new EndedBefore(answer);
        // Here, because a saga that is cancelled meanwhile hears no more of it.
        if (answer.how !== 'taken') journal.own(answer.knows);
        return answer;
      },
    },
    { refusal: 'ask' },
  );
  if (taken.how === 'taken') return taken;
  if (taken.how === 'known') {
    journal.inDoubt = true;
    step.say(`known since ${inWords(taken.at)}, run ${taken.run}: what was done for it is used, and not done again`);
  }
  if (resource !== undefined) await waitForTurn(saga, resource, taken.turn);
  const { corrections = [], placement = { how: 'none' } } = taken.how === 'known' ? taken : {};
  return { corrections, placement };
}
