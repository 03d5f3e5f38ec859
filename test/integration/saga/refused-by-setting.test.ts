/** What follows a refusal where the request does not say: the setting does. */
import { changeRequest, provisionRequest, switchRequest } from '../../support/requests';
import { rigForFile } from '../../support/rig';
import { answer, outcomeOf, untilWaiting } from '../../support/sagas';

const rig = rigForFile({ activities: { onRefusal: 'ask' } });

const refuseOrder = ({ label }: { label: string }) =>
  rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'refuse-before', match: { label } });

it('asks about a purchase', async () => {
  const request = provisionRequest();
  refuseOrder(request);
  const saga = await rig.sagas.provision(request);
  await untilWaiting(saga, 'refused');
  await answer(saga, 'retry');
  await saga.result();
});

it.each(['changeOrder', 'switchPlan'] as const)(
  'asks about a %s that is refused, or not available',
  async (workflow) => {
    const request = workflow === 'changeOrder' ? changeRequest() : switchRequest();
    rig.sandbox.configure({ unavailableSubscriptions: [request.subscription_id] });
    rig.sandbox.faults.add({
      endpoint: '*',
      kind: 'refuse-before',
      match: { subscriptionId: request.subscription_id },
    });
    const saga = await rig.sagas.start(workflow, request);
    expect((await untilWaiting(saga, 'refused')).lastFailure).toMatchObject({ failure: 'Rejected' });
    await answer(saga, 'retry');
    expect((await untilWaiting(saga, 'refused')).question).toContain('The provider says that it is not available.');
    rig.sandbox.configure({ unavailableSubscriptions: [] });
    await answer(saga, 'retry');
    await outcomeOf(saga);
    expect((await saga.progress()).state).toBe('done');
  },
);
