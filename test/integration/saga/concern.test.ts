/**
 * Likely duplicates and spend limits: a person is asked before the pivot, and the journal's transaction decides. What
 * counts: test/integration/journal/contract/purchases.ts.
 */
import { ordersWithLabel } from '../../../sandbox/sentences';
import { parseSpendLimits } from '../../../src/domain/spending';
import { provisionRequest } from '../../support/requests';
import { rigForFile } from '../../support/rig';
import { answer, outcomeOf, untilAnother, untilWaiting } from '../../support/sagas';

const hourMs = 3_600_000;

const rig = rigForFile({
  activities: {
    duplicateWithinMs: hourMs,
    spendLimits: parseSpendLimits('ZZ-1=3 servers/1h'),
  },
});

let accounts = 0;
/** Orders of an account of their own, all of the same. */
function alike(changes: object = {}) {
  accounts += 1;
  const account = `YY-${accounts}`;
  return () => provisionRequest({ account, items: [{ plan_id: 17 }], ...changes });
}
const ordersOf = ({ label }: { label: string }) => ordersWithLabel(rig.sandbox.ledger, label);

describe('the same under another reference', () => {
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
    expect(ordersOf(second)).toEqual([]);
    await expect(saga.decide('approve', { question: 'another' })).rejects.toThrow(/not the one that waits/);
    await answer(saga, 'approve', { by: 'boss' });
    expect(await saga.result()).toMatchObject({
      outcome: 'done',
      decisions: [{ decision: 'approve', kind: 'duplicate', by: 'boss', question: waiting.id }],
    });
    expect(ordersOf(second)).toHaveLength(1);
  });

  it('is rejected where nobody answers for as long as the request says', async () => {
    const order = alike();
    await (await rig.sagas.provision(order())).result();
    const second = order();
    const { failure } = await outcomeOf(
      await rig.sagas.provision({ ...second, approval: { above: 9, expiresAfterSeconds: 1 } }),
    );
    expect(failure).toMatchObject({ type: 'NotApproved', report: { why: expect.stringContaining('nobody answered') } });
    expect(ordersOf(second)).toEqual([]);
  });
});

describe('a spend limit', () => {
  it('of servers is asked about with what was spent, what is added, and what it comes to', async () => {
    const order = (quantity: number) => provisionRequest({ account: 'ZZ-1', items: [{ quantity }] });
    await (await rig.sagas.provision(order(2))).result();
    const request = order(2);
    const saga = await rig.sagas.provision(request);
    const waiting = await untilWaiting(saga, 'over-limit');
    expect(waiting.question).toBe(
      'Place the order anyway? Account ZZ-1 has a limit of 3 servers/1h. ' +
        'Spent in the last 1h: 2 servers. This one adds 2: 4 in all.',
    );
    // What keeps to the limit goes on meanwhile; then the yes was to less than it comes to now.
    await (await rig.sagas.provision(order(1))).result();
    await answer(saga, 'approve');
    const again = await untilAnother(saga, waiting.id);
    expect(again.question).toMatch(/Spent in the last 1h: 3 servers\. This one adds 2: 5 in all\.$/);
    await answer(saga, 'approve');
    await saga.result();
    expect(ordersOf(request)).toHaveLength(1);
  });
});
