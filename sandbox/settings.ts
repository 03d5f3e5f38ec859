/**
 * What a test may choose about the sandbox, mostly where the document is silent. All of it can be changed while the
 * sandbox runs.
 */
import { z } from 'zod';
import { oddities } from './fault-kinds';
import type { OrderPlaced } from './ledger';

/** The plan types of the document's password rule. The document also calls the four supported ones "cloud servers". */
export const cloudServerPlanTypes = [
  'cloud_servers_standard',
  'cloud_servers_highmemory',
  'cloud_servers_highstorage',
  'cloud_servers_highfrequency',
  'cloud_servers_dedicatedcpu',
  'cloud_servers_highstorage_sas',
];

/** How an undocumented body may look: nothing (204), `{}`, or something without useful content. */
const plainShape = z.enum(['none', 'empty', 'opaque']);

const count = z.number().int().positive();

const subscription = z.strictObject({
  plan_id: count.optional(),
  /** Default: looked up in `plans`. */
  plan_type: z.string().optional(),
  currency: z.string().optional(),
});

const settingsSchema = z.strictObject({
  /** The bearer token that every call must have; null: none (the document shows no authentication). */
  token: z.string().min(1).nullable(),
  /** A delay before every call. */
  latencyMs: z.number().int().nonnegative(),

  /** A field that the document does not have: refused (the stricter reading, so that a test notices it), or ignored. */
  unknownFields: z.enum(['refuse', 'ignore']),
  /**
   * Puts the request into every error body: providers do that, and it must not end up in a log. As JSON, as a text in
   * JSON, in a page for people, or as a form.
   */
  echoRequests: z.literal([false, 'json', 'text', 'page', 'form']),
  /** Answers take turns in these forms. */
  oddities: z.array(z.enum(oddities)),

  /**
   * The four supported values of the cart item table. The password rule names two more, so the list can be extended.
   */
  supportedPlanTypes: z.array(z.string()),
  /** Plan types whose items make servers when they are ordered; other items make none. */
  serverPlanTypes: z.array(z.string()),
  /** Whether an item makes servers if it has no plan type, and its plan is not in `plans`. */
  untypedItemsAreServers: z.boolean(),
  /** plan_id -> plan_type. A plan that is not listed exists and fits every type. */
  plans: z.record(z.string(), z.string()),
  /** os_template_id -> kind. A template that is not listed is a default Linux one. */
  templates: z.record(z.string(), z.enum(['linux', 'windows', 'custom'])),

  /** Accounts that already have a currency. */
  accountCurrencies: z.record(z.string(), z.string()),
  /** The currency of all other accounts; null: none until their first order sets it. */
  defaultAccountCurrency: z.string().nullable(),

  /**
   * For a cart item that was ordered or deleted. `refuse`: it can be neither ordered nor deleted. `take`: both succeed,
   * because the document forbids neither; a second order builds servers of its own.
   */
  closedCartItems: z.enum(['refuse', 'take']),
  /** The status of an add that arrives while another one of the same plan is under way; null: it succeeds. */
  cartLock: count.nullable(),
  /** A new cart item gets the id of one that was deleted. */
  idsGivenAgain: z.boolean(),

  /**
   * Row 1. `ids` -> `{ order_id, vm_object_ids }`; `servers` -> `{ data: { code, order: { id, servers: [{ id }] } } }`;
   * `pending` -> 202, `{ order_id, status: 'pending_payment' }`.
   */
  orderResponse: z.union([
    z.enum(['none', 'empty', 'opaque', 'ids', 'servers', 'pending']),
    z.custom<(order: OrderPlaced) => unknown>((value) => typeof value === 'function'),
  ]),
  /** Row 4. `ids` -> `{ change_order_id }`. */
  changeOrderResponse: z.enum(['none', 'empty', 'opaque', 'ids']),
  /** Rows 3, 8 and 9. */
  plainResponse: plainShape,
  /** Row 10. `responses.ts` shows the shapes. */
  firewallListResponse: z.union([
    z.enum(['ids', 'objects', 'firewalls', 'firewall-ids', 'data', 'data-ids', 'opaque']),
    z.custom<(firewallIds: number[]) => unknown>((value) => typeof value === 'function'),
  ]),

  /** subscription_id -> its data. */
  subscriptions: z.record(z.string(), subscription),
  /** Every positive subscription id exists, listed or not. */
  anySubscription: z.boolean(),
  /** Price of one unit of a resource (rows 4 and 5). */
  resourcePrices: z.record(z.string(), z.number()),
  /** Price of a plan (rows 6 and 7); a plan that is not listed costs 10 + plan_id modulo 40. */
  planPrices: z.record(z.string(), z.number()),
  /** The quotes' currency, where the subscription names none. */
  quoteCurrency: z.string(),
  /** The quotes' period. Fixed, so that two runs of a test are the same. */
  quotePeriod: z.strictObject({ date_from: z.string(), date_to: z.string() }),
  unavailableSubscriptions: z.array(count),
  unavailableResources: z.array(z.string()),
  unavailablePlans: z.array(count),
  /** Listed in the answer of row 5 when requested, and free. They do not make a change unavailable. */
  inapplicableResources: z.array(z.string()),
  /**
   * Row 6 answers with a quote; the document does not say whether it also switches the plan. True is the worse case.
   */
  switchTakesEffect: z.boolean(),
  /**
   * What row 6 answers for `available` after it has switched. "Whether the … switch can be placed" may mean the switch
   * that was just placed (true), or another one to the same plan (false).
   */
  switchAnswersAvailable: z.boolean(),

  /**
   * Calls to a server that are refused: the first `calls` of them after `after` others. A server that is `new` is one of
   * an order. The servers take turns in the statuses.
   */
  unready: z.array(
    z.strictObject({
      after: z.number().int().nonnegative().default(0),
      calls: count,
      statuses: z.array(count).min(1),
      new: z.boolean().default(false),
    }),
  ),
  /** A list shows the firewalls as they were when the list was asked for so many times less. */
  firewallLag: z.number().int().nonnegative(),
  /** What the list does not show yet stands in it as pending. */
  pendingWhileLagging: z.boolean(),

  /** Every positive vm object id is a server, also without an order or a seed. */
  anyServer: z.boolean(),
  /** The firewalls that exist; null: every positive id. */
  knownFirewalls: z.array(count).nullable(),
  /** GET /servers; false: it does not exist. It shows an order's servers after `lag` calls without them. */
  directory: z.union([z.literal(false), z.strictObject({ lag: z.number().int().nonnegative() })]),
});

export type Settings = z.infer<typeof settingsSchema>;

export const settingsPatchSchema = settingsSchema.partial();
export type SettingsPatch = z.infer<typeof settingsPatchSchema>;

export const defaultSettings: Settings = {
  token: null,
  latencyMs: 0,
  unknownFields: 'refuse',
  echoRequests: false,
  oddities: [],
  supportedPlanTypes: [
    'cloud_servers_standard',
    'cloud_servers_highmemory',
    'cloud_servers_dedicatedcpu',
    'cloud_servers_highstorage_sas',
  ],
  serverPlanTypes: [...cloudServerPlanTypes],
  untypedItemsAreServers: true,
  plans: {},
  templates: {},
  accountCurrencies: {},
  defaultAccountCurrency: 'usd',
  closedCartItems: 'refuse',
  cartLock: null,
  idsGivenAgain: false,
  orderResponse: 'opaque',
  changeOrderResponse: 'opaque',
  plainResponse: 'opaque',
  firewallListResponse: 'objects',
  subscriptions: {},
  anySubscription: true,
  resourcePrices: { vm_backup: 5, china_route: 12, vm_antiddos: 20 },
  planPrices: {},
  quoteCurrency: 'usd',
  quotePeriod: { date_from: '2026-01-01', date_to: '2026-02-01' },
  unavailableSubscriptions: [],
  unavailableResources: [],
  unavailablePlans: [],
  inapplicableResources: [],
  switchTakesEffect: true,
  switchAnswersAvailable: true,
  unready: [],
  firewallLag: 0,
  pendingWhileLagging: false,
  anyServer: false,
  knownFirewalls: null,
  directory: false,
};

/**
 * The settings after a change: tables (plans, prices, subscriptions, …) are merged key by key, so that a patch may
 * contain one price only; all else is replaced. Throws a ZodError for an unknown setting.
 */
export function changed(settings: Settings, patch: SettingsPatch): Settings {
  const checked = settingsPatchSchema.parse(patch);
  const next: Record<string, unknown> = { ...settings };
  for (const [name, value] of Object.entries(checked)) {
    if (value === undefined) continue;
    next[name] = isTable(value) && isTable(next[name]) ? { ...next[name], ...value } : value;
  }
  return next as Settings;
}

function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
