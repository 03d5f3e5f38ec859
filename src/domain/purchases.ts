/** A purchase, which the provider does not quote: its guard, and its words for a person. */
import { cutWell } from './markdown';
import { countOf, type ServersOrdered } from './plan-types';
import type { CartItem, ProvisionServersRequest, PurchaseGuard } from './requests';

/** The guard's parts that a purchase breaks, each as a sentence. What may be a server counts as one. */
export function purchaseViolations(
  items: readonly CartItem[],
  ordered: ServersOrdered,
  guard: PurchaseGuard | undefined,
): string[] {
  const broken: string[] = [];
  if (guard?.maxServers !== undefined && ordered.most > guard.maxServers) {
    broken.push(`the request orders ${countOf(ordered)} servers and the guard allows ${guard.maxServers}`);
  }
  if (guard?.maxItems !== undefined && items.length > guard.maxItems) {
    broken.push(`the request has ${items.length} items and the guard allows ${guard.maxItems}`);
  }
  return broken;
}

/** How many items a question shows. */
const itemsShownMax = 5;
const cycles = { 1: 'monthly', 3: 'quarterly', 12: 'annually' } as const;

/** "3 servers: 2 × plan 17 (cloud_servers_standard, monthly), 1 × …; account AB-1, label “web-1”". It has no secret. */
export function describePurchase({ account, label, items }: ProvisionServersRequest, ordered: ServersOrdered): string {
  const shown = items.slice(0, itemsShownMax).map(describeItem);
  const more = items.length - shown.length;
  const all = `${shown.join(', ')}${more > 0 ? ` and ${more} more items` : ''}`;
  const named = label === undefined ? '' : `, label “${cutWell(label, 60)}”`;
  return `${countOf(ordered)} ${ordered.most === 1 ? 'server' : 'servers'}: ${all}; account ${account.slice(0, 40)}${named}`;
}

function describeItem({ quantity = 1, plan_id, plan_type, billing_cycle, os_template_id, addons }: CartItem): string {
  const plan = plan_id === undefined ? 'plan not named' : `plan ${plan_id}`;
  const template = os_template_id && `template ${os_template_id}`;
  const facts = [plan_type, cycles[billing_cycle], template, addons?.length && `${addons.length} add-ons`];
  return `${quantity} × ${plan} (${facts.filter(Boolean).join(', ')})`;
}
