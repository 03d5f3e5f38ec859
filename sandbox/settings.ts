/**
 * A test may choose these, mostly where the document is silent. All of them can be changed while the
 * sandbox runs.
 */
import { z } from 'zod';
import { oddities } from './fault-kinds';
import type { OrderPlaced } from './ledger';

const whole = z.number().int().nonnegative();
const count = z.number().int().positive();

const settingsSchema = z.strictObject({
  /** The bearer token that every call must have; null: none (the document shows no authentication). */
  token: z.string().min(1).nullable().default(null),
  /** A delay before every call. */
  latencyMs: whole.default(0),
  /** Puts the request into every error body: providers do that, and it must not end up in a log. */
  echoRequests: z.boolean().default(false),
  /** Answers take turns in these forms. */
  oddities: z.array(z.enum(oddities)).default([]),

  /** The four of the cart item table. The password rule names two more, so the list can be extended. */
  supportedPlanTypes: z
    .array(z.string())
    .default([
      'cloud_servers_standard',
      'cloud_servers_highmemory',
      'cloud_servers_dedicatedcpu',
      'cloud_servers_highstorage_sas',
    ]),
  /** True: an item makes servers if it has no plan type, and its plan is not in `plans`. */
  untypedItemsAreServers: z.boolean().default(true),
  /** plan_id -> plan_type. A plan that is not listed exists and fits every type. */
  plans: z.record(z.string(), z.string()).default({}),
  /** Plans of which nothing is left: none is added to the cart. */
  soldOut: z.array(count).default([]),

  /**
   * For a cart item that was ordered or deleted. `refuse`: it can be neither ordered nor deleted. `take`: both succeed,
   * because the document forbids neither; a second order builds servers of its own.
   */
  closedCartItems: z.enum(['refuse', 'take']).default('refuse'),
  /** The status of an add that arrives while another one of the same plan is under way; null: it succeeds. */
  cartLock: count.nullable().default(null),

  /**
   * Object ids of servers count from here. `clock`: from the seconds since 1970, so that it gives no id again after it was
   * started anew and has forgotten its servers: a journal remembers them.
   */
  firstVmObjectId: z.union([count, z.literal('clock').transform(() => Math.floor(Date.now() / 1_000))]).default(9001),
  /** Row 1, beside `status`. `ids` -> `{ order_id, vm_object_ids }`; `opaque`: nothing. */
  orderResponse: z
    .union([
      z.enum(['opaque', 'ids']),
      z.custom<(order: OrderPlaced) => object>((value) => typeof value === 'function'),
    ])
    .default('opaque'),
  /** Row 10. `objects` -> `[{ id, status }]`, and so where a function returns ids; `opaque`: no list. */
  firewallListResponse: z
    .union([
      z.enum(['objects', 'opaque']),
      z.custom<(firewallIds: number[]) => unknown>((value) => typeof value === 'function'),
    ])
    .default('objects'),

  /** True: every subscription exists; else none. */
  anySubscription: z.boolean().default(true),
  /** Price of one unit of a resource (rows 4 and 5). */
  resourcePrices: z.record(z.string(), z.number()).default({ vm_backup: 5, china_route: 12, vm_antiddos: 20 }),
  unavailableSubscriptions: z.array(count).default([]),
  unavailableResources: z.array(z.string()).default([]),
  unavailablePlans: z.array(count).default([]),
  /** Listed in the answer of row 5 when requested, and free. They do not make a change unavailable. */
  inapplicableResources: z.array(z.string()).default([]),

  /**
   * Calls to a server that are refused: the first `calls` of them after `after` others. A server that is `new` is one of
   * an order. The servers take turns in the statuses.
   */
  unready: z
    .array(z.strictObject({ after: whole, calls: count, statuses: z.array(count).min(1), new: z.boolean() }))
    .default([]),
  /** A list shows the firewalls as they were when the list was asked for so many times less. */
  firewallLag: whole.default(0),
  /** Firewalls that the list does not show yet stand in it as pending. */
  pendingWhileLagging: z.boolean().default(false),

  /** Every positive vm object id is a server, also without an order or a seed. */
  anyServer: z.boolean().default(false),
  /** The firewalls that exist; null: every positive id. */
  knownFirewalls: z.array(count).nullable().default(null),
  /** GET /servers; false: it does not exist. It shows an order's servers after `lag` calls without them. */
  directory: z.union([z.literal(false), z.strictObject({ lag: whole })]).default(false),
});

export type Settings = z.infer<typeof settingsSchema>;
export type SettingsPatch = Partial<Settings>;

/**
 * The settings after a change; without any, the default ones. The tables of plans and prices are merged, so that a patch
 * may contain one price only.
 *
 * @throws ZodError for an unknown setting, or a wrong value
 */
export function changed(patch: SettingsPatch, settings?: Settings): Settings {
  const tables = (['plans', 'resourcePrices'] as const).flatMap((name) =>
    patch[name] === undefined ? [] : [[name, { ...settings?.[name], ...patch[name] }]],
  );
  return settingsSchema.parse({ ...settings, ...patch, ...Object.fromEntries(tables) });
}
