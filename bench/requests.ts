/** What is ordered in a measurement. */
import { randomUUID } from 'node:crypto';
import type { CartItem, ProvisionServersRequest } from '../src/domain/requests';

interface Order {
  items: number;
  firewalls: boolean;
  /** The stub refuses it. */
  refused?: true;
}

export function newReference(): string {
  return `B-${randomUUID()}`;
}

export function provisionRequest({ items, firewalls, refused }: Order): ProvisionServersRequest {
  const item: CartItem = {
    billing_cycle: 1,
    plan_id: 17,
    plan_type: 'cloud_servers_standard',
    password: 'an-Example-only-1',
    os_template_id: 3,
  };
  return {
    reference: newReference(),
    account: refused ? 'NO-12345678' : 'AB-12345678',
    label: 'web-1',
    items: Array.from({ length: items }, () => item),
    ...(firewalls ? { firewalls: [143] } : {}),
  };
}
