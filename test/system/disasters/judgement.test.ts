/**
 * The judge is judged: what went well is called so, and whatever a disaster may leave is noticed. And the page has a
 * row for each disaster.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ledger, type CartItemAdded, type FirewallsChanged, type OrderPlaced } from '../../../sandbox/ledger';
import type { ProvisionServersRequest } from '../../../src/domain/requests';
import { changeRequest, provisionRequest } from '../../support/requests';
import { disasters } from './disasters';
import { judge, type Aftermath, type Lived } from './judgement';

const request = provisionRequest({ firewalls: [143] }) as ProvisionServersRequest;
const { reference, account } = request;

function added(ledger: Ledger, cartItemId: number): Ledger {
  const item = { ...request.items[0]! } as CartItemAdded['item'];
  const { seq } = ledger.tookEffect<CartItemAdded>({ type: 'cartItemAdded', cartItemId, item });
  const call = { endpoint: 'add-cart-item', row: 2, method: 'POST', path: '/', headers: {}, body: null } as const;
  ledger.called({ ...call, receivedMs: seq, names: {}, status: 200, faults: [], effects: [seq] });
  return ledger;
}

function ordered(ledger: Ledger, cartItemId: number, firewalls: number[] = [143]): Ledger {
  const items = request.items.map((item) => ({ ...item })) as OrderPlaced['items'];
  const vmObjectId = 8500 + cartItemId;
  const named = { account, currency: 'usd', label: reference, cartItems: [cartItemId], vmObjectIds: [vmObjectId] };
  ledger.tookEffect<OrderPlaced>({ type: 'orderPlaced', orderId: cartItemId, ...named, items });
  const change = { type: 'firewallsAssigned' as const, vmObjectId, firewalls, before: [], after: firewalls };
  if (firewalls.length > 0) ledger.tookEffect<FirewallsChanged>(change);
  return ledger;
}

const good = () => ordered(added(new Ledger(), 501), 501);
const servers = [{ vmObjectId: 9001, firewalls: [143], verified: true }];
const result = { reference, outcome: 'done', servers, skipped: [], leftovers: [] };
const asked = { workflow: 'provisionServers' as const, request };
const lived: Lived = { role: 'its order is in flight', asked, ended: { result } };

const judged = (ledger: Ledger, changes: Partial<Aftermath> = {}) =>
  judge({ ledger, sagas: [lived], rows: undefined, ...changes });

it('has nothing to say where all went well', () => {
  expect(judged(good())).toEqual([]);
});

const mortal = { workflow: 'changeOrder' as const, request: changeRequest() };
const failure = { type: 'NotApproved', report: { outcome: 'untouched', leftovers: [], steps: [] } };
const over: Lived = { role: 'expired', asked: mortal, ended: { failure } as unknown as NonNullable<Lived['ended']> };

it('takes it that a saga with a deadline ends without a purchase; and of no other', () => {
  expect(judged(good(), { sagas: [lived, { ...over, mayEndEarly: true }] })).toEqual([]);
  expect(judged(good(), { sagas: [lived, over] })).toContainEqual(expect.stringMatching(/was never placed/));
});

it.each<[string, () => Ledger, Partial<Aftermath>, RegExp]>([
  ['an order that is there twice', () => ordered(added(good(), 502), 502), {}, /took effect 2 times/],
  ['an item that was ordered twice', () => ordered(good(), 501), {}, /501 was ordered twice/],
  ['a saga that has not ended', good, { sagas: [{ role: 'queued', asked }] }, /\(queued\) has not ended/],
  ['an order that is not there', () => new Ledger(), {}, /was never placed/],
  ['an item that nobody tells of', () => added(good(), 502), {}, /1 items are in the cart, and 0 are told of/],
  ['a server without its firewall', () => ordered(added(new Ledger(), 501), 501, []), {}, /9001 .*lacks a firewall/],
  ['an effect that the journal does not have', good, { rows: [] }, /^no row: /],
])('notices %s', (_what, ledger, changes, sentence) => {
  expect(judged(ledger(), changes)).toContainEqual(expect.stringMatching(sentence));
});

describe('docs/disasters.md', () => {
  const page = readFileSync(join(__dirname, '..', '..', '..', 'docs', 'disasters.md'), 'utf8');
  const rows = page.split('\n').flatMap((line) => {
    const [, name, ...cells] = line.split('|').map((cell) => cell.trim());
    return /^`[a-z-]+`$/.test(name ?? '') ? [{ name: name!.slice(1, -1), cells: cells.slice(0, -1) }] : [];
  });

  it('has a row for each disaster, without an empty cell', () => {
    expect(rows.map(({ name }) => name)).toEqual(disasters.map(({ name }) => name));
    for (const { cells } of rows) {
      expect(cells).toHaveLength(2);
      for (const cell of cells) expect(cell).not.toBe('');
    }
  });

  it.each(disasters.map(({ name }) => name))('says what was done and seen: %s', (name) => {
    expect(page).toMatch(new RegExp(`^### ${name}\n`, 'm'));
  });
});
