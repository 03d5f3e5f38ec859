/** The judge is judged: a night that went well is called so, and whatever is wrong with it is noticed. */
import { Ledger, type CartItemAdded, type FirewallsChanged, type OrderPlaced } from '../../../sandbox/ledger';
import type { ProvisionServersRequest } from '../../../src/domain/requests';
import { provisionRequest } from '../../support/requests';
import type { Row } from '../../support/rows-and-ledger';
import { judge, type Lived, type Night, type Question } from './judgement';

const request = provisionRequest({ firewalls: [143] }) as ProvisionServersRequest;
const { reference, account } = request;

/** Writes what took effect, with its call; one call each second. */
class Told {
  readonly ledger = new Ledger();
  readonly rows: Row[] = [];

  add(cartItemId: number): this {
    const item = { ...request.items[0]! } as CartItemAdded['item'];
    this.sent(this.ledger.tookEffect<CartItemAdded>({ type: 'cartItemAdded', cartItemId, item }));
    return this.row('addCartItem', { cartItemId });
  }

  order(cartItemId: number, orderId: number, firewalls: number[]): this {
    const items = request.items.map((item) => ({ ...item })) as OrderPlaced['items'];
    const vmObjectId = 9000 + orderId;
    const named = { account, currency: 'usd', label: reference, cartItems: [cartItemId] };
    const order = { type: 'orderPlaced' as const, orderId, ...named, items, vmObjectIds: [vmObjectId] };
    this.sent(this.ledger.tookEffect<OrderPlaced>(order));
    this.row('placeOrder', { about: { cartItems: [cartItemId] } });
    if (firewalls.length === 0) return this;
    const change = { type: 'firewallsAssigned' as const, vmObjectId, firewalls, before: [], after: firewalls };
    this.sent(this.ledger.tookEffect<FirewallsChanged>(change));
    return this.row('assignFirewalls', { about: { vmObjectId, firewalls } });
  }

  call(receivedMs: number, effects: number[] = []): this {
    const what = { endpoint: 'add-cart-item', row: 2, method: 'POST', path: '/', headers: {}, body: null } as const;
    this.ledger.called({ ...what, receivedMs, names: {}, status: 200, faults: [], effects });
    return this;
  }

  private sent({ seq }: { seq: number }): void {
    this.call(seq * 1_000, [seq]);
  }

  private row(activity: string, changes: Partial<Row>): this {
    const what = { workflow: 'provisionServers', reference, kind: 'mutate', activity, about: {}, cartItemId: null };
    const end = { meantMs: 0, answeredMs: 0, outcome: 'done', failure: null, byWord: false, late: false };
    this.rows.push({ ...what, ...end, ...changes });
    return this;
  }
}

const good = () => new Told().add(501).order(501, 1, [143]);
const server = (vmObjectId: number) => ({ vmObjectId, firewalls: [143], verified: true });
const result = { reference, outcome: 'done', servers: [server(9001)], skipped: [], leftovers: [] };
const lived: Lived = { asked: { workflow: 'provisionServers', request }, ended: { result } };

function judged({ ledger, rows }: Told, changes: Partial<Night> = {}) {
  const night = { ledger, rows, sagas: [lived], callsPerSecond: 10, sweep: { outcome: 'clean' as const, counts: {} } };
  return judge({ ...night, ...changes });
}

it('has nothing to say of a night that went well', () => {
  expect(Object.values(judged(good())).flat()).toEqual([]);
});

const many = (night: Told, count: number) => {
  for (let nth = 0; nth < count; nth += 1) night.call(50_000 + nth);
  return night;
};

it('lets the calls of one second be saved up, and no more', () => {
  expect(judged(many(good(), 22))['too fast']).toEqual([]);
  expect(judged(many(good(), 23))['too fast']).toEqual(['23 calls within 1 s, and 22 are allowed']);
});

it.each<[string, () => Told, Partial<Night>, Question, RegExp]>([
  ['was placed twice', () => good().add(502).order(502, 2, [143]), {}, 'doubled', /was placed 2 times/],
  ['was bought twice, out of one item', () => good().order(501, 2, [143]), {}, 'doubled', /501 was ordered twice/],
  ['was never placed', () => new Told(), {}, 'lost', /was never placed/],
  ['has not ended', good, { sagas: [{ asked: lived.asked }] }, 'lost', /has not ended/],
  [
    'left something out',
    good,
    { sagas: [{ ...lived, ended: { result: { ...result, outcome: 'partly', skipped: ['assign-firewalls-9001'] } } }] },
    'lost',
    /is not done/,
  ],
  ['left an item in the cart', () => good().add(502), {}, 'in the cart', /502 is left/],
  ['lacks a firewall', () => new Told().add(501).order(501, 1, []), {}, 'unprotected', /9001 .* lacks a firewall/],
  [
    'took effect, and nobody wrote it down',
    () => Object.assign(good(), { rows: [] }),
    {},
    'not as written',
    /^no row: .*cartItemAdded/,
  ],
  ['was found by the sweep', good, { sweep: { outcome: 'found', counts: { lost: 1 } } }, 'not as written', /"lost":1/],
  ['was swept by nobody', good, { sweep: undefined }, 'not as written', /none ended/],
])('accuses one that %s', (_what, night, changes, question, sentence) => {
  expect(judged(night(), changes)[question]).toContainEqual(expect.stringMatching(sentence));
});

it('holds nothing against one of what may be in the cart, is told, and is not there', () => {
  const leftovers = [{ kind: 'cart-item-unknown', item: 1, why: 'no answer' }];
  const sagas = [{ ...lived, ended: { result: { ...result, outcome: 'partly', leftovers } } }];
  expect(Object.values(judged(good(), { sagas })).flat()).toEqual([]);
});
