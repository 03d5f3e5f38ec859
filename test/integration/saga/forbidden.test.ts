/**
 * A 403 has two readings: our credentials are not allowed it, or the provider refuses the request. The question names
 * both, and each has a way out.
 */
import { openCartItems } from '../../../sandbox/sentences';
import type { CallMatch } from '../../../sandbox/call-match';
import type { FaultSpec } from '../../../sandbox/faults';
import type { SagaHandle } from '../../../src/client/handle';
import type { SagaFailureName } from '../../../src/domain/failures';
import { firewallsRequest, planIdOf, provisionRequest, switchRequest } from '../../support/requests';
import { rigForFile } from '../../support/rig';
import { answer, outcomeOf, untilWaiting } from '../../support/sagas';

const rig = rigForFile();

interface Case {
  endpoint: FaultSpec['endpoint'];
  ends: SagaFailureName;
  /** What may be corrected where the provider surely refuses the step. @default nothing */
  correction?: object;
  start: (fault: (match: CallMatch) => void) => Promise<SagaHandle>;
}
const cases: Case[] = [
  {
    endpoint: 'add-cart-item',
    ends: 'OrderRejected',
    correction: { plan_id: 3 },
    start: (fault) => {
      const request = provisionRequest();
      fault({ planId: planIdOf(request.reference) });
      return rig.sagas.provision(request);
    },
  },
  {
    endpoint: 'switch-plan',
    ends: 'OrderRejected',
    correction: { plan_id: 22 },
    start: (fault) => {
      const request = switchRequest();
      fault({ subscriptionId: request.subscription_id });
      return rig.sagas.switch(request);
    },
  },
  {
    endpoint: 'assign-firewalls',
    ends: 'FirewallsRejected',
    start: (fault) => {
      const request = firewallsRequest();
      fault({ vmObjectId: request.vmObjectId });
      return rig.sagas.firewalls(request);
    },
  },
];

async function forbidden({ endpoint, start }: Case) {
  const body = { error: 'quota of 5 servers is used up' };
  const saga = await start((match) =>
    rig.sandbox.faults.add({ endpoint, kind: 'refuse-before', status: 403, body, match }),
  );
  return { saga, waiting: await untilWaiting(saga, 'stuck') };
}

describe.each(cases)('a 403 to $endpoint', (one) => {
  const { ends, correction } = one;

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
