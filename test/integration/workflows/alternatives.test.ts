/** Something else if it is sold out: what the request names in the place of an item, and what is asked for it. */
import { callsTo, openCartItems } from '../../../sandbox/sentences';
import { describeRecord } from '../../../src/cli/print-record';
import { parsePriceList } from '../../../src/config/price-list';
import { parseSpendLimits } from '../../../src/domain/spending';
import { sandboxProfile } from '../../support/activity-settings';
import { provisionRequest } from '../../support/requests';
import { rigForFile } from '../../support/rig';
import { answer, leftoversOf, outcomeOf, stepOf, untilAnother, untilWaiting } from '../../support/sagas';
import { resetTo, resetToBeginning, taskBefore } from '../../support/web-ui';

const prices = { 17: 10, 18: 100, 19: 12, 20: 5 };
const plans = Object.entries(prices).map(([id, price]) => ({ plan_id: Number(id), billing_cycle: 1, price }));
const rig = rigForFile({
  sandbox: { supportedPlanTypes: ['cloud_servers_standard', 'object_storage'] },
  activities: {
    priceList: parsePriceList(JSON.stringify({ currency: 'USD', plans })),
    profile: { ...sandboxProfile, planTypes: { object_storage: 'other' } },
    spendLimits: parseSpendLimits('ZZ-1=50 usd/1h'),
  },
  planTypes: { object_storage: 'other' },
  clears: true,
  onPostgres: true,
});

type Alternatives = { plan_id?: number; plan_type?: string }[];

/** One of plan 17, or else one of those. */
const wanted = (alternatives: Alternatives, changes: object = {}) =>
  provisionRequest({ items: [{ plan_id: 17, alternatives }], ...changes });

/** Of these plans nothing is left. */
async function provisionWhere(soldOut: number[], request: ReturnType<typeof wanted>) {
  rig.sandbox.configure({ soldOut });
  const before = callsTo(rig.sandbox.ledger, 'add-cart-item').length;
  const saga = await rig.sagas.provision(request);
  /** The plans of all that it has tried to add. */
  const tried = () =>
    callsTo(rig.sandbox.ledger, 'add-cart-item')
      .slice(before)
      .map(({ body }) => (body as { plan_id: number }).plan_id);
  return { saga, tried };
}

const inTheCart = () => openCartItems(rig.sandbox.ledger).map(({ item }) => item.plan_id);

afterEach(() => expect(inTheCart()).toEqual([]));

it('the first alternative that is there is bought, and nothing else', async () => {
  const request = wanted([{ plan_id: 18 }, { plan_id: 19 }, { plan_id: 20 }]);
  const { saga, tried } = await provisionWhere([17, 18], request);
  const result = await saga.result();
  expect(result).toMatchObject({ outcome: 'done', instead: [{ item: 1, alternative: 2, plan_id: 19 }] });
  expect(tried()).toEqual([17, 18, 19]);
  expect(rig.ordersOf(request)).toMatchObject([{ cartItems: result.cartItemIds, items: [{ plan_id: 19 }] }]);
  const told = 'alternative 1: plan_id 18; alternative 2: plan_id 19';
  expect((await stepOf(saga, 'add-cart-item-1'))?.detail).toBe(told);
  const record = await rig.recordOf(saga);
  expect(record?.corrections).toMatchObject([
    { by: 'the request', step: 'add-cart-item-1', correction: { items: [1], alternative: 1, plan_id: 18 } },
    { by: 'the request', step: 'add-cart-item-1', correction: { items: [1], alternative: 2, plan_id: 19 } },
  ]);
  expect(record && describeRecord(record)).toContain('  add-cart-item-1: alternative 2: plan_id 19');
});

it('an alternative takes the place of the item, and not of the alternative before it', async () => {
  const first = { plan_id: 18, plan_type: 'cloud_servers_standard', os_template_id: 9, billing_cycle: 3 as const };
  const item = { plan_id: 17, plan_type: undefined, alternatives: [first, { plan_id: 19 }] };
  const request = provisionRequest({ items: [item] });
  const { saga } = await provisionWhere([17, 18], request);
  await saga.result();
  const [order] = rig.ordersOf(request);
  expect(order?.items).toEqual([{ plan_id: 19, os_template_id: 3, billing_cycle: 1, password: 'a password' }]);
});

it.each<[string, Alternatives, object, string]>([
  [
    'dearer than the guard',
    [{ plan_id: 18 }],
    { guard: { maxTotal: 20 } },
    'the total is 100 usd and the guard allows 20',
  ],
  [
    'no server',
    [{ plan_type: 'object_storage' }],
    { firewalls: [143] },
    'firewalls: protect servers, but no item is a',
  ],
])('an alternative that is %s is passed over, and the record says why', async (_, first, changes, why) => {
  const { saga, tried } = await provisionWhere([17], wanted([...first, { plan_id: 19 }], changes));
  expect(await saga.result()).toMatchObject({ instead: [{ item: 1, alternative: 2, plan_id: 19 }] });
  expect(tried()).toEqual([17, 19]);
  const record = await rig.recordOf(saga);
  const passedOver = expect.stringContaining(why) as string;
  expect(record?.corrections[0]?.correction).toEqual({ items: [1], alternative: 1, passedOver });
  expect((await stepOf(saga, 'add-cart-item-1'))?.detail).toContain(`alternative 1 passed over: ${why}`);
});

describe('where no alternative is left', () => {
  it('the saga ends as after any refusal, and says what it has tried', async () => {
    const items = [{ plan_id: 17, alternatives: [{ plan_id: 18 }, { plan_id: 19 }] }, { plan_id: 20 }];
    const { saga, tried } = await provisionWhere([17, 19], provisionRequest({ items, guard: { maxTotal: 30 } }));
    const { failure } = await outcomeOf(saga);
    expect(failure).toMatchObject({ type: 'OrderRejected', report: { outcome: 'reversed', leftovers: [] } });
    expect(failure?.report.why).toMatch(
      /^Add cart item 1; alternative 1 passed over: .*; alternative 2: plan_id 19: POST .* which means SoldOut/,
    );
    expect(tried().sort()).toEqual([17, 19, 20]);
  });

  it('a person is asked, where the request says so; a retry tries the last one, and a correction another plan', async () => {
    const request = wanted([{ plan_id: 18 }], { onRefusal: 'ask' });
    const { saga, tried } = await provisionWhere([17, 18], request);
    const { id, question } = await untilWaiting(saga, 'refused');
    expect(question).toMatch(/^Refused: “Add cart item 1; alternative 1: plan_id 18” was not done\. .*SoldOut/);
    await answer(saga, 'retry');
    await untilAnother(saga, id, 'refused');
    await answer(saga, 'retry', { correction: { plan_id: 20 } });
    expect((await saga.result()) as object).not.toHaveProperty('instead');
    expect(tried()).toEqual([17, 18, 18, 20]);
    expect(rig.ordersOf(request)).toMatchObject([{ items: [{ plan_id: 20 }] }]);
  });
});

describe('what is asked for is what is then bought', () => {
  it('an approval of the item is none of an alternative, and a no deletes what was added beside it', async () => {
    const items = [{ plan_id: 20 }, { plan_id: 17, alternatives: [{ plan_id: 18, os_template_id: 7 }] }];
    const { saga, tried } = await provisionWhere([17], provisionRequest({ items, approval: 'always' }));
    const { id } = await untilWaiting(saga, 'approval');
    await answer(saga, 'approve');
    const { question } = await untilAnother(saga, id, 'approval');
    expect(question).toMatch(
      /^Approve 2 servers: 1 × plan 20 .*, 1 × plan 18 \(.*, template 7\).* it costs about 105 usd/,
    );
    expect(inTheCart()).toEqual([20]);
    await answer(saga, 'reject');
    expect((await outcomeOf(saga)).failure).toMatchObject({ type: 'NotApproved', report: { outcome: 'reversed' } });
    expect(tried().sort()).toEqual([17, 20]);
    expect(rig.ordersOf(saga)).toEqual([]);
  });

  it('all that is sold out at once is asked about in one question', async () => {
    const item = { plan_id: 17, alternatives: [{ plan_id: 18 }] };
    const request = provisionRequest({ items: [item, item], approval: { aboveTotal: 50 } });
    const { saga } = await provisionWhere([17], request);
    expect((await untilWaiting(saga, 'approval')).question).toMatch(/1 × plan 18 .*, 1 × plan 18 .* about 200 usd/);
    await answer(saga, 'approve');
    expect(await saga.result()).toMatchObject({ decisions: [{ decision: 'approve' }] });
    expect(rig.ordersOf(request)).toMatchObject([{ items: [{ plan_id: 18 }, { plan_id: 18 }] }]);
  });

  it('a spend limit counts the alternative', async () => {
    const { saga } = await provisionWhere([17], wanted([{ plan_id: 18 }], { account: 'ZZ-1' }));
    expect((await untilWaiting(saga, 'over-limit')).question).toContain('This one adds 100: 100 in all.');
    await answer(saga, 'reject');
    await outcomeOf(saga);
  });
});

describe('no alternative is tried', () => {
  it('where another item ends the saga, or the refusal is not declared to mean that it is sold out', async () => {
    const alternatives = [{ plan_id: 18 }];
    const refused = { plan_id: 20, plan_type: 'object_storage' };
    rig.sandbox.configure({ plans: { 20: 'cloud_servers_standard' } });
    const beside = provisionRequest({ items: [{ plan_id: 17, alternatives }, refused] });
    const alone = provisionRequest({ items: [{ ...refused, alternatives }] });
    for (const request of [beside, alone]) {
      const { saga, tried } = await provisionWhere([17], request);
      expect((await outcomeOf(saga)).failure).toMatchObject({ type: 'OrderRejected', report: { leftovers: [] } });
      expect(tried()).not.toContain(18);
      expect((await rig.recordOf(saga))?.corrections).toEqual([]);
    }
  });

  it('where a person has named another plan: that person is asked', async () => {
    const request = wanted([{ plan_id: 18 }], { onRefusal: 'ask' });
    rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'refuse-before', status: 422, times: 1 });
    const { saga, tried } = await provisionWhere([19], request);
    const { id } = await untilWaiting(saga, 'refused');
    await answer(saga, 'retry', { correction: { plan_id: 19 } });
    const { step } = await untilAnother(saga, id, 'refused');
    expect([step, tried()]).toEqual(['add-cart-item-1', [17, 19]]);
    await saga.cancel({ by: 'ann', note: 'not wanted' });
    await outcomeOf(saga);
  });

  it('after a call of unknown outcome: the item may be in the cart', async () => {
    const request = wanted([{ plan_id: 18 }]);
    const match = { planId: 17 };
    rig.sandbox.faults.add({ endpoint: 'add-cart-item', kind: 'reset-before', match });
    const { saga, tried } = await provisionWhere([17], request);
    const ended = await outcomeOf(saga);
    expect(ended.failure).toMatchObject({ type: 'OrderRejected' });
    expect(leftoversOf(ended)).toMatchObject([{ kind: 'cart-item-unknown', item: 1 }]);
    expect(tried()).toEqual([17, 17]);
  });
});

describe('a run that begins again while an alternative takes the place of an item', () => {
  const request = () => wanted([{ plan_id: 18 }], { approval: { aboveTotal: 50 } });

  it('asks for the same alternative, and does not try the item again', async () => {
    const { saga, tried } = await provisionWhere([17], request());
    await untilWaiting(saga, 'approval');
    await resetToBeginning(rig.temporal, saga);
    const again = rig.latest('provisionServers', saga);
    expect((await untilWaiting(again, 'approval')).question).toContain('1 × plan 18');
    await answer(again, 'approve');
    expect(await again.result()).toMatchObject({ outcome: 'done', instead: [{ alternative: 1, plan_id: 18 }] });
    expect(tried()).toEqual([17, 18]);
    expect(rig.ordersOf(saga)).toMatchObject([{ items: [{ plan_id: 18 }] }]);
  });

  it.each(['judgeCorrection', 'writeCorrection', 'writeApproval'])(
    'takes it once, also after a reset to before %s',
    async (activity) => {
      const { saga, tried } = await provisionWhere([17], request());
      await untilWaiting(saga, 'approval');
      const gate = rig.sandbox.faults.add({
        endpoint: 'add-cart-item',
        kind: 'gate',
        hold: 'after',
        match: { planId: 18 },
      });
      await answer(saga, 'approve');
      await rig.sandbox.whenStruck(gate);
      await resetTo(rig.temporal, saga, await taskBefore(rig.temporal, saga, activity));
      rig.sandbox.faults.release(gate);
      const again = rig.latest('provisionServers', saga);
      expect(await again.result()).toMatchObject({ outcome: 'done', instead: [{ alternative: 1 }], leftovers: [] });
      expect(tried()).toEqual([17, 18]);
      expect(rig.ordersOf(saga)).toMatchObject([{ items: [{ plan_id: 18 }] }]);
      expect((await rig.recordOf(saga))?.corrections).toHaveLength(1);
    },
  );
});
