/**
 * The provider's payloads, with the document's field names. Requests are types only: the caller has checked them. Of
 * responses, the documented parts are checked strictly, and other fields are kept as they came.
 */
import { z } from 'zod';
import { isId, readId, readIds } from './ids';
import { bare, isRecord, setOf } from './words';

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

/** A documented number: JSON encoders of some languages write it as a string. */
const number = () => z.preprocess((value) => (isNumeric(value) ? Number(value) : value), z.number());

function isNumeric(value: unknown): boolean {
  return typeof value === 'string' && /^-?\d{1,15}(\.\d{1,15})?$/.test(value);
}

/** Row 2. `data.message` is a text for people; it is optional. */
export const cartItemAddedSchema = z
  .looseObject({
    '0': z.unknown().transform(readId).refine(isId, 'not an id'),
    data: z.looseObject({ code: number().refine((code) => code === 200, 'not 200') }),
  })
  .transform((response) => ({ cartItemId: response['0'] }));

/** The new item's id, where it can be read, whatever else the answer says. */
export function cartItemIdIn(response: unknown): number | undefined {
  return isRecord(response) ? readId(response['0']) : undefined;
}

/** Longer than any currency code. The currency is shown in questions and reports. */
const currencyCharsMax = 100;

/** Resources that do not apply are shown in questions and reports, too; a request names a handful. */
const inapplicableCharsMax = 8_192;

/** Rows 6 and 7. */
export const quoteSchema = z.looseObject({
  available: z.boolean(),
  /** In units of the currency: the document says nothing of cents. */
  total: number(),
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
 * The firewalls in a list (row 10), whose shape is not documented: an array of ids, of objects with a `firewall_id` or an `id`, or of
 * both, at the top or under `firewalls` or `data`. Duplicates are removed. Undefined where any element cannot be read,
 * where `firewalls` and `data` are both lists, where the list is one page of several, and for a list that is too long:
 * a list that is partly guessed is worse than none.
 */
export function readFirewallIds(response: unknown) {
  const list = findList(response);
  if (list === undefined || list.length > firewallsListedMax || isPage(response, list.length)) return undefined;
  const ids = readIds(list, idOfFirewall);
  if (ids === undefined) return undefined;
  // Those that the list does not call active: they are on their way, or failed.
  const pending = list.flatMap((element) =>
    isRecord(element) && !isActive(element) ? (idOfFirewall(element) ?? []) : [],
  );
  return { ids, pending: [...new Set(pending)] };
}

/** An element that names its firewall beside an `id` is an assignment, and the `id` is that one's own. */
function idOfFirewall(element: unknown): number | undefined {
  if (!isRecord(element)) return readId(element);
  const { id, firewall, firewall_id, firewallId } = element;
  return readId(firewall_id ?? firewallId ?? (isRecord(firewall) ? firewall['id'] : id));
}

function findList(response: unknown): unknown[] | undefined {
  if (Array.isArray(response)) return response as unknown[];
  if (!isRecord(response)) return undefined;
  const { firewalls, data } = response;
  const inner = isRecord(data) ? [data['firewalls'], data['data']] : [];
  const lists = [firewalls, data, ...inner].filter((value): value is unknown[] => Array.isArray(value));
  return lists.length === 1 ? lists[0] : undefined;
}

const bareName = (name: string) => name.toLowerCase().replace(/[^a-z]/g, '');

/** A list that is one page has beside it where the next one is, or how many there are in all. */
const nextNames = setOf(
  'next nextpage nextpageurl nextlink odatanextlink nexturl nextcursor nexttoken nextpagetoken continuation hasmore ' +
    'hasnext hasnextpage more truncated istruncated',
);
const totalNames = setOf(
  'total totalcount totalentries totalitems totalresults totalrecords totalelements recordstotal recordsfiltered count ' +
    'itemscount size',
);
const pagesNames = setOf('lastpage totalpages pages pagecount pagestotal numpages');
/** A page that is full is no whole list, unless it is said how many there are. */
const sizeNames = setOf('perpage pagesize limit itemsperpage pagelimit');

/** Interfaces say there that a list is a page. */
const pagePlaces = setOf('data meta pagination paging page links pageinfo pages cursor cursors');

function isPage(response: unknown, length: number, depth = 0): boolean {
  if (Array.isArray(response)) return response.some((link) => isRecord(link) && link['rel'] === 'next');
  if (!isRecord(response) || depth > 3) return false;
  const isCounted = Object.keys(response).some(
    (name) => totalNames.has(bareName(name)) || pagesNames.has(bareName(name)),
  );
  return Object.entries(response).some(([name, value]) => {
    const field = bareName(name);
    if (pagePlaces.has(field) && typeof value === 'object') return isPage(value, length, depth + 1);
    if (nextNames.has(field)) return !isNone(value);
    const number = readCount(value);
    if (number === undefined) return false;
    if (totalNames.has(field)) return number > length;
    if (pagesNames.has(field)) return number > 1;
    if (sizeNames.has(field)) return number === length && length > 0 && !isCounted;
    // A later page says so by its own number.
    if (field === 'page' || field === 'currentpage' || field === 'pagenumber') return number > 1;
    return (field === 'offset' || field === 'skip' || field === 'start') && number > 0;
  });
}

function isNone(value: unknown): boolean {
  return (
    value === null ||
    value === undefined ||
    value === false ||
    value === '' ||
    value === 0 ||
    value === '0' ||
    value === 'false' ||
    (isRecord(value) && isNone(value['href']))
  );
}

function readCount(value: unknown): number | undefined {
  return typeof value === 'number' ? value : isNumeric(value) ? Number(value) : undefined;
}

const activeWords = setOf(
  'active enabled assigned attached applied ok on ready success succeeded complete completed done true 1 yes running up',
);
const stateNames = setOf(
  'status state assignmentstatus assignmentstate active enabled isactive isenabled applied assigned attached isapplied ' +
    'isassigned isattached',
);
const leaving = setOf(
  'pending ispending deleting deleted removed detached detaching deletedat removedat detachedat unassignedat',
);

/** A firewall without a word about its state counts as active: the document shows none. */
function isActive(firewall: Record<string, unknown>): boolean {
  return Object.entries(firewall).every(([name, value]) => {
    const field = bareName(name);
    if (value === null || value === undefined || value === '') return true;
    if (stateNames.has(field)) {
      if (isRecord(value)) return isActive({ status: value['name'] ?? value['code'] ?? value['status'] });
      return Array.isArray(value) || activeWords.has(bare(value));
    }
    if (leaving.has(field)) return isNone(value);
    return true;
  });
}
