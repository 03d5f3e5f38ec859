/** Coming to terms before servers are bought: guard and approval. */
import { ordersWithLabel } from '../../../sandbox/sentences';
import { planIdOf, provisionRequest } from '../../support/requests';
import { rigForFile } from '../../support/rig';
import { answer, outcomeOf, untilWaiting } from '../../support/sagas';

const rig = rigForFile();

const ordersOf = ({ reference }: { reference: string }) => ordersWithLabel(rig.sandbox.ledger, reference);
const callsOf = ({ reference }: { reference: string }) =>
  rig.sandbox.ledger.calls.filter(({ names }) => names.planId?.includes(planIdOf(reference)));

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
    expect(callsOf(request)).toEqual([]);
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
    expect(callsOf(request)).toEqual([]);
    await answer(saga, 'approve', { by: 'boss' });
    expect(await saga.result()).toMatchObject({
      decisions: [{ decision: 'approve', by: 'boss', question: waiting.id }],
    });
    expect(ordersOf(request)).toHaveLength(1);
  });

  it('that is refused sends nothing', async () => {
    const request = provisionRequest({ approval: 'always' });
    const saga = await rig.sagas.provision(request);
    await untilWaiting(saga, 'approval');
    await answer(saga, 'reject', { reason: 'too many' });
    const { failure } = await outcomeOf(saga);
    expect(failure).toMatchObject({ type: 'NotApproved', report: { why: 'rejected: too many', leftovers: [] } });
    expect(callsOf(request)).toEqual([]);
  });
});
