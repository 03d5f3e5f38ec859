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

function correctPurchase(request: ProvisionServersRequest, correction: PurchaseCorrection): ProvisionServersRequest {
  const { items: numbers = [] } = correction;
  const fields = itemFieldsOf(correction);
  const others = Object.entries(correction).filter(([field]) => ofTheOrder.includes(field));
  return {
    ...request,
    ...Object.fromEntries(others),
    items: request.items.map((item, index) => (numbers.includes(index + 1) ? { ...item, ...fields } : item)),
  };
}

/** Of the alternatives, the last that was taken holds: it takes the place of the item, and not of the one before it. */
function standing(corrections: readonly PurchaseCorrection[]): PurchaseCorrection[] {
  const taken = corrections.filter(({ alternative, passedOver }) => alternative && passedOver === undefined);
  const last = new Map(taken.map((one) => [one.items?.[0], one]));
  return corrections.filter((one) => one.alternative === undefined || last.get(one.items?.[0]) === one);
}

/** @param corrections of a request of that workflow, in their order, as the journal has them */
export function correctedBy<R>(corrections: readonly unknown[], workflow: WorkflowName, first: R): R {
  if (workflow !== 'provisionServers') return Object.assign({}, first, ...corrections) as R;
  return standing(corrections as PurchaseCorrection[]).reduce(correctPurchase, first as ProvisionServersRequest) as R;
}

/** "alternative 1 passed over: …", "alternative 2: plan_id 18"; undefined for a correction by a person. */
export function describeAlternative(correction: PurchaseCorrection): string | undefined {
  const { items: _, alternative, passedOver, ...fields } = correction;
  if (alternative === undefined) return undefined;
  const named = Object.entries(fields).map(([field, value]) => `${field} ${JSON.stringify(value)}`);
  return `alternative ${alternative}${passedOver === undefined ? `: ${named.join(', ')}` : ` passed over: ${passedOver}`}`;
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
