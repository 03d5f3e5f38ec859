/** Requests as a backend would send them, each with a reference of its own. */
import type { CartItem } from '../../src/domain/requests';

let made = 0;

/** Unique within a test file, and so within its namespace and sandbox. */
function nextReference(): string {
  made += 1;
  return `T-${made}`;
}

export function cartItem(changes: Partial<CartItem> = {}): CartItem {
  return {
    billing_cycle: 1,
    plan_type: 'cloud_servers_standard',
    password: 'a password',
    os_template_id: 3,
    ...changes,
  };
}

/**
 * The label is the reference, so that the sandbox's ledger can be asked by reference; the plan id of the items is the
 * request's own, so that a fault can be meant for them.
 */
export function provisionRequest({
  items = [{}],
  ...changes
}: Record<string, unknown> & { items?: Partial<CartItem>[] } = {}) {
  const reference = nextReference();
  return {
    reference,
    account: `AB-${made}`,
    label: reference,
    items: items.map((item) => cartItem({ plan_id: planIdOf(reference), ...item })),
    ...changes,
  };
}

export function planIdOf(reference: string): number {
  return 1000 + Number(reference.replace(/\D/g, ''));
}

/** Subscriptions of changes and those of switches never meet, however many requests a test file makes. */
export function changeRequest(changes: Record<string, unknown> = {}) {
  const reference = nextReference();
  return {
    reference,
    subscription_id: 5_000_000 + made,
    resources: [{ resource_name: 'vm_backup' as const, delta_value: '1' }],
    ...changes,
  };
}

export function switchRequest(changes: Record<string, unknown> = {}) {
  const reference = nextReference();
  return { reference, subscription_id: 6_000_000 + made, plan_id: 21, ...changes };
}

/** For a server that no order brings: the sandbox counts those from 9001 on. */
export function firewallsRequest(changes: Record<string, unknown> = {}) {
  const reference = nextReference();
  return { reference, vmObjectId: 7_000_000 + made, assign: [143], ...changes };
}
