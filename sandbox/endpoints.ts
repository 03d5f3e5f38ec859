/**
 * The provider's endpoints: rows 1–10 of the document's endpoint table, and the server directory, which is not in the
 * document and is enabled by a setting.
 */

export const endpointNames = [
  'place-order',
  'add-cart-item',
  'delete-cart-item',
  'place-change-order',
  'quote-change-order',
  'switch-plan',
  'quote-plan-switch',
  'assign-firewalls',
  'unassign-firewalls',
  'list-firewalls',
  'find-servers',
] as const;

export type EndpointName = (typeof endpointNames)[number];

export interface Endpoint {
  name: EndpointName;
  /** The row of the document's table; null for the directory. */
  row: number | null;
  methods: readonly string[];
  path: RegExp;
  /** Whether the request carries a JSON body. */
  takesBody: boolean;
}

/** The first match wins: `/order/switch/total` must come before `/order/switch/{subscription_id}`. */
const endpoints: readonly Endpoint[] = [
  { name: 'place-order', row: 1, methods: ['POST'], path: /^\/order$/, takesBody: true },
  { name: 'add-cart-item', row: 2, methods: ['POST'], path: /^\/order\/add-to-cart$/, takesBody: true },
  {
    name: 'delete-cart-item',
    row: 3,
    methods: ['DELETE'],
    path: /^\/order\/cartItems\/delete\/([^/]+)$/,
    takesBody: false,
  },
  { name: 'place-change-order', row: 4, methods: ['POST'], path: /^\/order\/changeorder$/, takesBody: true },
  {
    name: 'quote-change-order',
    row: 5,
    // Note 1 of the document: the summary says GET, the detailed entry PUT. Both are accepted.
    methods: ['PUT', 'GET'],
    path: /^\/order\/changeorder\/total$/,
    takesBody: true,
  },
  { name: 'quote-plan-switch', row: 7, methods: ['PUT'], path: /^\/order\/switch\/total$/, takesBody: true },
  { name: 'switch-plan', row: 6, methods: ['PUT'], path: /^\/order\/switch\/([^/]+)$/, takesBody: true },
  {
    name: 'assign-firewalls',
    row: 8,
    methods: ['POST'],
    path: /^\/firewalls\/assign\/object\/([^/]+)$/,
    takesBody: true,
  },
  {
    name: 'unassign-firewalls',
    row: 9,
    methods: ['POST'],
    path: /^\/firewalls\/unassign\/object\/([^/]+)$/,
    takesBody: true,
  },
  { name: 'list-firewalls', row: 10, methods: ['GET'], path: /^\/firewalls\/object\/([^/]+)$/, takesBody: false },
  { name: 'find-servers', row: null, methods: ['GET'], path: /^\/servers$/, takesBody: false },
];

export type Destination =
  | { endpoint: Endpoint; pathId: number | null }
  | { endpoint: null; allowed: readonly string[] /** Empty: nothing lives at this path. */ };

/** The destination of a request. A path id that is not a number becomes null. */
export function destinationOf(method: string, path: string): Destination {
  for (const endpoint of endpoints) {
    const found = endpoint.path.exec(path);
    if (!found) continue;
    if (!endpoint.methods.includes(method)) return { endpoint: null, allowed: endpoint.methods };
    const id = found[1];
    return { endpoint, pathId: id !== undefined && /^\d+$/.test(id) ? Number(id) : null };
  }
  return { endpoint: null, allowed: [] };
}
