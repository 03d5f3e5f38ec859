/**
 * What a test may choose about the stand-in provider, mostly where the document is silent. Everything here can be
 * changed while the sandbox runs.
 */
import { z } from 'zod';
import type { OrderPlaced } from './ledger';

/** The plan types that the document's password rule names. It also calls the supported four "cloud servers". */
export const cloudServerPlanTypes = [
  'cloud_servers_standard',
  'cloud_servers_highmemory',
  'cloud_servers_highstorage',
  'cloud_servers_highfrequency',
  'cloud_servers_dedicatedcpu',
  'cloud_servers_highstorage_sas',
];

/** How an undocumented body may look: nothing at all (204), `{}`, or something that says little. */
const plainShape = z.enum(['none', 'empty', 'opaque']);

const count = z.number().int().positive();

const subscription = z.strictObject({
  plan_id: count.optional(),
  /** Where missing, it is looked up in `plans`. */
  plan_type: z.string().optional(),
  currency: z.string().optional(),
});

const settingsSchema = z.strictObject({
  /** The bearer token that every call must carry; null asks for none (the document shows no authentication). */
  token: z.string().min(1).nullable(),
  /** Waited before every call is worked on. */
  latencyMs: z.number().int().nonnegative(),

  /** A field the document does not name: refused (the harsher reading, so that nothing internal leaks out), or ignored. */
  unknownFields: z.enum(['refuse', 'ignore']),
  /** Puts the request as received into every error body: providers do that, and it must not end in anybody's log. */
  echoRequests: z.boolean(),

  /** Cart item table: the four supported values. The password rule names two more, so the list can be widened. */
  supportedPlanTypes: z.array(z.string()),
  /** Plan types whose items make servers when they are ordered; items of others make none. */
  serverPlanTypes: z.array(z.string()),
  /** Whether an item makes servers that names no plan type, and whose plan is not listed. */
  untypedItemsAreServers: z.boolean(),
  /** plan_id -> plan_type. A plan that is not listed exists and fits every type. */
  plans: z.record(z.string(), z.string()),
  /** os_template_id -> kind. A template that is not listed is a default Linux one. */
  templates: z.record(z.string(), z.enum(['linux', 'windows', 'custom'])),

  /** Accounts that have a currency already. */
  accountCurrencies: z.record(z.string(), z.string()),
  /** The currency of all other accounts; null: they have none until their first order names one. */
  defaultAccountCurrency: z.string().nullable(),

  /**
   * A cart item that is no longer open, because an order took it or it was deleted. `refuse`: it can be neither ordered
   * nor deleted. `take`: both succeed, since the document forbids neither; a second order builds servers of its own.
   */
  closedCartItems: z.enum(['refuse', 'take']),

  /** Row 1. `ids` -> `{ order_id, vm_object_ids }`; `servers` -> `{ data: { code, order: { id, servers: [{ id }] } } }`. */
  orderResponse: z.union([
    z.enum(['none', 'empty', 'opaque', 'ids', 'servers']),
    z.custom<(order: OrderPlaced) => unknown>((value) => typeof value === 'function'),
  ]),
  /** Row 4. `ids` -> `{ change_order_id }`. */
  changeOrderResponse: z.enum(['none', 'empty', 'opaque', 'ids']),
  /** Rows 3, 8 and 9. */
  plainResponse: plainShape,
  /** Row 10. See `responses.ts` for how each looks. */
  firewallListResponse: z.union([
    z.enum(['ids', 'objects', 'firewalls', 'firewall-ids', 'data', 'data-ids', 'opaque']),
    z.custom<(firewallIds: number[]) => unknown>((value) => typeof value === 'function'),
  ]),

  /** subscription_id -> what is known of it. */
  subscriptions: z.record(z.string(), subscription),
  /** Every positive subscription id exists, listed or not. */
  anySubscription: z.boolean(),
  /** Price of one unit of a resource (rows 4 and 5). */
  resourcePrices: z.record(z.string(), z.number()),
  /** Price of a plan (rows 6 and 7); a plan that is not listed costs 10 + plan_id modulo 40. */
  planPrices: z.record(z.string(), z.number()),
  /** The quotes' currency, where the subscription names none. */
  quoteCurrency: z.string(),
  /** The quotes' period. Fixed, so that two runs of a test read the same. */
  quotePeriod: z.strictObject({ date_from: z.string(), date_to: z.string() }),
  unavailableSubscriptions: z.array(count),
  unavailableResources: z.array(z.string()),
  unavailablePlans: z.array(count),
  /** Listed in the answer of row 5 when asked for, and free of charge. They do not make a change unavailable. */
  inapplicableResources: z.array(z.string()),
  /** Row 6 answers with a quote; whether it also switches the plan is not said. True plays the worse case. */
  switchTakesEffect: z.boolean(),
  /**
   * What row 6 answers for `available` once it has switched. "Whether the … switch can be placed" may mean the one that
   * was just placed (true) or another one now (false): a subscription that has the plan can hardly be moved to it.
   */
  switchAnswersAvailable: z.boolean(),

  /** Every positive vm object id is a server, also one that no order made and nobody seeded. */
  anyServer: z.boolean(),
  /** The firewalls of the web control panel; null: every positive id exists. */
  knownFirewalls: z.array(count).nullable(),
  /** GET /servers: absent (false), or there. An order's servers show after `lag` calls that looked for them in vain. */
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
  anyServer: false,
  knownFirewalls: null,
  directory: false,
};

/**
 * Settings after a change: tables (plans, prices, subscriptions, …) are merged key by key, so that one price moves
 * without repeating the others; everything else is replaced. Throws a ZodError for a setting that does not exist.
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
