/** How coming to terms ends where there is nothing to come to. */
import { changeRequest, switchRequest } from '../support/requests';
import { Rig } from '../support/rig';
import { outcomeOf, untilWaiting } from '../support/sagas';

let rig: Rig;
beforeAll(async () => {
  rig = await Rig.start();
});
afterAll(() => rig.close());

it.each(['changeOrder', 'switchPlan'] as const)('%s whose quote is refused', async (workflow) => {
  const request = workflow === 'changeOrder' ? changeRequest() : switchRequest();
  const match = { subscriptionId: request.subscription_id };
  rig.sandbox.faults.add({ endpoint: '*', kind: 'refuse-before', match });
  const { failure } = await outcomeOf(await rig.sagas.start(workflow, request));
  expect(failure?.type).toBe('OrderRejected');
  expect(failure?.report.why).toMatch(/^Quote the .*: .*422/);
  expect(failure?.report).toMatchObject({ outcome: 'reversed', leftovers: [] });
});

it('what is not available is said to be so', async () => {
  const request = changeRequest();
  rig.sandbox.configure({ unavailableSubscriptions: [request.subscription_id] });
  const { failure } = await outcomeOf(await rig.sagas.change(request));
  expect(failure?.report.why).toBe('the provider says that it is not available');
});

it('all that breaks the guard is told', async () => {
  const { failure } = await outcomeOf(
    await rig.sagas.change(changeRequest({ guard: { maxTotal: 1, currency: 'EUR' } })),
  );
  expect(failure?.report.why).toBe(
    'the total is 5 and the guard allows 1; the quote is in usd and the guard asks for eur',
  );
});

it('one that a person rejects without a word is rejected', async () => {
  const saga = await rig.sagas.switch(switchRequest({ approval: 'always' }));
  await untilWaiting(saga);
  await saga.decide('reject');
  expect((await outcomeOf(saga)).failure).toMatchObject({ type: 'NotApproved', report: { why: 'rejected' } });
});
