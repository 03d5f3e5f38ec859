/**
 * A run that came from a reset answers for the one that was cut short: that one has no outcome. Where the saga ends before it
 * was settled whether the earlier run placed anything, what that run did is told here.
 */
import { patched, workflowInfo } from '@temporalio/workflow';
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

/** To be run when everything is undone, in a scope that cannot be cancelled. `patched`: older runs did not look. */
export async function tellOfEarlierRuns(saga: Saga): Promise<void> {
  const { workflow, reference, leftovers } = saga.progress;
  const pivot = pivotOf[workflow];
  if (pivot === undefined || saga.earlierRunsSettled || !patched('tell-of-earlier-runs')) return;
  const { firstExecutionRunId: firstRunId } = workflowInfo();
  const looked = await attempt({ step: new Step('read-histories', 'Read what earlier runs did') }, (again) =>
    once('read what earlier runs did').readEarlierRuns({ workflow, reference, firstRunId, again }),
  );
  // What could not be read may hold anything.
  const earlier = looked.ok ? looked.value : { perhapsPlaced: true, items: [], doubtfulAdds: 0 };
  const told = (kind: string) => leftovers.filter((leftover) => leftover.kind === kind).length;
  if (earlier.perhapsPlaced && told('placement-unknown') === 0) {
    const why = 'an earlier run of this reference, which was cut short by a reset, placed it or may have';
    leftovers.push({ kind: 'placement-unknown', step: pivot, why });
  }
  for (const cartItemId of earlier.items) {
    if (leftovers.some((leftover) => leftover.kind === 'cart-item' && leftover.cartItemId === cartItemId)) continue;
    leftovers.push({ kind: 'cart-item', cartItemId, why: 'an earlier run, which was cut short by a reset, added it' });
  }
  tellDoubtfulAdds(saga, earlier.doubtfulAdds - told('cart-item-unknown'));
}
