/** People correct a request before its pivot: the first request stays, and the journal keeps the corrections. */
import type { WorkflowName } from './identity';
import type { ProvisionServersRequest } from './requests';

/**
 * `items`: the numbers of the items, from 1, that get the item's fields. `alternative`: the request itself names it in the
 * place of what is sold out, as the item's so many-th, from 1; `passedOver`: why it does not take that place.
 */
export type PurchaseCorrection = Partial<ProvisionServersRequest['items'][number]> &
  Partial<Pick<ProvisionServersRequest, 'label' | 'currency' | 'vmObjectIds'>> & {
    items?: number[];
    alternative?: number;
    passedOver?: string;
  };

/** The fields of a {@link PurchaseCorrection} that are not an item's: of the order, and of the correction. */
const ofTheOrder: readonly string[] = ['label', 'currency', 'vmObjectIds'];
const ofItself: readonly string[] = ['items', 'alternative', 'passedOver'];

/** The part that is about items. */
export function itemFieldsOf(correction: PurchaseCorrection): Partial<ProvisionServersRequest['items'][number]> {
  return Object.fromEntries(
    Object.entries(correction).filter(([field]) => ![...ofTheOrder, ...ofItself].includes(field)),
  );
}

export function correctPurchase(
  request: ProvisionServersRequest,
  correction: PurchaseCorrection,
): ProvisionServersRequest {
  const { items: numbers = [] } = correction;
  const fields = itemFieldsOf(correction);
  const others = Object.entries(correction).filter(([field]) => ofTheOrder.includes(field));
  return {
    ...request,
    ...Object.fromEntries(others),
    items: request.items.map((item, index) => (numbers.includes(index + 1) ? { ...item, ...fields } : item)),
  };
}

/** @param corrections of a request of that workflow, in their order, as the journal has them */
export function correctedBy(corrections: readonly unknown[], workflow: WorkflowName, request: unknown): unknown {
  return corrections.reduce((wanted, correction) => {
    if (workflow === 'provisionServers') {
      return correctPurchase(wanted as ProvisionServersRequest, correction as PurchaseCorrection);
    }
    return { ...(wanted as object), ...(correction as object) };
  }, request);
}

type Items = Pick<ProvisionServersRequest, 'items'>;

/** Quantities that a correction raises, as sentences: it must not buy more than the request asked for. */
export function raisedQuantities(first: Items, corrected: Items): string[] {
  return corrected.items.flatMap(({ quantity = 1 }, index) => {
    const most = first.items[index]?.quantity ?? 1;
    if (quantity <= most) return [];
    return [`items[${index}].quantity: must not be more than ${most}, as in the first request`];
  });
}
