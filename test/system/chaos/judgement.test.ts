/** The judge is judged: what went well is called so, and whatever is wrong is noticed. */
import {
  Ledger,
  type CartItemAdded,
  type ChangeOrderPlaced,
  type FirewallsChanged,
  type OrderPlaced,
} from '../../../sandbox/ledger';
import type { ProvisionServersRequest } from '../../../src/domain/requests';
import { changeRequest, firewallsRequest, provisionRequest } from '../../support/requests';
import type { Row } from '../../support/rows-and-ledger';
import type { Ended } from '../../support/sagas';
import { inTheCart, judge, lost, type Lived } from './judgement';
import { broken } from './night/figures';

const request = provisionRequest({ firewalls: [143] }) as ProvisionServersRequest;
const { reference, account } = request;

/** Writes what took effect, with its call and its row; one call each second. */
class Told {
  readonly ledger = new Ledger();
  readonly rows: Row[] = [];

  add(cartItemId: number): this {
    const item = { ...request.items[0]! } as CartItemAdded['item'];
    this.sent(this.ledger.tookEffect<CartItemAdded>({ type: 'cartItemAdded', cartItemId, item }));
    return this.row('addCartItem', { cartItemId });
  }

  order(cartItemId: number, orderId: number, firewalls = [143]): this {
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

const good = () => new Told().add(501).order(501, 1);
const server = (vmObjectId: number) => ({ vmObjectId, firewalls: [143], verified: true });
const result = {
  ...{ reference, outcome: 'done', servers: [server(9001)] },
  ...{ skipped: [] as string[], leftovers: [] as object[] },
};
const asked = { workflow: 'provisionServers' as const, request };
const lived: Lived = { asked, ended: { result } };

const judged = ({ ledger, rows }: Told, sagas = [lived]) =>
  broken({ ledger, rows, sagas, callsPerSecond: 10, sweep: { outcome: 'clean', counts: {} } });

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

it.each<[string, () => Told, Partial<typeof result>, keyof ReturnType<typeof broken>, RegExp]>([
  ['was placed twice', () => good().add(502).order(502, 2), {}, 'doubled', /^bought twice/],
  ['was bought twice, out of one item', () => good().order(501, 2), {}, 'doubled', /501 was ordered twice/],
  ['was never placed', () => new Told(), {}, 'lost', /was never placed/],
  ['left something out', good, { outcome: 'partly', skipped: ['assign-firewalls-9001'] }, 'lost', /is not done/],
  ['left an item in the cart', () => good().add(502), {}, 'in the cart', /502 is left/],
  ['lacks a firewall', () => new Told().add(501).order(501, 1, []), {}, 'unprotected', /9001 .* lacks a firewall/],
  [
    'took effect, and nobody wrote it down',
    () => Object.assign(good(), { rows: [] }),
    {},
    'not as written',
    /^no row: .*cartItemAdded/,
  ],
])('accuses one that %s', (_what, night, changes, question, sentence) => {
  const saga = { asked, ended: { result: { ...result, ...changes } } };
  expect(judged(night(), [saga])[question]).toContainEqual(expect.stringMatching(sentence));
});

it('accuses one that has not ended, and a sweep that nobody heard of', () => {
  const open: Lived = { asked, role: 'its order is in flight' };
  const unswept = broken({ ...good(), sagas: [open], callsPerSecond: 10, sweep: undefined });
  expect(unswept.lost).toEqual([expect.stringMatching(/\(its order is in flight\) has not ended/)]);
  expect(unswept['not as written']).toEqual([expect.stringMatching(/none ended/)]);
});

it('lets as many items be in the cart as are told of', () => {
  const { ledger } = good().add(502);
  const told = (leftover: object): Lived => ({ asked, ended: { result: { ...result, leftovers: [leftover] } } });
  expect(inTheCart(ledger, [told({ kind: 'cart-item-unknown' })])).toEqual([]);
  expect(inTheCart(ledger, [told({ kind: 'cart-item', cartItemId: 503 })])).toHaveLength(1);
});

const change = { workflow: 'changeOrder' as const, request: changeRequest() };
const reversed = { cancelled: { outcome: 'reversed', leftovers: [], steps: [] } } as unknown as Ended;

it('takes it that a saga with a deadline ends without a purchase; and of no other', () => {
  const over: Lived = { asked: change, ended: reversed };
  expect(lost(new Ledger(), [{ ...over, mayEndEarly: true }])).toEqual([]);
  expect(lost(new Ledger(), [over])).toEqual([expect.stringMatching(/was never placed/)]);
});

it.each<[string, number, Partial<Lived>, string[]]>([
  ['did as it says', 1, {}, []],
  ['claims what is not there', 0, {}, ['it did not']],
  ['hides what is there', 1, { ended: reversed }, ['does not say so']],
  ['placed twice', 2, {}, ['took effect 2 times']],
  ['was taken twice', 1, { surprises: ['another request was taken'] }, ['another request was taken']],
])('knows of a saga that it %s', (_what, times, changes, sentences) => {
  const ledger = new Ledger();
  const placed = { changeOrderId: 1, resources: [], total: 1, currency: 'usd' as const };
  for (let nth = 0; nth < times; nth += 1) {
    const subscriptionId = change.request.subscription_id;
    ledger.tookEffect<ChangeOrderPlaced>({ type: 'changeOrderPlaced', subscriptionId, ...placed });
  }
  const saga = { asked: change, ended: { result: { reference: change.request.reference } }, ...changes } as Lived;
  const judgement = judge(ledger, [saga], undefined);
  expect(judgement.broken).toEqual(sentences.map((sentence) => expect.stringContaining(sentence) as string));
  expect(judgement.suspects).toHaveLength(sentences.length);
});

it('holds nothing against one of what another saga has taken from the same server', () => {
  const { vmObjectId, assign: _assign, ...named } = firewallsRequest();
  const done = (changes: object) =>
    ({
      asked: { workflow: 'setFirewalls', request: { ...named, vmObjectId, ...changes } },
      ended: { result: named },
    }) as Lived;
  const heard = (kept: number[]) => {
    const ledger = new Ledger();
    const change = (type: 'firewallsAssigned' | 'firewallsUnassigned', before: number[], after: number[]) =>
      ledger.tookEffect<FirewallsChanged>({ type, vmObjectId, firewalls: [], before, after });
    ledger.seeded({ vmObjectId, account: null, label: null, firewalls: [150, 151] });
    change('firewallsUnassigned', [150, 151], kept);
    change('firewallsAssigned', kept, [150, 145]);
    return judge(ledger, [done({ unassign: [151] }), done({ assign: [145] })], undefined).broken;
  };
  expect(heard([150])).toEqual([]);
  expect(heard([])).toContainEqual(expect.stringMatching('the server was less protected for a moment'));
});
