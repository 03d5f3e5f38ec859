/**
 * The purchase with all corrections so far, and the agreement to it. There is no quote: the provider's document has none
 * for an order.
 *
 * A person is asked before the first cart item, so that a no leaves nothing to delete; and again after each correction.
 * That decides nothing: whether it may be sent, the order's own activity says, each time.
 */
import { z } from 'zod';
import { describeAlternative, itemFieldsOf, raisedQuantities, type PurchaseCorrection } from '../../domain/corrections';
import type { Terms } from '../../domain/may-be-sent';
import { cutWell } from '../../domain/markdown';
import { describePurchase, purchaseViolations } from '../../domain/purchases';
import { serversOrdered, type PlanTypes, type ServersOrdered } from '../../domain/plan-types';
import {
  correctableItemFields,
  provisionServersSchema,
  purchaseCorrectionFields,
  type ProvisionServersRequest,
} from '../../domain/requests';
import type { ResultOf } from '../../domain/results';
import { check } from '../../domain/validation';
import { activities } from '../../saga/activities';
import type { Act } from '../../saga/attempts';
import { askForReview } from '../../saga/people/approval';
import type { Correction, Corrections } from '../../saga/people/questions';
import { SagaFailed } from '../../saga/control-flow';
import type { Saga } from '../../saga/saga';
import { SecretsSent } from './secrets-sent';
import { CorrectedRequest } from '../../saga/people/corrected-request';

const planFields = ['plan_id', 'plan_type', 'os_template_id', 'billing_cycle'];

/** A correction of items needs this from the cart. */
export interface ItemsAdded {
  has: (number: number) => boolean;
  /** Deletes items, so that they are added again. */
  takeBack: (numbers: readonly number[]) => Promise<void>;
}

export class Purchase {
  private readonly sent: SecretsSent;
  private readonly wanted: CorrectedRequest<ProvisionServersRequest, PurchaseCorrection>;

  constructor(
    private readonly saga: Saga,
    first: ProvisionServersRequest,
    private readonly planTypes: PlanTypes,
  ) {
    this.wanted = new CorrectedRequest(saga, first, {
      // An item may be what an alternative names, by now.
      check: ({ items, ...request }) =>
        check(provisionServersSchema(planTypes), {
          ...request,
          items: items.map(({ alternatives: _, ...one }) => one),
        }),
      objections: (asked, corrected) => [
        ...raisedQuantities(asked, corrected),
        ...purchaseViolations(corrected.items, serversOrdered(corrected.items, planTypes), corrected.guard),
      ],
    });
    this.sent = new SecretsSent(first.items);
  }

  /** Of now, with all corrections: read anew for each call. */
  get secrets(): SecretsSent {
    for (const correction of this.wanted.corrections) this.sent.add(correction);
    return this.sent;
  }

  get request(): ProvisionServersRequest {
    return this.wanted.request;
  }

  get ordered(): ServersOrdered {
    return serversOrdered(this.request.items, this.planTypes);
  }

  get timesCorrected(): number {
    return this.wanted.corrections.length;
  }

  /** An item that was added before a correction and one that is added after it are two items. */
  timesItemCorrected(number: number): number {
    const isOf = ({ items, passedOver }: PurchaseCorrection) => items?.includes(number) && passedOver === undefined;
    return this.wanted.corrections.filter(isOf).length;
  }

  /** What the request names in the place of an item, as far as any run has come to it: taken, or passed over. */
  private alternativesOf(number: number): PurchaseCorrection[] {
    return this.wanted.corrections.filter(({ items, alternative }) => alternative && items?.includes(number));
  }

  /** In one sentence; empty where none was come to. */
  describeAlternatives(number: number): string {
    return this.alternativesOf(number).map(describeAlternative).join('; ');
  }

  /** What stands in the place of items that were sold out. */
  get instead(): ResultOf['provisionServers']['instead'] {
    const all = this.request.items.flatMap(({ plan_id }, index) => {
      const taken = this.alternativesOf(index + 1).findLast(({ passedOver }) => passedOver === undefined);
      if (!taken?.alternative || this.isChosen(index + 1)) return [];
      return [{ item: index + 1, alternative: taken.alternative, plan_id }];
    });
    return all.length > 0 ? all : undefined;
  }

  /** A person has said what is bought as this item. */
  private isChosen(number: number): boolean {
    const isOne = (one: PurchaseCorrection) => !one.alternative && one.items?.includes(number);
    return this.wanted.corrections.some((one) => isOne(one) && planFields.some((field) => field in one));
  }

  /** See {@link StepSpec.instead}. The item is not in the cart. A retry does not begin anew what was tried. */
  alternativeTo(number: number, step: string): (() => Promise<boolean>) | undefined {
    const alternative = Math.max(0, ...this.alternativesOf(number).map((one) => one.alternative ?? 0)) + 1;
    const fields = this.request.items[number - 1]?.alternatives?.[alternative - 1];
    if (fields === undefined || this.isChosen(number)) return undefined;
    return async () => {
      const judging = this.saga.unlistedStep('judge-alternative', 'Look what an alternative costs');
      const next = { items: [number], alternative };
      const correction = { ...next, ...fields };
      const judge: Act<string | undefined> = ({ retry }) =>
        activities('look what an alternative costs').judgeCorrection({ correction, retry });
      const why = this.wanted.objection(correction) ?? (await this.saga.must({ step: judging, act: judge }));
      const told = why === undefined ? correction : { ...next, passedOver: cutWell(why, 300) };
      // Of this id: what two runs say alike is written once.
      const id = `${this.request.reference}/${number}/${alternative}`;
      await this.wanted.correct(told, { step, by: 'the request', note: 'the item is sold out' }, id);
      return why === undefined || ((await this.alternativeTo(number, step)?.()) ?? false);
    };
  }

  /**
   * Once for the request as it is now.
   *
   * @throws SagaFailed where the guard forbids it, or a person rejects it; StateChanged where another run has placed it
   */
  async agree(): Promise<void> {
    const { notNow } = this.saga;
    if (notNow === undefined) return;
    if (notNow.how !== 'asks') throw new SagaFailed('GuardViolated', notNow.why);
    const { saga, request } = this;
    const step = saga.step('approve', 'Have the purchase approved');
    step.end('stuck');
    // Nobody should approve or reject a purchase of another run.
    await saga.throwIfPlaced(step);
    const approving = (terms: Terms, why: string) => this.approving(terms, why);
    await askForReview(saga, { step, noun: 'the order', approval: request.approval, approving }, notNow.concern);
    step.end('done', 'approved');
    saga.notNow = undefined;
  }

  /** See {@link Pivot.approving}. */
  approving({ total, currency, unpriced }: Terms, why: string): string {
    const price =
      unpriced === undefined
        ? `By the price list it costs about ${total} ${currency}; the provider names no price in advance.`
        : `The provider names no price in advance, and ${unpriced}.`;
    return `Approve ${describePurchase(this.request, this.ordered)}?${why} ${price}`;
  }

  /** While items are added. Where they are only stuck: what the waiting ones are built with. */
  correctionsOfItems(cart: ItemsAdded): Corrections {
    const waits = (number: number) => !cart.has(number);
    return {
      stuck: this.correction(cart, () => ({ item: this.itemNumber(waits).optional(), ...correctableItemFields() })),
      refused: this.correction(cart, () => this.allFields()),
    };
  }

  /** While the order is placed. Where it is only stuck, another run may have sent it: its items stay as they are. */
  correctionsOfOrder(cart: ItemsAdded): Corrections {
    return {
      stuck: this.correction(cart, () => ({ label: this.allFields().label })),
      refused: this.correction(cart, () => this.allFields()),
    };
  }

  private allFields() {
    return { item: this.itemNumber(() => true).optional(), ...purchaseCorrectionFields(this.planTypes) };
  }

  private itemNumber(fits: (number: number) => boolean) {
    const isOne = (number: number) => number >= 1 && number <= this.request.items.length && fits(number);
    return z.int('must be the number of an item').refine(isOne, 'is not the number of an item that waits');
  }

  /** `{"item": 2, "password": "…"}` corrects item 2; without `item`, every item that is not added yet. */
  private correction(cart: ItemsAdded, fields: () => z.ZodRawShape): Correction {
    const named = ({ item, ...correction }: Record<string, unknown>): PurchaseCorrection => {
      const items = item === undefined ? this.itemsIntended(cart) : [item as number];
      return { ...(Object.keys(itemFieldsOf(correction)).length === 0 ? {} : { items }), ...correction };
    };
    return {
      schema: () => z.strictObject(fields()),
      objection: (typed) => {
        const correction = named(typed);
        if (Object.keys(correction).length === 0) return 'names no field to correct';
        if (correction.items?.length === 0) {
          return `item: is required: there are ${this.request.items.length} items`;
        }
        return this.wanted.objection(correction);
      },
      apply: async (typed, said) => {
        const correction = named(typed);
        await this.wanted.correct(correction, said);
        await this.agree();
        await cart.takeBack((correction.items ?? []).filter((number) => cart.has(number)));
      },
    };
  }

  /** The items that wait to be added; where all are added and there is only one item, that one. */
  private itemsIntended(cart: ItemsAdded): number[] {
    const numbers = this.request.items.map((_, index) => index + 1);
    const waiting = numbers.filter((number) => !cart.has(number));
    return waiting.length === 0 && numbers.length === 1 ? numbers : waiting;
  }
}
