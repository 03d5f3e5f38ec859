/**
 * The begin of a run: its reference belongs to its request for ever, the run owns it, and knows what was done under it.
 *
 * ```text
 *   begin ──another request has it──▶ Failed ReferenceTaken
 *     │  ├──it has ended────────────▶ the recorded ending
 *     │  └──new sagas are held──────▶ wait until they are released, and again
 *     └── wait for the turn, where another saga works on the same server or subscription ──▶ the story
 * ```
 */
import { log, proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { Activities } from '../activities/index';
import type { PlacementFound, ReferenceTaken } from '../activities/journal';
import { definedOnly } from '../domain/defined-only';
import type { WorkflowName } from '../domain/identity';
import type { RequestOf } from '../domain/requests';
import { inWords } from '../domain/times';
import { inPlace, isReset } from './activities';
import { EndedBefore } from './ends';
import { describeHeld } from './current-details';
import type { Step } from './progress';
import type { Saga } from './saga';
import type { StoryContext } from './story';
import { waitForTurn } from './turn';

export interface Begun extends Omit<StoryContext, 'planTypesMore'> {
  placement: PlacementFound;
}

/**
 * Temporal makes the call again as long as it fails: that takes no event, and nobody has to be told when the hold ends.
 * Five minutes at most between two: so long after its end the last of the held sagas begins, and they begin spread.
 */
const { awaitRelease } = proxyActivities<Pick<Activities, 'awaitRelease'>>({
  startToCloseTimeout: '10 seconds',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '5 minutes' },
  cancellationType: 'TRY_CANCEL',
  summary: 'wait until new sagas are released',
});

async function untilReleased({ progress }: Saga, step: Step, who: string): Promise<void> {
  log.info('held', { who });
  progress.hold(step.id);
  setCurrentDetails(describeHeld(who));
  step.goOn(`new sagas are ${who}; nothing was sent`);
  try {
    await awaitRelease();
    progress.enter('running');
    step.say('was held');
  } catch (error) {
    step.end('failed', 'it was stopped while it was held');
    throw error;
  } finally {
    setCurrentDetails('');
  }
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
  const step = saga.unlistedStep('take-reference', 'Write the request into the journal');
  const account = 'account' in request ? request.account : undefined;
  const take = () =>
    saga.must({
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
        const asUsual = retry !== undefined || saga.notices.isTelling;
        const answer = await inPlace('write the request into the journal', asUsual, (calls) =>
          calls.takeReference(asked),
        );
        if (answer.how === 'ended') throw new EndedBefore(answer);
        // Here, because a saga that is cancelled meanwhile hears no more of it.
        if (answer.how !== 'taken' && answer.how !== 'held') journal.own(answer.knows);
        return answer;
      },
    });
  let taken = await take();
  while (taken.how === 'held') {
    await untilReleased(saga, step, taken.who);
    taken = await take();
  }
  if (taken.how === 'taken') return taken;
  if (taken.how === 'known') {
    journal.inDoubt = true;
    step.say(`known since ${inWords(taken.at)}, run ${taken.run}: what was done for it is used, and not done again`);
  }
  saga.notices.wanted = taken.wanted ?? [];
  if (resource !== undefined) await waitForTurn(saga, resource, taken.turn);
  const { corrections = [], placement = { how: 'none' } } = taken.how === 'known' ? taken : {};
  const { unprotected, estimate } = taken;
  return { corrections, placement, unprotected, estimate };
}
