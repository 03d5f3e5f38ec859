/**
 * The begin of a run: its reference belongs to its request for ever, the run owns it, and knows what was done under it.
 *
 * ```text
 *   begin ──another request has it──▶ Failed ReferenceTaken
 *     │  ├──it has ended────────────▶ the recorded ending
 *     │  └──new sagas are held──────▶ wait until they are released, and again
 *     └──queued, behind another saga──▶ wait for the signal or some time, ask again ──its turn──▶ the saga
 * ```
 */
import {
  CancellationScope,
  condition,
  defineSignal,
  log,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../activities/index';
import type { PlacementFound, ReferenceTaken, TakeReference } from '../activities/journal';
import type { WorkflowName } from '../domain/identity';
import type { RequestOf } from '../domain/requests';
import { inWords } from '../domain/times';
import { turnSignal, type TurnAnswer } from '../domain/turns';
import { activities, cancelledBeside, viaLocalActivity, isReset } from './activities';
import { EndedBefore } from './control-flow';
import { describeHeld, describeQueue } from './shown/current-details';
import { now, type Step } from './shown/progress';
import type { Saga } from './saga';

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
  progress.enterWait('held', step.id);
  setCurrentDetails(describeHeld(who));
  step.resume(`new sagas are ${who}; nothing was sent`);
  try {
    await awaitRelease();
    progress.enter('running');
    step.setDetail('was held');
  } catch (error) {
    step.end('failed', 'it was stopped while it was held');
    throw error;
  } finally {
    setCurrentDetails('');
  }
}

/** @returns what was placed; or the run that has the reference with another request. @throws EndedBefore */
export async function begin(
  saga: Saga,
  request: RequestOf[WorkflowName],
): Promise<PlacementFound | Extract<ReferenceTaken, { how: 'taken' }>> {
  const { journal, pivot } = saga;
  const { resource } = journal;
  const scope = CancellationScope.current();
  const step = saga.unlistedStep('take-reference', 'Write the request into the journal');
  const account = 'account' in request ? request.account : undefined;
  const take = () =>
    saga.must({
      step,
      inFlight: () => pivot?.step(),
      act: async ({ retry, cursor }) => {
        const hasPivot = pivot !== undefined;
        const asked = { request, hasPivot, isReset: isReset(), account, resource, cursor, retry };
        const title = 'write the request into the journal';
        const heard = journal.hasCalled ? undefined : await viaLocalActivityUnlessCancelled(scope, title, asked);
        journal.hasCalled = true;
        saga.deadline.start?.();
        const answer = heard ?? (await activities(title).takeReference(asked));
        if (answer.how === 'ended') throw new EndedBefore(answer);
        // Here, because a saga that is cancelled meanwhile hears no more of it.
        if (answer.how !== 'taken' && answer.how !== 'held') journal.acquired(answer.cursor);
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
    journal.mayHaveLeftovers = true;
    step.setDetail(
      `known since ${inWords(taken.at)}, run ${taken.run}: what was done for it is used, and not done again`,
    );
  }
  saga.notices.wanted = taken.wanted ?? [];
  if (resource !== undefined && taken.turn) await waitForTurn(saga, resource, taken.turn);
  const { corrections = [], placement = { how: 'none' } } = taken.how === 'known' ? taken : {};
  Object.assign(saga, { corrections, notNow: taken.notNow });
  return placement;
}

/**
 * The first call of a run, beside which nothing else can end. A cancellation can come beside it, and at a replay would
 * come after what the run does next, see {@link viaLocalActivity}: then this task fails, and the next attempt is a replay.
 */
async function viaLocalActivityUnlessCancelled(scope: CancellationScope, title: string, asked: TakeReference) {
  const { historyLength, unsafe } = workflowInfo();
  const { isReplaying } = unsafe;
  const heard = await viaLocalActivity(title, (calls) => calls.takeReference(asked));
  const isParted = workflowInfo().historyLength !== historyLength && !isReplaying;
  if (isParted && scope.consideredCancelled) throw new Error(cancelledBeside);
  return heard;
}

/**
 * Only one saga at a time works on a server or a subscription. The journal has the queue; a saga that ends wakes the
 * next one by a signal, and the timer is for one that ended without a signal.
 *
 * @param first what the journal said as the reference was taken
 */
async function waitForTurn(saga: Saga, resource: string, first: TurnAnswer): Promise<void> {
  const { journal, progress } = saga;
  let woken = false;
  setHandler(
    defineSignal(turnSignal),
    () => {
      woken = true;
    },
    { description: 'Look at once whether it is its turn; for a saga that is queued' },
  );
  const step = saga.unlistedStep('take-turn', `Wait for the turn at ${resource}`);
  let queuedSince: string | undefined;
  let answer = first;
  try {
    while (answer.how === 'queued') {
      const { since, before, holder, holderWaits, lookInMs } = answer;
      const queued = { resource, since, before, holder, holderWaits, lookedAt: now() };
      if (queuedSince === undefined) log.info('queued', { resource, before, holder });
      queuedSince = since;
      progress.queue(step.id, queued);
      setCurrentDetails(describeQueue(queued));
      const does = holderWaits === undefined ? 'works' : `waits for a person (${holderWaits})`;
      step.resume(`queued since ${inWords(since)}, ${before} before it; ${holder} ${does}`);
      await condition(() => woken, lookInMs);
      woken = false;
      answer = await saga.must({
        step,
        act: ({ retry }) => activities(`ask for the turn at ${resource}`).takeTurn({ resource, retry }),
      });
    }
    if (queuedSince !== undefined) {
      progress.enter('running');
      step.end('done', `was queued from ${inWords(queuedSince)} to ${inWords(now())}`);
      log.info('its turn has come', { resource });
    }
    if (answer.how === 'begun') journal.turn = answer.turn;
  } catch (error) {
    step.end('failed', 'it was stopped before its turn');
    throw error;
  } finally {
    progress.stopQueueing();
    setCurrentDetails('');
  }
}
