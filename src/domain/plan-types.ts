/**
 * Which plan types there are, and which are servers: only those have object ids and firewalls. Of other types than the
 * document's cloud servers the provider's profile says it, or nobody knows.
 */

/** Cart item, `plan_type`: the document's four supported values. The profile may have more. */
export const documentedPlanTypes = [
  'cloud_servers_standard',
  'cloud_servers_highmemory',
  'cloud_servers_dedicatedcpu',
  'cloud_servers_highstorage_sas',
] as const;

/**
 * Cart item, `password`: the six types for which the document requires one. Two of them are not among the supported
 * types; the document says both, so both lists stand. `os_template_id` is required "for cloud servers": the same six.
 */
export const cloudServerPlanTypes: readonly string[] = [
  ...documentedPlanTypes,
  ...['cloud_servers_highstorage', 'cloud_servers_highfrequency'],
];

/** Beyond the document's, as the provider's profile has them. `unknown`: it may be a server. */
export type PlanTypes = Readonly<Record<string, 'server' | 'other' | 'unknown'>>;

/** How many servers an order brings; exact where both numbers are the same. */
export interface ServersOrdered {
  least: number;
  most: number;
}

/** A missing quantity is one; an item without a plan type may be servers or not. */
export function serversOrdered(
  items: readonly { plan_type?: string; quantity?: number }[],
  planTypes: PlanTypes = {},
): ServersOrdered {
  const kindOf = (planType: string) =>
    cloudServerPlanTypes.includes(planType) ? 'server' : Object.hasOwn(planTypes, planType) && planTypes[planType];
  let least = 0;
  let most = 0;
  for (const { plan_type, quantity = 1 } of items) {
    const kind = plan_type === undefined ? undefined : kindOf(plan_type);
    if (kind === 'server') least += quantity;
    if (kind !== 'other') most += quantity;
  }
  return { least, most };
}

export function isExact({ least, most }: ServersOrdered): boolean {
  return least === most;
}

/** True if the order can bring this number of servers. */
export function fits(servers: number, { least, most }: ServersOrdered): boolean {
  return servers >= least && servers <= most;
}

/** "2", or "1 to 3" */
export function countOf(servers: ServersOrdered): string {
  return isExact(servers) ? String(servers.most) : `${servers.least} to ${servers.most}`;
}
