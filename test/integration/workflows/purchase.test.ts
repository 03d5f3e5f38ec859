/**
 * Coming to terms before servers are bought: guard, approval, prices, the operator’s rule on firewalls, likely
 * duplicates and spend limits, and the correction of what the provider refuses. Which purchases count:
 * test/integration/journal/contract/purchases.ts.
 */
import type { temporal } from '@temporalio/proto';
import { parsePriceList } from '../../../src/config/price-list';
import type { SagaHandle } from '../../../src/client/handle';
import { parseSpendLimits } from '../../../src/domain/spending';
import { bought } from '../../../src/journal/purchases';
import { restoredAndTrusted } from '../../support/operator';
import { orderThat } from '../../support/orders';
import { planIdOf, provisionRequest } from '../../support/requests';
import { sandboxProfile } from '../../support/activity-settings';
import { rigForFile } from '../../support/rig';
import { answer, leftoversOf, outcomeOf, stepOf, untilAnother, untilWaiting } from '../../support/sagas';
import { resetToBeginning } from '../../support/web-ui';
import { listOf } from '../../support/listed';

const plans = [
  { plan_id: 17, billing_cycle: 1, price: 10 },
  { plan_id: 18, billing_cycle: 1, price: 100 },
];
const priceList = parsePriceList(JSON.stringify({ currency: 'USD', plans }));
const listed = (planId: number, changes: object) => provisionRequest({ items: [{ plan_id: planId }], ...changes });
/** Its type is none that the items of these requests have. */
const wrongPlan = 7777;
const planTypes = { object_storage: 'other' } as const;
const rig = rigForFile({
  sandbox: {
    plans: { [String(wrongPlan)]: 'cloud_servers_highmemory' },
    supportedPlanTypes: ['cloud_servers_standard', 'object_storage'],
  },
  activities: {
    priceList,
    profile: { ...sandboxProfile, planTypes },
    duplicateWithinMs: 3_600_000,
    spendLimits: parseSpendLimits('ZZ-1=3 servers/1h, ZZ-2=50 usd/1h'),
  },
  planTypes,
  clears: true,
});

it('nothing that breaks the guard is sent', async () => {
  const guard = { maxServers: 1, maxItems: 0 };
  const request = provisionRequest({ items: [{ quantity: 2 }, { quantity: 3 }], guard });
  const { failure } = await outcomeOf(await rig.sagas.provision(request));
  const why = 'the request orders 5 servers and the guard allows 1; the request has 2 items and the guard allows 0';
  expect(failure).toMatchObject({ type: 'GuardViolated', report: { why, leftovers: [] } });
  expect(rig.callsOf(request)).toEqual([]);
});

it('the approval is asked for before anything is added to the cart, and says what is bought', async () => {
  const request = provisionRequest({ items: [{ quantity: 2 }, { addons: [{ id: 6, additional_value: 1 }] }] });
  const saga = await rig.sagas.provision({ ...request, approval: 'always' });
  const waiting = await untilWaiting(saga, 'approval');
  expect(waiting).toMatchObject({ step: 'approve', choices: ['approve', 'reject'] });
  const planId = planIdOf(request.reference);
  const plan = `plan ${planId} (cloud_servers_standard, monthly, template 3`;
  expect(waiting.question).toBe(
    `Approve 3 servers: 2 × ${plan}), 1 × ${plan}, 1 add-ons); account ${request.account}, ` +
      `label “${request.label}”? The provider names no price in advance, and the price list has no price for item 1: ` +
      `plan ${planId}, cycle 1.`,
  );
  expect(rig.callsOf(request)).toEqual([]);
  await answer(saga, 'approve', { by: 'boss' });
  expect(await saga.result()).toMatchObject({
    decisions: [{ decision: 'approve', by: 'boss', question: waiting.id }],
  });
  expect(rig.ordersOf(request)).toHaveLength(1);
});
describe('with a price list of the operator’s', () => {
  it('a guard refuses what costs more, before anything is in the cart', async () => {
    const calls = rig.sandbox.ledger.calls.length;
    const { failure } = await outcomeOf(await rig.sagas.provision(listed(18, { guard: { maxTotal: 20 } })));
    expect(failure).toMatchObject({ type: 'GuardViolated', report: { outcome: 'reversed' } });
    expect(failure?.report.why).toContain('the total is 100 usd and the guard allows 20');
    expect(rig.sandbox.ledger.calls).toHaveLength(calls);
  });

  describe('what has moved while an order was stuck counts', () => {
    /** Agreed to by the rules of then, and not sent. */
    async function stuckOrder(changes: object) {
      const request = listed(17, changes);
      rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'unauthorized', times: 1 });
      const saga = await rig.sagas.provision(request);
      await untilWaiting(saga, 'stuck');
      return saga;
    }
    const at = (price: number) => {
      const moved = { plan_id: 17, billing_cycle: 1, price };
      return rig.restartWith({ priceList: parsePriceList(JSON.stringify({ currency: 'USD', plans: [moved] })) });
    };
    beforeEach(() => at(10));
    afterAll(() => rig.restartWith({}));

    it('a price above the guard is not paid', async () => {
      const saga = await stuckOrder({ guard: { maxTotal: 30 } });
      await at(250);
      await answer(saga, 'retry');
      const { failure } = await outcomeOf(saga);
      expect(failure).toMatchObject({ type: 'GuardViolated', report: { outcome: 'reversed', leftovers: [] } });
      expect(rig.ordersOf(saga)).toEqual([]);
    });

    it('a price above what needs no approval is asked about, with the price of now', async () => {
      const saga = await stuckOrder({ approval: { aboveTotal: 30 } });
      await at(250);
      await answer(saga, 'retry');
      const { question } = await untilWaiting(saga, 'approval');
      expect(question).toContain('it costs about 250 usd');
      expect(rig.ordersOf(saga)).toEqual([]);
      await answer(saga, 'approve');
      await saga.result();
      expect(rig.ordersOf(saga)).toHaveLength(1);
    });

    it('a run that asks before it knows of the items of an earlier one says that a no deletes them', async () => {
      const stuck = await stuckOrder({ approval: { aboveTotal: 30 } });
      await at(250);
      await resetToBeginning(rig.temporal, stuck);
      const saga = rig.latest('provisionServers', stuck);
      await untilWaiting(saga, 'approval');
      type Metadata = temporal.api.sdk.v1.IWorkflowMetadata;
      const { currentDetails } = await rig.runOf(saga).query<Metadata>('__temporal_workflow_metadata');
      expect(currentDetails).toMatch(/\*\*reject\*\* — .*It deletes the cart items that the journal has of it\./);
      await answer(saga, 'reject');
      await outcomeOf(saga);
      expect(rig.openItems(saga)).toEqual([]);
    });

    it('a rule that requires firewalls by now refuses a server without', async () => {
      const saga = await stuckOrder({ firewalls: undefined });
      await rig.restartWith({ requireFirewalls: 'refuse' });
      await answer(saga, 'retry');
      expect((await outcomeOf(saga)).failure).toMatchObject({ type: 'GuardViolated' });
      expect(rig.ordersOf(saga)).toEqual([]);
    });
  });

  it('an approval above an amount asks with the estimate, and only above it', async () => {
    const approval = { aboveTotal: 50 };
    await (await rig.sagas.provision(listed(17, { approval }))).result();
    const saga = await rig.sagas.provision(listed(18, { approval }));
    const { question } = await untilWaiting(saga, 'approval');
    expect(question).toContain('By the price list it costs about 100 usd');
    await answer(saga, 'approve');
    await saga.result();
    const rows = await rig.withJournal((journal) => listOf(bought(journal, {})));
    expect(rows.find(({ reference }) => reference === saga.reference)).toMatchObject({
      total: 100,
      currency: 'usd',
      isEstimate: true,
      fate: 'placed',
    });
    const unpriced = await rig.sagas.provision(listed(19, { approval }));
    const asked = await untilWaiting(unpriced, 'approval');
    expect(asked.question).toContain('and the price list has no price for item 1: plan 19, cycle 1.');
    await unpriced.cancel({ by: 'a test', note: 'seen' });
  });

  it('a limit in money says that it counts estimates', async () => {
    const saga = await rig.sagas.provision({ ...listed(18, {}), account: 'ZZ-2' });
    const { question } = await untilWaiting(saga, 'over-limit');
    expect(question).toMatch(/This one adds 100: 100 in all\. Orders count as the price list estimates them/);
    await saga.cancel({ by: 'a test', note: 'seen' });
  });

  it('a correction is estimated anew', async () => {
    const request = listed(17, { guard: { maxTotal: 20 }, onRefusal: 'ask' });
    rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'refuse-before', match: { label: request.label } });
    const saga = await rig.sagas.provision(request);
    await untilWaiting(saga, 'refused');
    await answer(saga, 'retry', { correction: { plan_id: 18 } });
    const { failure } = await outcomeOf(saga);
    expect(failure).toMatchObject({ type: 'GuardViolated', report: { outcome: 'reversed', leftovers: [] } });
  });
});

describe('the same under another reference', () => {
  let accounts = 0;
  /** Orders of an account of their own, all of the same. */
  function alike() {
    accounts += 1;
    const account = `YY-${accounts}`;
    return () => listed(17, { account });
  }

  it('is asked about before the order, by name and time, and ordered after a yes', async () => {
    const order = alike();
    const [first, second] = [order(), order()];
    await (await rig.sagas.provision(first)).result();
    const saga = await rig.sagas.provision(second);
    const waiting = await untilWaiting(saga, 'duplicate');
    expect(waiting).toMatchObject({ step: 'place-order', choices: ['approve', 'reject'] });
    expect(waiting.question).toMatch(
      new RegExp(`^Place the order anyway\\? The same was bought within 1h .*: ${first.reference} on 20\\d\\d-`),
    );
    expect(rig.ordersOf(second)).toEqual([]);
    await answer(saga, 'approve', { by: 'boss' });
    expect(await saga.result()).toMatchObject({
      outcome: 'done',
      decisions: [{ decision: 'approve', kind: 'duplicate', by: 'boss', question: waiting.id }],
    });
    expect(rig.ordersOf(second)).toHaveLength(1);
  });

  it('is rejected where nobody answers for as long as the request says', async () => {
    const order = alike();
    await (await rig.sagas.provision(order())).result();
    const second = { ...order(), approval: { above: 9, expiresAfterSeconds: 1 } };
    const { failure } = await outcomeOf(await rig.sagas.provision(second));
    expect(failure).toMatchObject({ type: 'NotApproved', report: { why: expect.stringContaining('nobody answered') } });
    expect(rig.ordersOf(second)).toEqual([]);
  });
});

it('a spend limit is asked about with what was spent, what is added, and what it comes to', async () => {
  const order = (quantity: number) => provisionRequest({ account: 'ZZ-1', items: [{ quantity }] });
  await (await rig.sagas.provision(order(2))).result();
  const saga = await rig.sagas.provision(order(2));
  const waiting = await untilWaiting(saga, 'over-limit');
  expect(waiting.question).toBe(
    'Place the order anyway? Account ZZ-1 has a limit of 3 servers/1h. ' +
      'Spent in the last 1h: 2 servers. This one adds 2: 4 in all.',
  );
  // A purchase within the limit goes on meanwhile; then the yes was to less than it comes to now.
  await (await rig.sagas.provision(order(1))).result();
  await answer(saga, 'approve');
  const again = await untilAnother(saga, waiting.id);
  expect(again.question).toMatch(/Spent in the last 1h: 3 servers\. This one adds 2: 5 in all\.$/);
  await answer(saga, 'approve');
  await saga.result();
  expect(rig.ordersOf(saga)).toHaveLength(1);
});

describe('where the provider refuses, and a person corrects', () => {
  type Changes = Parameters<typeof provisionRequest>[0];
  const refusal = { endpoint: 'place-order', kind: 'refuse-before' } as const;
  /** The order is refused once, and somebody is asked. */
  async function refusedOrder(changes: Changes = {}) {
    const { request, saga } = await orderThat(rig, refusal, { onRefusal: 'ask', ...changes });
    return { request, saga, waiting: await untilWaiting(saga, 'refused') };
  }

  it('an item costs neither the saga nor what was added beside it', async () => {
    const request = provisionRequest({ onRefusal: 'ask', items: [{}, { plan_id: wrongPlan }] });
    const saga = await rig.sagas.provision(request);
    const waiting = await untilWaiting(saga, 'refused');
    expect(waiting).toMatchObject({ step: 'add-cart-item-2', lastFailure: { failure: 'Rejected', status: 422 } });
    expect(waiting.question).toMatch(
      /^Refused: “Add cart item 2” was not done\. The provider refuses it: .*\. Retry with a correction, or as it is; or request cancellation\.$/,
    );
    await answer(saga, 'retry', { by: 'op', correction: { plan_id: planIdOf(request.reference) } });
    const { outcome, cartItemIds, decisions } = await saga.result();
    expect(outcome).toBe('done');
    expect(decisions).toMatchObject([{ kind: 'refused', correction: { plan_id: planIdOf(request.reference) } }]);
    expect(rig.ordersOf(request)).toMatchObject([{ cartItems: cartItemIds }]);
    expect(rig.callsOf(request, 'add-cart-item')).toHaveLength(2);
  });

  it('is asked about what is refused, and not about what may have been added', async () => {
    const request = provisionRequest({ onRefusal: 'ask', items: [{}, { plan_id: wrongPlan }] });
    const match = { planId: planIdOf(request.reference) };
    rig.sandbox.faults.add({ endpoint: 'add-cart-item', kind: 'reset-after', times: 'all', match });
    const saga = await rig.sagas.provision(request);
    expect((await untilWaiting(saga, 'refused')).question).toMatch(/^Refused: “Add cart item 2” was not done\./);
    await saga.cancel();
    expect(leftoversOf(await outcomeOf(saga)).map(({ kind }) => kind)).toContain('cart-item-unknown');
  });

  it('an order orders what was added in the place of an item, which was deleted before', async () => {
    const { request, saga } = await refusedOrder({ items: [{ quantity: 2 }, { quantity: 3 }] });
    const before = rig.openItems(request).map(({ cartItemId }) => cartItemId);
    await answer(saga, 'retry', { correction: { item: 2, quantity: 1 } });
    const { outcome, cartItemIds, servers, leftovers } = await saga.result();
    expect({ outcome, leftovers }).toEqual({ outcome: 'done', leftovers: [] });
    expect(servers).toHaveLength(3);
    const items = [{ quantity: 2 }, { quantity: 1 }];
    expect(rig.ordersOf(request)).toMatchObject([{ cartItems: cartItemIds, items }]);
    const [kept, added] = cartItemIds;
    const [replaced, ...others] = before.filter((id) => id !== kept);
    expect(others).toEqual([]);
    const { entries } = rig.sandbox.ledger;
    const deletedAt = entries.findIndex((one) => one.type === 'cartItemDeleted' && one.cartItemId === replaced);
    const addedAt = entries.findIndex((one) => one.type === 'cartItemAdded' && one.cartItemId === added);
    expect(deletedAt).toBeGreaterThan(-1);
    expect(deletedAt).toBeLessThan(addedAt);
    expect(rig.openItems(request)).toEqual([]);
  });

  it.each<[Changes, [correction: object, why: string][]]>([
    [
      {},
      [
        [{ account: 'AB-9' }, 'account: there is no such field'],
        [{ quantity: 0 }, 'quantity: must be a whole number above 0'],
        [{ item: 3, quantity: 1 }, 'item: is not the number of an item that waits'],
        [{ quantity: 1 }, 'item: is required: there are 2 items'],
        [{}, 'names no field to correct'],
        [{ item: 2 }, 'names no field to correct'],
        [{ item: 1, quantity: 3 }, 'items[0].quantity: must not be more than 2, as in the first request'],
        [{ item: 2, plan_type: 'nothing' }, 'plan_type: must be one of'],
        [{ label: 'x'.repeat(1_001) }, 'correction.label: must not have more than 1000 characters'],
      ],
    ],
    [{ vmObjectIds: [1, 2, 3] }, [[{ item: 1, quantity: 1 }, 'vmObjectIds: names 3 servers, but 2 are ordered']]],
    [
      { items: [{ plan_type: 'object_storage' }, {}], guard: { maxServers: 1 } },
      [[{ item: 1, plan_type: 'cloud_servers_standard' }, 'the request orders 2 servers and the guard allows 1']],
    ],
  ])('of %j no correction that does not fit is taken, and nothing is sent', async (changes, corrections) => {
    const { request, saga, waiting } = await refusedOrder({ items: [{ quantity: 2 }, {}], ...changes });
    const calls = rig.sandbox.ledger.calls.length;
    for (const [correction, why] of corrections)
      await expect(answer(saga, 'retry', { correction })).rejects.toThrow(why);
    expect(await saga.progress()).toMatchObject({ state: 'refused', waiting: { id: waiting.id }, decisions: [] });
    expect(rig.sandbox.ledger.calls).toHaveLength(calls);
    await saga.cancel();
    await outcomeOf(saga);
    expect(rig.openItems(request)).toEqual([]);
  });

  it('what was approved is asked for again with the correction, before anything is sent by it', async () => {
    const changes = { onRefusal: 'ask', items: [{ quantity: 2 }], approval: 'always' };
    const { request, saga } = await orderThat(rig, refusal, changes);
    await untilWaiting(saga, 'approval');
    await answer(saga, 'approve');
    await untilWaiting(saga, 'refused');
    const [before] = rig.openItems(request);
    await answer(saga, 'retry', { correction: { quantity: 1 } });
    const { question } = await untilWaiting(saga, 'approval');
    expect(question).toMatch(/^Approve 1 server: 1 × plan/);
    expect(rig.openItems(request)).toEqual([before]);
    await answer(saga, 'approve');
    await saga.result();
    expect(rig.ordersOf(request)).toMatchObject([{ items: [{ quantity: 1 }] }]);
  });

  it('what was approved is asked about once, also by a run that was reset to before its approval', async () => {
    const changes = { items: [{ quantity: 2 }], approval: 'always' };
    const { request, saga } = await orderThat(rig, { endpoint: 'place-order', kind: 'unauthorized' }, changes);
    await untilWaiting(saga, 'approval');
    await answer(saga, 'approve', { by: 'boss' });
    await untilWaiting(saga, 'stuck');
    rig.clear();
    await resetToBeginning(rig.temporal, saga);
    const again = rig.latest('provisionServers', saga);
    expect(await again.result()).toMatchObject({ outcome: 'done', decisions: [] });
    expect(rig.ordersOf(request)).toHaveLength(1);
  });

  it('an item that cannot be deleted is asked about, and told where it is left behind', async () => {
    const { request, saga } = await refusedOrder({ items: [{ quantity: 2 }] });
    const [before] = rig.openItems(request);
    rig.sandbox.faults.add({ endpoint: 'delete-cart-item', kind: 'unauthorized' });
    await answer(saga, 'retry', { correction: { quantity: 1 } });
    await untilWaiting(saga, 'stuck');
    await saga.cancel();
    // A cancellation does not make it forgotten.
    expect((await untilWaiting(saga, 'stuck')).choices).toEqual(['retry', 'markDone', 'skip']);
    await answer(saga, 'skip', { note: 'by hand' });
    const { cancelled } = await outcomeOf(saga);
    expect(cancelled?.leftovers).toEqual([{ kind: 'cart-item', cartItemId: before?.cartItemId, why: 'by hand' }]);
    expect(rig.openItems(request)).toEqual([before]);
  });
});

describe('a run that was reset to before its approval, and has not asked because the order may be placed, asks', () => {
  async function reset(saga: SagaHandle<'provisionServers'>) {
    await resetToBeginning(rig.temporal, saga);
    const again = rig.latest('provisionServers', saga);
    await untilWaiting(again, 'outcome-unknown');
    expect(await stepOf(again, 'approve')).toBeUndefined();
    await answer(again, 'confirmNotPlaced', { note: 'not there' });
    await untilWaiting(again, 'approval');
    expect(rig.ordersOf(saga)).toEqual([]);
    await answer(again, 'approve');
    expect(await again.result()).toMatchObject({ outcome: 'done', leftovers: [] });
    expect(rig.ordersOf(saga)).toHaveLength(1);
  }

  it('before it is sent, once it is known not to be placed', async () => {
    const { saga } = await orderThat(rig, { endpoint: 'place-order', kind: 'error-before' }, { approval: 'always' });
    await untilWaiting(saga, 'approval');
    await answer(saga, 'approve');
    await untilWaiting(saga, 'outcome-unknown');
    await reset(saga);
  });

  // After this every reference of before is in doubt.
  it('where nobody has ever approved it, and the journal was restored', async () => {
    const saga = await rig.sagas.provision(provisionRequest({ approval: 'always' }));
    await untilWaiting(saga, 'approval');
    await rig.withJournal((journal) => restoredAndTrusted(journal));
    await reset(saga);
  });
});

describe('where the operator’s rule says so, servers without firewalls', () => {
  const bare = () => provisionRequest({ firewalls: undefined });

  it('are refused before anything is in the cart', async () => {
    await rig.restartWith({ requireFirewalls: 'refuse' });
    const request = bare();
    const { failure } = await outcomeOf(await rig.sagas.provision(request));
    expect(failure).toMatchObject({ type: 'GuardViolated', report: { outcome: 'reversed', leftovers: [] } });
    expect(rig.callsOf(request)).toEqual([]);
    const { result } = await outcomeOf(await rig.sagas.provision(provisionRequest({ firewalls: [143] })));
    expect(result).toMatchObject({ outcome: 'done' });
  });

  it('are approved by a person', async () => {
    await rig.restartWith({ requireFirewalls: 'ask' });
    const request = bare();
    const saga = await rig.sagas.provision(request);
    expect((await untilWaiting(saga, 'approval')).question).toContain('It names no firewalls');
    expect(rig.callsOf(request)).toEqual([]);
    await answer(saga, 'approve');
    expect(await saga.result()).toMatchObject({ outcome: 'done' });
  });
});
