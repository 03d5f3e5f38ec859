/**
 * Delete what a provisioning run that was terminated, or that timed out, left in the cart.
 *
 * ```text
 *   look into the journal of the reference                        ◀─┐
 *   ask about an order of unknown outcome, write down the answer ───┘ look again: it may have taken days
 *   delete each item that belongs to no order (3)      only forward: a deleted item is not added again
 *   look once more                  the provisioning may have begun again meanwhile
 *   look at the firewalls of the servers (10)          what was assigned may not be there
 * ```
 *
 * It brings a lost saga to its end only where nothing was placed. Placed servers still need their firewalls, and the
 * caller a result: for that an operator resets the saga itself.
 */
import type { Standing } from '../../activities/journal';
import type { Leftover } from '../../domain/leftovers';
import type { ResultOf } from '../../domain/results';
import { lookAtAssigned } from '../parts/protect-servers';
import { deleteItems, reportDoubtfulAdds, reportPerhapsOrdered, untold } from '../parts/cart-items';
import { askAboutPlacement, untilSettled } from '../../saga/doubt';
import { SagaFailed } from '../../saga/ends';
import type { Saga } from '../../saga/saga';
import { runSaga } from '../../saga/run-saga';
import type { StoryOf } from '../../saga/story';
import { activities } from '../../saga/activities';

/** What the clean-up knows so far. */
interface LastLook {
  /** Undefined: it has not looked yet, or the provisioning goes on. */
  standing?: Standing | undefined;
  isInOrder?: boolean;
  storyFinished?: boolean;
}

export function cleanCart(input: unknown): Promise<ResultOf['cleanCart']> {
  return runSaga('cleanCart', input, cleaning);
}

const cleaning: StoryOf<'cleanCart', never> = (saga, { reference }) => {
  const lastLook: LastLook = {};
  const finish = async () => {
    const { leftAlone, ...standing } = await settle(saga, reference, lastLook);
    const deleted = await deleteItems(saga, standing.items);
    const now = standing.items.length > 0 ? await look(saga, reference) : standing;
    // A provisioning that began again reports by itself what it does and what it leaves.
    if (now.running) reportUnseen(saga, standing);
    else {
      lastLook.isInOrder = now.placement.how === 'none' && untold(saga, now.items).length === 0;
      reportOpen(saga, await withDenied(saga, now));
    }
    lastLook.storyFinished = true;
    const { leftovers, decisions } = saga.progress;
    return { reference, deleted, leftAlone, leftovers, decisions };
  };
  return {
    finish,
    other: {
      known: () => {
        const { standing, isInOrder, storyFinished } = lastLook;
        if (standing === undefined) return 'nothing';
        return storyFinished && isInOrder ? 'all-in-order' : 'something';
      },
    },
    reportLeftovers: () => {
      if (lastLook.standing !== undefined && !lastLook.storyFinished) reportOpen(saga, lastLook.standing);
    },
  };
};

/** Reports all leftovers but cart items of known id. */
function reportUnseen(saga: Saga, { doubtfulAdds, unprotected = [] }: Standing): void {
  reportDoubtfulAdds(saga, doubtfulAdds);
  saga.progress.leave(...unprotected);
}

/** Reports what the clean-up was to delete or to ask about, and did not reach. */
function reportOpen(saga: Saga, standing: Standing): void {
  const { items, perhapsOrdered, placement } = standing;
  if (placement.how === 'unknown') {
    const why = 'the clean-up ended before a person said whether it was placed';
    saga.progress.leave({ kind: 'placement-unknown', step: 'place-order', why });
  }
  reportPerhapsOrdered(saga, untold(saga, perhapsOrdered));
  reportUnseen(saga, standing);
  for (const { cartItemId } of untold(saga, items)) {
    const step = saga.step(`delete-cart-item-${cartItemId}`, `Delete cart item ${cartItemId}`);
    if (step.status === 'done') continue;
    const why = 'the clean-up ended before it was deleted';
    saga.progress.leave({ kind: 'cart-item', cartItemId, why });
  }
}

/** The journal knows what was assigned; only the provider's list shows whether it is there. */
async function withDenied(saga: Saga, standing: Standing): Promise<Standing> {
  const { unprotected, assigned } = standing;
  if (unprotected === undefined) return standing;
  const why = 'the provider’s list does not show them, and the saga has not ended';
  const denied = [...(await lookAtAssigned(saga, assigned))].map(([vmObjectId, firewalls]): Leftover => {
    return { kind: 'server-unprotected', vmObjectId, firewalls: [...firewalls], why };
  });
  return { ...standing, unprotected: [...unprotected, ...denied] };
}

/** The standing of the reference, once the outcome of its order is known. */
async function settle(saga: Saga, reference: string, lastLook: LastLook): Promise<Standing & { leftAlone: number[] }> {
  let leftAlone: number[] = [];
  for (;;) {
    const standing = await look(saga, reference);
    lastLook.standing = standing.running ? undefined : standing;
    if (standing.running) {
      const { runningIn } = standing;
      const message =
        runningIn === undefined
          ? `the provisioning of ${reference} is still running: request its cancellation instead`
          : `the provisioning of ${reference} is open in namespace ${runningIn}, and may be running: request its cancellation there; ` +
            'if it was terminated, start the clean-up there';
      throw new SagaFailed('InvalidRequest', message);
    }
    const { placement, perhapsOrdered } = standing;
    if (placement.how === 'placed') saga.passPivot();
    if (placement.how !== 'unknown') return { ...standing, leftAlone };
    const step = saga.step('settle-order', 'Learn whether the order was placed');
    step.end('stuck');
    const named = perhapsOrdered.map(({ cartItemId }) => cartItemId);
    const doubtful = { step, noun: 'the order', foundBy: `cart items ${named.join(', ')}` };
    const { note } = placement;
    const doubt = { ...placement, foundBy: note && `${note.foundBy}, ${doubtful.foundBy}` };
    await untilSettled(saga, doubtful, saga.settledMs(placement));
    const placed = await askAboutPlacement(saga, doubtful, doubt);
    leftAlone = placed ? named : [];
    step.end('done', placed ? 'it was placed' : 'it was not placed');
  }
}

/** Called again after each wait: a person may take days, and the provisioning may go on meanwhile. */
async function look(saga: Saga, reference: string): Promise<Standing> {
  const standing = await saga.must(
    {
      step: saga.unlistedStep('read-journal', 'Read what was done under this reference'),
      act: (asked) => activities(`read what was done under ${reference}`).readStanding({ ...asked, orRunning: true }),
    },
    { refusal: 'InvalidRequest' },
  );
  if (!standing.known) throw new SagaFailed('InvalidRequest', `no provisioning of ${reference} is known`);
  return standing;
}
