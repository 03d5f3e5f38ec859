/** A provisioning that does not run any more: what the journal has of it, and what a clean-up does not put in order. */
import type { Standing } from '../../activities/journal';
import type { Leftover } from '../../domain/outcomes';
import { activities } from '../../saga/activities';
import { askAboutPlacement, untilSettled } from '../../saga/doubt';
import { SagaFailed } from '../../saga/ends';
import type { Saga } from '../../saga/saga';
import type { CleanUpState } from '../../saga/story';
import { reportDoubtfulAdds, reportPerhapsOrdered, untold } from './cart';
import { lookAtAssigned } from './protect-servers';

export class LostProvisioning {
  cleanUp: CleanUpState = 'unknown';
  /** Undefined before the first look, where the provisioning goes on, and once it is reported. */
  private standing: Standing | undefined;

  constructor(
    private readonly saga: Saga,
    private readonly reference: string,
  ) {}

  /**
   * Looks into the journal, and again after each wait: a person may take days, and the provisioning may go on meanwhile.
   *
   * @returns what is in the cart, and in no order; and what is left alone, because it is in one
   * @throws SagaFailed where it runs
   */
  async settle(): Promise<Pick<Standing, 'items'> & { leftAlone: number[] }> {
    const { saga, reference } = this;
    let leftAlone: number[] = [];
    for (;;) {
      const standing = await this.look();
      this.standing = standing.running ? undefined : standing;
      this.cleanUp = standing.running ? 'unknown' : 'leftovers';
      if (standing.running) {
        const why = `the provisioning of ${reference} is still running: request its cancellation instead`;
        throw new SagaFailed('InvalidRequest', why);
      }
      const { placement, perhapsOrdered, items } = standing;
      if (placement.how === 'placed') saga.passPivot();
      if (placement.how !== 'unknown') return { items, leftAlone };
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

  /** @param isChanged since it was looked at: whoever began meanwhile reports what it does and leaves */
  async report({ isChanged }: { isChanged: boolean }): Promise<void> {
    const { saga, standing } = this;
    if (standing === undefined) throw new Error('it was not looked at');
    const now = isChanged ? await this.look() : standing;
    if (now.running) this.reportUnseen(standing);
    else {
      const isInOrder = now.placement.how === 'none' && untold(saga, now.items).length === 0;
      this.reportOpen(await this.withDenied(now));
      if (isInOrder) this.cleanUp = 'clean';
    }
    this.standing = undefined;
  }

  /** Reports what the clean-up was to delete or to ask about, and did not reach. */
  reportUnreached(): void {
    if (this.standing !== undefined) this.reportOpen(this.standing);
  }

  private reportOpen(standing: Standing): void {
    const { saga } = this;
    const { items, perhapsOrdered, placement } = standing;
    if (placement.how === 'unknown') {
      const why = 'the clean-up ended before a person said whether it was placed';
      saga.progress.leave({ kind: 'placement-unknown', step: 'place-order', why });
    }
    reportPerhapsOrdered(saga, untold(saga, perhapsOrdered));
    this.reportUnseen(standing);
    for (const { cartItemId } of untold(saga, items)) {
      const step = saga.step(`delete-cart-item-${cartItemId}`, `Delete cart item ${cartItemId}`);
      if (step.status === 'done') continue;
      const why = 'the clean-up ended before it was deleted';
      saga.progress.leave({ kind: 'cart-item', cartItemId, why });
    }
  }

  /** All leftovers but cart items of known id. */
  private reportUnseen({ doubtfulAdds, unprotected = [] }: Standing): void {
    reportDoubtfulAdds(this.saga, doubtfulAdds);
    this.saga.progress.leave(...unprotected);
  }

  /** The journal knows what was assigned; only the provider's list shows whether it is there. */
  private async withDenied(standing: Standing): Promise<Standing> {
    const { unprotected, assigned } = standing;
    if (unprotected === undefined) return standing;
    const why = 'the provider’s list does not show them, and the saga has not ended';
    const denied = [...(await lookAtAssigned(this.saga, assigned))].map(([vmObjectId, firewalls]): Leftover => {
      return { kind: 'server-unprotected', vmObjectId, firewalls: [...firewalls], why };
    });
    return { ...standing, unprotected: [...unprotected, ...denied] };
  }

  private async look(): Promise<Standing> {
    const { saga, reference } = this;
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
}
