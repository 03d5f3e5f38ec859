/** Orders with a price list of the operator's: the guard, the approval and the record count money. */
import { parsePriceList } from '../../../src/config/price-list';
import { bought } from '../../../src/journal/bought';
import { provisionRequest } from '../../support/requests';
import { rigForFile } from '../../support/rig';
import { answer, outcomeOf, untilWaiting } from '../../support/sagas';

const plans = [
  { plan_id: 17, billing_cycle: 1, price: 10 },
  { plan_id: 18, billing_cycle: 1, price: 100 },
];
const priceList = parsePriceList(JSON.stringify({ currency: 'USD', plans }));
const rig = rigForFile({ activities: { priceList } });
const order = (planId: number, changes: object) => provisionRequest({ items: [{ plan_id: planId }], ...changes });

it.each([
  ['costs more', 18, 'the total is about 100 usd and the guard allows 20'],
  [
    'costs nobody knows what',
    19,
    'the guard allows a total of 20, and the price list has no price for item 1: plan 19, cycle 1',
  ],
])('a guard refuses what %s, before anything is in the cart', async (_what, planId, why) => {
  const calls = rig.sandbox.ledger.calls.length;
  const { failure } = await outcomeOf(await rig.sagas.provision(order(planId, { guard: { maxTotal: 20 } })));
  expect(failure).toMatchObject({ type: 'GuardViolated', report: { outcome: 'reversed' } });
  expect(failure?.report.why).toContain(why);
  expect(rig.sandbox.ledger.calls).toHaveLength(calls);
});

it('an approval above an amount asks with the estimate, and only above it', async () => {
  const approval = { aboveTotal: 50 };
  await (await rig.sagas.provision(order(17, { approval }))).result();
  const saga = await rig.sagas.provision(order(18, { approval }));
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
  const request = order(17, { guard: { maxTotal: 20 }, onRefusal: 'ask' });
  rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'refuse-before', match: { label: request.label } });
  const saga = await rig.sagas.provision(request);
  await untilWaiting(saga, 'refused');
  await answer(saga, 'retry', { correction: { plan_id: 18 } });
  const { failure } = await outcomeOf(saga);
  expect(failure).toMatchObject({ type: 'GuardViolated', report: { outcome: 'reversed', leftovers: [] } });
});
