/**
 * The provider's payloads, with the document's field names. Requests are types only: the caller has checked them. Of
 * responses, the documented parts are checked strictly, and other fields are kept as they came.
 */
import { z } from 'zod';
import { isId, readId, readIds } from './ids';

/** Row 1. */
export interface OrderBody {
  /** `<two-character prefix>-<digits>` */
  account: string;
  /** Ignored by the provider once the account has a currency, which its first order fixes. */
  currency?: string | undefined;
  label?: string | undefined;
  /** Ids that {@link CartItemBody} calls returned. */
  cartItems: readonly number[];
  payment_type?: 'ccard' | undefined;
}

/** Row 2. */
export interface CartItemBody {
  /** Months. */
  billing_cycle: 1 | 3 | 12;
  plan_id?: number | undefined;
  plan_type?: string | undefined;
  quantity?: number | undefined;
  addons?: readonly { id: number; additional_value: number }[] | undefined;
  password?: string | undefined;
  os_template_id?: number | undefined;
  /** Base64. */
  custom_ssh_key?: string | undefined;
  /** Base64. */
  custom_script?: string | undefined;
}

/** Rows 4 and 5. */
export interface ChangeOrderBody {
  subscription_id: number;
  /** `delta_value` is a number in a string, as in the document's example. */
  resources: readonly { resource_name: string; delta_value: string }[];
}

/** Row 7; row 6 has the subscription in its path. */
export interface PlanSwitchBody {
  subscription_id: number;
  plan_id: number;
}

/** The response of a row without a documented one: any JSON, or null for an empty body. */
export const notShownSchema = z.unknown();

/** Row 2. `data.message` is a text for people; it is optional. */
export const cartItemAddedSchema = z
  .looseObject({
    '0': z.number().refine(isId, 'not an id'),
    data: z.looseObject({ code: z.literal(200) }),
  })
  .transform((response) => ({ cartItemId: response['0'] }));

/** Longer than any currency code. The currency is shown in questions and reports. */
const currencyCharsMax = 100;

/** Resources that do not apply are shown in questions and reports, too; a request names a handful. */
const inapplicableCharsMax = 8_192;

/** Rows 6 and 7. */
export const quoteSchema = z.looseObject({
  available: z.boolean(),
  /** In units of the currency: the document says nothing of cents. */
  total: z.number(),
  currency: z
    .string()
    .max(currencyCharsMax)
    .refine((code) => code !== '' && code === code.toLowerCase(), 'not lowercase'),
  /** YYYY-MM-DD */
  date_from: z.iso.date(),
  date_to: z.iso.date(),
});
export type Quote = z.infer<typeof quoteSchema>;

/** Row 5. */
export const changeQuoteSchema = quoteSchema.extend({
  inapplicable_resources: z
    .array(z.unknown())
    .refine((list) => JSON.stringify(list).length <= inapplicableCharsMax, 'too long'),
});
export type ChangeQuote = z.infer<typeof changeQuoteSchema>;

/** A longer list is not read: the lists of all servers of an order must fit into its result. */
const firewallsListedMax = 500;

/**
 * The ids in a firewall list (row 10), whose shape is not documented: an array of ids, of objects with an `id`, or of
 * both, at the top or under `firewalls` or `data`. Duplicates are removed. Undefined where any element cannot be read,
 * or where `firewalls` and `data` are both lists: a list that is partly guessed is worse than none. Undefined, too, for
 * a list that is too long.
 */
export function readFirewallIds(response: unknown): { ids: number[]; pending: number[] } | undefined {
  const list = findList(response);
  if (list === undefined || list.length > firewallsListedMax) return undefined;
  const idOf = (element: unknown) => readId(isRecord(element) ? element['id'] : element);
  const ids = readIds(list, idOf);
  const pending = readIds(
    list.filter((element) => isRecord(element) && element['status'] === 'pending'),
    idOf,
  );
  return ids && pending && { ids, pending };
}

function findList(response: unknown): unknown[] | undefined {
  if (Array.isArray(response)) return response as unknown[];
  if (!isRecord(response)) return undefined;
  const lists = [response['firewalls'], response['data']].filter((value): value is unknown[] => Array.isArray(value));
  return lists.length === 1 ? lists[0] : undefined;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
