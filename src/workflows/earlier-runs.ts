/**
 * A run that came from a reset answers for the one that was cut short: that one has no outcome. Where the saga ends before it
 * was settled whether the earlier run placed anything, it is looked what that run did: its order's items are not deleted, though
 * this run has them in its history as its own, and what it left behind is told here.
 */
import { patched, workflowInfo } from '@temporalio/workflow';
import type { EarlierRuns } from '../activities/abandoned-items';
import type { WorkflowName } from '../domain/identity';
import { attempt } from './attempts';
import { tellDoubtfulAdds } from './cart-items';
import { Step } from './progress';
import type { Saga } from './saga';
import { once } from './temperaments';

const pivotOf: Partial<Record<WorkflowName, string>> = {
  provisionServers: 'place-order',
  changeOrder: 'place-change-order',
  switchPlan: 'switch-plan',
};

/**
 * To be run before anything is undone, in a scope that cannot be cancelled. `patched`: older runs did not look.
 *
 * @returns undefined where no earlier run can have placed anything
 */
export async function lookAtEarlierRuns(saga: Saga): Promise<EarlierRuns | undefined> {
  const { workflow, reference } = saga.progress;
  if (pivotOf[workflow] === undefined || saga.earlierRunsSettled || !patched('tell-of-earlier-runs')) return undefined;
  const { firstExecutionRunId: firstRunId } = workflowInfo();
  const looked = await attempt({ step: new Step('read-histories', 'Read what earlier runs did') }, (again) =>
    once('read what earlier runs did').readEarlierRuns({ workflow, reference, firstRunId, again }),
  );
  if (looked.ok) {
    saga.spare(looked.value.ordered ?? []);
    const own = saga.undoable.flatMap((left) => (left.kind === 'cart-item' ? [left.cartItemId] : []));
    return { ...looked.value, items: looked.value.items.filter((id) => !own.includes(id)) };
  }
  // What could not be read may hold anything.
  saga.leaveAlone('it could not be read whether an earlier run of this reference ordered it');
  return { perhapsPlaced: true, items: [], doubtfulAdds: 0 };
}

/** To be run when everything is undone: of this run's own items the undo has told what is left. */
export function tellOfEarlierRuns(saga: Saga, earlier: EarlierRuns): void {
  const { workflow, leftovers } = saga.progress;
  const pivot = pivotOf[workflow];
  const told = (kind: string) => leftovers.filter((leftover) => leftover.kind === kind).length;
  if (pivot !== undefined && earlier.perhapsPlaced && told('placement-unknown') === 0) {
    const why = 'an earlier run of this reference, which was cut short by a reset, placed it or may have';
    leftovers.push({ kind: 'placement-unknown', step: pivot, why });
  }
  for (const cartItemId of earlier.items) {
    if (leftovers.some((leftover) => leftover.kind === 'cart-item' && leftover.cartItemId === cartItemId)) continue;
    leftovers.push({ kind: 'cart-item', cartItemId, why: 'an earlier run, which was cut short by a reset, added it' });
  }
  tellDoubtfulAdds(saga, earlier.doubtfulAdds - told('cart-item-unknown'));
}
