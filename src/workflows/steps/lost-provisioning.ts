/** A provisioning that does not run any more: what the journal has of it, and what a clean-up does not put in order. */
import type { ReferenceState } from '../../activities/journal';
import { askAboutPlacement, untilSettled } from '../../saga/people/in-doubt';
import { SagaFailed } from '../../saga/control-flow';
import { finalRead } from '../../saga/final-read';
import type { Saga } from '../../saga/saga';
import { deleteStep, reportDoubtfulAdds, reportPerhapsOrdered, unreported } from './cart';
import { lookAtAssigned } from './protect-servers';

export class LostProvisioning {
  /** Undefined before the first look, and once it is reported. */
  private standing: ReferenceState | undefined;

  constructor(private readonly saga: Saga) {}

  /**
   * Begins, and again after each wait: a person may take days, and the provisioning may go on meanwhile.
   *
   * @returns what is in the cart, and in no order; and what is left alone, because it is in one
   * @throws SagaFailed where it runs, or is not known
   */
  async settle(): Promise<Pick<ReferenceState, 'items'> & { leftAlone: number[] }> {
    const { saga } = this;
    let leftAlone: number[] = [];
    for (;;) {
      try {
        this.standing = await saga.must(finalRead(saga), { refusal: 'InvalidRequest' });
      } catch (error) {
        // It goes on, and reports by itself.
        if (error instanceof SagaFailed) saga.journal.isReferenceOurs = false;
        throw error;
      }
      const { placement, perhapsOrdered, items } = this.standing;
      if (placement.how === 'placed') saga.passPivot();
      if (placement.how !== 'unknown') return { items, leftAlone };
      const step = saga.step('settle-order', 'Learn whether the order was placed');
      step.end('stuck');
      const named = perhapsOrdered.map(({ cartItemId }) => cartItemId);
      const doubtful = { step, noun: 'the order', foundBy: `cart items ${named.join(', ')}` };
      const { note } = placement;
      const doubt = { ...placement, foundBy: note && `${note.foundBy}, ${doubtful.foundBy}` };
      await untilSettled(saga, doubtful, placement);
      const placed = await askAboutPlacement(saga, doubtful, doubt);
      leftAlone = placed ? named : [];
      step.end('done', placed ? 'it was placed' : 'it was not placed');
    }
  }

  /** Reports what the clean-up was not to delete, or did not reach. @param looksAtServers at the provider's lists, too */
  async report({ looksAtServers = false } = {}): Promise<void> {
    const { saga, standing } = this;
    const { progress } = saga;
    if (standing === undefined || !saga.journal.isReferenceOurs) return;
    this.standing = undefined;
    const { items, perhapsOrdered, doubtfulAdds, unprotected, assigned, placement } = standing;
    if (placement.how === 'unknown') {
      const why = 'the clean-up ended before a person said whether it was placed';
      progress.addLeftovers({ kind: 'placement-unknown', step: 'place-order', why });
    }
    reportPerhapsOrdered(saga, unreported(saga, perhapsOrdered));
    reportDoubtfulAdds(saga, doubtfulAdds);
    progress.addLeftovers(...(unprotected ?? []));
    for (const item of unreported(saga, items)) {
      if (deleteStep(saga, item).status === 'done') continue;
      const why = 'the clean-up ended before it was deleted';
      progress.addLeftovers({ kind: 'cart-item', cartItemId: item.cartItemId, why });
    }
    if (unprotected === undefined || !looksAtServers) return;
    // The journal knows what was assigned; only the provider's list shows whether it is there.
    const why = 'the provider’s list does not show them, and the saga has not ended';
    for (const { vmObjectId, denied: firewalls } of await lookAtAssigned(saga, assigned))
      if (firewalls.length > 0) progress.addLeftovers({ kind: 'server-unprotected', vmObjectId, firewalls, why });
  }
}
