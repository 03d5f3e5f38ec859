/**
 * A 403 has two readings: our credentials are not allowed it, or the provider refuses the request. The question names
 * both, and each has a way out.
 */
import { openCartItems } from '../../../sandbox/sentences';
import type { SagaFailureName } from '../../../src/domain/failures';
import type { WorkflowName } from '../../../src/domain/identity';
import { changeRequest, firewallsRequest, planIdOf, provisionRequest, switchRequest } from '../../support/requests';
import { rigForFile } from '../../support/rig';
import { answer, outcomeOf, untilWaiting } from '../../support/sagas';

const rig = rigForFile();

/** What may be corrected where the provider surely refuses the step; undefined where nothing may be. */
type Case = [
  endpoint: string,
  workflow: WorkflowName,
  request: () => { reference: string },
  match: (request: never) => object,
  correction: object | undefined,
  ends: SagaFailureName,
];
const ofSubscription = ({ subscription_id }: { subscription_id: number }) => ({ subscriptionId: subscription_id });
const cases: Case[] = [
  [
    'add-cart-item',
    'provisionServers',
    provisionRequest,
    ({ reference }: { reference: string }) => ({ planId: planIdOf(reference) }),
    { plan_id: 3 },
    'OrderRejected',
  ],
  [
    'place-order',
    'provisionServers',
    provisionRequest,
    ({ label }: { label: string }) => ({ label }),
    { plan_id: 3 },
    'OrderRejected',
  ],
  ['place-change-order', 'changeOrder', changeRequest, ofSubscription, undefined, 'OrderRejected'],
  ['quote-plan-switch', 'switchPlan', switchRequest, ofSubscription, { plan_id: 22 }, 'OrderRejected'],
  ['switch-plan', 'switchPlan', switchRequest, ofSubscription, { plan_id: 22 }, 'OrderRejected'],
  [
    'assign-firewalls',
    'setFirewalls',
    firewallsRequest,
    ({ vmObjectId }: { vmObjectId: number }) => ({ vmObjectId }),
    undefined,
    'FirewallsRejected',
  ],
];

async function forbidden([endpoint, workflow, make, match]: Case) {
  const request = make();
  const fault = { endpoint, kind: 'refuse-before', status: 403, body: { error: 'quota of 5 servers is used up' } };
  rig.sandbox.faults.add({ ...fault, match: match(request as never) } as Parameters<typeof rig.sandbox.faults.add>[0]);
  const saga = await rig.sagas.start(workflow, request);
  return { saga, waiting: await untilWaiting(saga, 'stuck') };
}

describe.each(cases)('a 403 to %s', (...one) => {
  const [, , , , correction, ends] = one;

  it('is asked about with both readings, and what the provider says of it', async () => {
    const { saga, waiting } = await forbidden(one);
    expect(waiting.question).toMatch(/our credentials are not allowed this, or the provider refuses this request/);
    expect(waiting.question).toMatch(/It says: .*quota of 5 servers is used up/);
    expect(waiting.lastFailure).toMatchObject({ failure: 'Unauthorized', status: 403, whose: 'us or the provider' });
    await answer(saga, 'retry', correction === undefined ? {} : { correction });
    await expect(saga.result()).resolves.toMatchObject({ outcome: 'done' });
  });

  it('is a refusal where a person says so: the saga undoes, and the backend hears it', async () => {
    const { saga } = await forbidden(one);
    await answer(saga, 'reject', { by: 'ann', reason: 'the quota is meant' });
    const { failure } = await outcomeOf(saga);
    expect(failure).toMatchObject({ type: ends, report: { outcome: 'reversed', leftovers: [] } });
    expect(failure?.report.why).toMatch(/quota of 5 servers is used up.*rejected: the quota is meant/);
    expect(openCartItems(rig.sandbox.ledger)).toEqual([]);
  });
});
