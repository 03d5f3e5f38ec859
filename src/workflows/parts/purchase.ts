/**
 * The purchase with all corrections so far, and the agreement to it: the caller's guard, and where the request asks for
 * it, a person's approval. There is no quote: the provider's document has none for an order.
 *
 * It is agreed to before the first cart item, so that a no leaves nothing to delete; and again after each correction.
 */
import { z } from 'zod';
import { definedOnly } from '../../domain/defined-only';
import { correctPurchase, itemFieldsOf, raisedQuantities, type PurchaseCorrection } from '../../domain/corrections';
import type { Estimate } from '../../domain/prices';
import { describePurchase, purchaseNeedsApproval, purchaseViolations, totalViolation } from '../../domain/purchases';
import { serversOrdered, type ServersOrdered } from '../../domain/plan-types';
import {
  correctableItemFields,
  provisionServersSchema,
  purchaseCorrectionFields,
  type ProvisionServersRequest,
} from '../../domain/requests';
import { check } from '../../domain/validation';
import { askApproval } from '../../saga/approval';
import type { Correction, Corrections } from '../../saga/questions';
import { SagaFailed, StateChanged } from '../../saga/ends';
import type { Saga } from '../../saga/saga';
import type { StoryContext } from '../../saga/story';
import { SecretsSent } from './secrets-sent';
import { CorrectedRequest } from '../../saga/corrected-request';

/** A correction of items needs this from the cart. */
export interface ItemsAdded {
  has: (number: number) => boolean;
  /** Deletes items, so that they are added again. */
  takeBack: (numbers: readonly number[]) => Promise<void>;
}

export class Purchase {
  readonly secrets: SecretsSent;
  private isAgreed = false;
  private readonly wanted: CorrectedRequest<ProvisionServersRequest, PurchaseCorrection>;

  constructor(
    private readonly saga: Saga,
    first: ProvisionServersRequest,
    private readonly known: StoryContext,
  ) {
    const { planTypesMore, corrections } = known;
    this.wanted = new CorrectedRequest(saga, first, corrections, {
      apply: correctPurchase,
      check: (request) => check(provisionServersSchema(planTypesMore), request),
      objections: (asked, corrected) => [
        ...raisedQuantities(asked, corrected),
        ...purchaseViolations(corrected.items, serversOrdered(corrected.items, planTypesMore), corrected.guard),
      ],
    });
    this.secrets = new SecretsSent([...first.items, ...(corrections as PurchaseCorrection[])]);
  }

  get request(): ProvisionServersRequest {
    return this.wanted.request;
  }

  get ordered(): ServersOrdered {
    return serversOrdered(this.request.items, this.known.planTypesMore);
  }

  get timesCorrected(): number {
    return this.wanted.corrections.length;
  }

  /** An item that was added before a correction and one that is added after it are two items. */
  timesItemCorrected(number: number): number {
    return this.wanted.corrections.filter(({ items }) => items?.includes(number)).length;
  }

  /**
   * Once for the request as it is now.
   *
   * @throws SagaFailed where the guard forbids it, or a person rejects it; StateChanged where another run has placed it
   */
  async agree(): Promise<void> {
    if (this.isAgreed) return;
    await agreeToPurchase(this.saga, this.request, this.ordered, this.known);
    this.isAgreed = true;
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
    return { item: this.itemNumber(() => true).optional(), ...purchaseCorrectionFields(this.known.planTypesMore) };
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
        this.secrets.add(correction);
        this.known.estimate = await this.wanted.correct(correction, said);
        this.isAgreed = false;
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

const noList: Estimate = { unpriced: 'there is no price list (PRICE_LIST_FILE)' };

async function agreeToPurchase(
  saga: Saga,
  request: ProvisionServersRequest,
  ordered: ServersOrdered,
  { unprotected, estimate = noList }: Pick<StoryContext, 'unprotected' | 'estimate'>,
): Promise<void> {
  const { items, guard, approval } = request;
  const tooDear = totalViolation(guard?.maxTotal, estimate);
  const violations = [...purchaseViolations(items, ordered, guard), ...(tooDear === undefined ? [] : [tooDear])];
  if (violations.length > 0) throw new SagaFailed('GuardViolated', violations.join('; '));
  const isUnprotected = unprotected !== undefined && ordered.most > 0 && !request.firewalls?.length;
  if (isUnprotected && unprotected === 'refuse') {
    throw new SagaFailed('GuardViolated', 'it buys servers and names no firewalls, and REQUIRE_FIREWALLS refuses that');
  }
  if (!isUnprotected && !purchaseNeedsApproval(ordered.most, estimate, approval)) return;
  const step = saga.step('approve', 'Have the purchase approved');
  step.end('stuck');
  try {
    const without = isUnprotected ? ' It names no firewalls: the servers will have none.' : '';
    const isByTotal = typeof approval === 'object' && 'aboveTotal' in approval;
    const price =
      estimate.unpriced !== undefined
        ? `The provider names no price in advance${estimate === noList && !isByTotal ? '' : `, and ${estimate.unpriced}`}.`
        : `By the price list it costs about ${estimate.total} ${estimate.currency}; the provider names no price in advance.`;
    const question = `Approve ${describePurchase(request, ordered)}?${without} ${price}`;
    await askApproval(saga, { step, question, approval, ...definedOnly({ subject: estimate.id }) });
  } catch (error) {
    if (!(error instanceof StateChanged)) step.end('failed');
    throw error;
  }
  step.end('done', 'approved');
}
