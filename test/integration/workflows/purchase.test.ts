/** Coming to terms before servers are bought: guard, approval, prices, and the operator’s rule on firewalls. */
import { parsePriceList } from '../../../src/config/price-list';
import { bought } from '../../../src/journal/bought';
import type { SagaHandle } from '../../../src/client/handle';
import { restored } from '../../../src/journal/confirm-restore';
import { resetToBeginning } from '../../support/web-ui';
import { said } from '../../support/operator';
import { planIdOf, provisionRequest } from '../../support/requests';
import { inRig, rigForFile } from '../../support/rig';
import { answer, outcomeOf, stepOf, untilWaiting } from '../../support/sagas';

const plans = [
  { plan_id: 17, billing_cycle: 1, price: 10 },
  { plan_id: 18, billing_cycle: 1, price: 100 },
];
const priceList = parsePriceList(JSON.stringify({ currency: 'USD', plans }));
const listed = (planId: number, changes: object) => provisionRequest({ items: [{ plan_id: planId }], ...changes });
const rig = rigForFile({ activities: { priceList } });

describe('the guard', () => {
  it.each([
    [{ maxServers: 4 }, 'the request orders 5 servers and the guard allows 4'],
    [{ maxItems: 1 }, 'the request has 2 items and the guard allows 1'],
    [
      { maxServers: 1, maxItems: 0 },
      'the request orders 5 servers and the guard allows 1; the request has 2 items and the guard allows 0',
    ],
  ])('%p sends nothing that breaks it', async (guard, why) => {
    const request = provisionRequest({ items: [{ quantity: 2 }, { quantity: 3 }], guard });
    const { failure } = await outcomeOf(await rig.sagas.provision(request));
    expect(failure).toMatchObject({ type: 'GuardViolated', report: { why, leftovers: [] } });
    expect(rig.callsOf(request)).toEqual([]);
  });
});

describe('the approval', () => {
  it('is asked for before anything is added to the cart, and says what is bought', async () => {
    const request = provisionRequest({ items: [{ quantity: 2 }, { addons: [{ id: 6, additional_value: 1 }] }] });
    const saga = await rig.sagas.provision({ ...request, approval: 'always' });
    const waiting = await untilWaiting(saga, 'approval');
    expect(waiting).toMatchObject({ step: 'approve', choices: ['approve', 'reject'] });
    const plan = `plan ${planIdOf(request.reference)} (cloud_servers_standard, monthly`;
    expect(waiting.question).toBe(
      `Approve 3 servers: 2 × ${plan}), 1 × ${plan}, 1 add-ons); account ${request.account}, ` +
        `label “${request.label}”? The provider names no price in advance.`,
    );
    expect(rig.callsOf(request)).toEqual([]);
    await answer(saga, 'approve', { by: 'boss' });
    expect(await saga.result()).toMatchObject({
      decisions: [{ decision: 'approve', by: 'boss', question: waiting.id }],
    });
    expect(rig.ordersOf(request)).toHaveLength(1);
  });

  it('that is refused sends nothing', async () => {
    const request = provisionRequest({ approval: 'always' });
    const saga = await rig.sagas.provision(request);
    await untilWaiting(saga, 'approval');
    await answer(saga, 'reject', { reason: 'too many' });
    const { failure } = await outcomeOf(saga);
    expect(failure).toMatchObject({ type: 'NotApproved', report: { why: 'rejected: too many', leftovers: [] } });
    expect(rig.callsOf(request)).toEqual([]);
  });
});

describe('with a price list of the operator’s', () => {
  it.each([
    ['costs more', 18, 'the total is about 100 usd and the guard allows 20'],
    [
      'costs nobody knows what',
      19,
      'the guard allows a total of 20, and the price list has no price for item 1: plan 19, cycle 1',
    ],
  ])('a guard refuses what %s, before anything is in the cart', async (_what, planId, why) => {
    const calls = rig.sandbox.ledger.calls.length;
    const { failure } = await outcomeOf(await rig.sagas.provision(listed(planId, { guard: { maxTotal: 20 } })));
    expect(failure).toMatchObject({ type: 'GuardViolated', report: { outcome: 'reversed' } });
    expect(failure?.report.why).toContain(why);
    expect(rig.sandbox.ledger.calls).toHaveLength(calls);
  });

  it('an approval above an amount asks with the estimate, and only above it', async () => {
    const approval = { aboveTotal: 50 };
    await (await rig.sagas.provision(listed(17, { approval }))).result();
    const saga = await rig.sagas.provision(listed(18, { approval }));
    const { question } = await untilWaiting(saga, 'approval');
    expect(question).toContain('By the price list it costs about 100 usd');
    await answer(saga, 'approve');
    await saga.result();
    const [row] = await rig.withJournal(async (journal) => {
      const rows = [];
      for await (const one of bought(journal, {})) if (one.reference === saga.reference) rows.push(one);
      return rows;
    });
    expect(row).toMatchObject({ total: 100, currency: 'usd', isEstimate: true, fate: 'placed' });
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

it('servers without firewalls are refused before anything is in the cart, where the operator’s rule says so', () =>
  inRig({ activities: { requireFirewalls: 'refuse' } }, async (rig) => {
    const bare = provisionRequest({ firewalls: undefined });
    const { failure } = await outcomeOf(await rig.sagas.provision(bare));
    expect(failure).toMatchObject({ type: 'GuardViolated', report: { outcome: 'reversed', leftovers: [] } });
    expect(rig.sandbox.ledger.calls).toEqual([]);
    const { result } = await outcomeOf(await rig.sagas.provision(provisionRequest({ firewalls: [143] })));
    expect(result).toMatchObject({ outcome: 'done' });
  }));

it('servers without firewalls are approved by a person, where the operator’s rule says so', () =>
  inRig({ activities: { requireFirewalls: 'ask' } }, async (rig) => {
    const saga = await rig.sagas.provision(provisionRequest({ firewalls: undefined }));
    const waiting = await untilWaiting(saga, 'approval');
    expect(waiting.question).toContain('It names no firewalls');
    expect(rig.sandbox.ledger.calls).toEqual([]);
    await answer(saga, 'approve');
    expect(await saga.result()).toMatchObject({ outcome: 'done' });
  }));

describe('a run that was reset to before its approval, and has not asked because the order may be placed', () => {
  const request = (changes: object = {}) => provisionRequest({ approval: 'always', ...changes });
  async function reset(saga: SagaHandle<'provisionServers'>) {
    await resetToBeginning(rig.temporal, saga);
    return rig.latest('provisionServers', saga);
  }

  async function approvedAndDenied() {
    const asked = request();
    rig.sandbox.faults.add({
      ...{ endpoint: 'place-order', kind: 'error-before', match: { planId: planIdOf(asked.reference) } },
    });
    const saga = await rig.sagas.provision(asked);
    await untilWaiting(saga, 'approval');
    await answer(saga, 'approve');
    await untilWaiting(saga, 'outcome-unknown');
    const again = await reset(saga);
    await untilWaiting(again, 'outcome-unknown');
    expect(await stepOf(again, 'approve')).toBeUndefined();
    await answer(again, 'confirmNotPlaced', { note: 'not there' });
    return { asked, again };
  }

  it('asks before it is sent, once it is known not to be placed', async () => {
    const { asked, again } = await approvedAndDenied();
    await untilWaiting(again, 'approval');
    expect(rig.ordersOf(asked)).toEqual([]);
    await answer(again, 'approve');
    expect(await again.result()).toMatchObject({ outcome: 'done', leftovers: [] });
    expect(rig.ordersOf(asked)).toHaveLength(1);
  });

  it('sends nothing where that is rejected, and takes the items out of the cart', async () => {
    const { asked, again } = await approvedAndDenied();
    await untilWaiting(again, 'approval');
    await answer(again, 'reject');
    const { failure } = await outcomeOf(again);
    expect(failure).toMatchObject({ type: 'NotApproved', report: { outcome: 'reversed', leftovers: [] } });
    expect(rig.ordersOf(asked)).toEqual([]);
  });

  // Last: from here on every reference of before is in doubt.
  it('asks where nobody has ever approved it, and the journal was restored', async () => {
    const asked = request();
    const saga = await rig.sagas.provision(asked);
    await untilWaiting(saga, 'approval');
    await rig.withJournal((journal) => restored(journal, 'trust', said));
    const again = await reset(saga);
    await untilWaiting(again, 'outcome-unknown');
    await answer(again, 'confirmNotPlaced', { note: 'not there' });
    await untilWaiting(again, 'approval');
    expect(rig.ordersOf(asked)).toEqual([]);
    await answer(again, 'approve');
    await again.result();
    expect(rig.ordersOf(asked)).toHaveLength(1);
  });
});
