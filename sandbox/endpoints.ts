/**
 * The provider's endpoints: rows 1–10 of the document's endpoint table, and the server directory, which is not in the
 * document and is enabled by a setting.
 */

/** The first match wins: `/order/switch/total` must come before `/order/switch/{subscription_id}`. */
const endpoints = [
  { name: 'place-order', row: 1, methods: ['POST'], path: /^\/order$/ },
  { name: 'add-cart-item', row: 2, methods: ['POST'], path: /^\/order\/add-to-cart$/ },
  { name: 'delete-cart-item', row: 3, methods: ['DELETE'], path: /^\/order\/cartItems\/delete\/([^/]+)$/ },
  { name: 'place-change-order', row: 4, methods: ['POST'], path: /^\/order\/changeorder$/ },
  // Note 1 of the document: the summary says GET, the detailed entry PUT. Both are accepted.
  { name: 'quote-change-order', row: 5, methods: ['PUT', 'GET'], path: /^\/order\/changeorder\/total$/ },
  { name: 'quote-plan-switch', row: 7, methods: ['PUT'], path: /^\/order\/switch\/total$/ },
  { name: 'switch-plan', row: 6, methods: ['PUT'], path: /^\/order\/switch\/([^/]+)$/ },
  { name: 'assign-firewalls', row: 8, methods: ['POST'], path: /^\/firewalls\/assign\/object\/([^/]+)$/ },
  { name: 'unassign-firewalls', row: 9, methods: ['POST'], path: /^\/firewalls\/unassign\/object\/([^/]+)$/ },
  { name: 'list-firewalls', row: 10, methods: ['GET'], path: /^\/firewalls\/object\/([^/]+)$/ },
  { name: 'find-servers', row: null, methods: ['GET'], path: /^\/servers$/ },
] as const;

export const endpointNames = endpoints.map(({ name }) => name);
export type EndpointName = (typeof endpoints)[number]['name'];

export interface Destination {
  name: EndpointName;
  /** The row of the document's table; null for the directory. */
  row: number | null;
  /** The id in the path; null where there is none, or it is not a number. */
  pathId: number | null;
}

/** @returns undefined where the interface has no such path and method */
export function destinationOf(method: string, path: string): Destination | undefined {
  for (const { name, row, methods, path: form } of endpoints) {
    const found = form.exec(path);
    if (!found) continue;
    if (!methods.some((one) => one === method)) return undefined;
    return { name, row, pathId: /^\d+$/.test(found[1] ?? '') ? Number(found[1]) : null };
  }
  return undefined;
}
