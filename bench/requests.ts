/** What is ordered in a measurement. */
import { randomUUID } from 'node:crypto';
import type { CartItem, ProvisionServersRequest } from '../src/domain/requests';

/** By its first two letters the stub knows what becomes of the order. */
export type Fate = 'AB' | 'NO' | 'UA';

export interface Order {
  items: number;
  /** Servers of each item. @default 1 */
  quantity?: number;
  firewalls: boolean;
  fate?: Fate;
}

export function newReference(): string {
  return `B-${randomUUID()}`;
}

export function provisionRequest({ items, quantity, firewalls, fate = 'AB' }: Order): ProvisionServersRequest {
  const item: CartItem = {
    billing_cycle: 1,
    plan_id: 17,
    plan_type: 'cloud_servers_standard',
    password: 'an-Example-only-1',
    os_template_id: 3,
    ...(quantity === undefined ? {} : { quantity }),
  };
  return {
    reference: newReference(),
    account: `${fate}-12345678`,
    label: 'web-1',
    items: Array.from({ length: items }, () => item),
    ...(firewalls ? { firewalls: [143] } : {}),
  };
}
