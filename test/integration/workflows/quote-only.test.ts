/**
 * A request that only asks for a quote places nothing: after the journal was put back, nobody looks for what it may
 * have placed.
 */
import { switchesOf } from '../../../sandbox/sentences';
import { SagaHandle } from '../../../src/client/handle';
import { restored } from '../../../src/journal/ceremony';
import { recordOf } from '../../../src/journal/record';
import { switchRequest } from '../../support/requests';
import { resetTo, taskBefore } from '../../support/reset';
import { Rig } from '../../support/rig';
import { answer, outcomeOf, untilWaiting } from '../../support/sagas';
import { said } from '../../support/operator';

let rig: Rig;
beforeEach(async () => {
  rig = await Rig.start();
});
afterEach(() => rig.close());

const correction = { plan_id: 22 };

/** Waits for a person, because its quote was refused; will be refused so many times. */
async function refused(times: number) {
  const request = switchRequest({ quoteOnly: true, onRefusal: 'ask' });
  const match = { subscriptionId: request.subscription_id };
  for (let nth = 1; nth <= times; nth += 1) {
    rig.sandbox.faults.add({ endpoint: 'quote-plan-switch', kind: 'refuse-before', match, nth });
  }
  const saga = await rig.sagas.switch(request);
  await untilWaiting(saga, 'refused');
  await rig.withJournal((journal) => restored(journal, 'trust', said));
  return { request, saga, key: { workflow: 'switchPlan', reference: request.reference } as const };
}

it('is not in doubt where it is cancelled, and can be corrected where it was reset then', async () => {
  const { request, saga, key } = await refused(2);
  await saga.cancel();
  expect((await outcomeOf(saga)).cancelled).toMatchObject({ outcome: 'reversed', leftovers: [] });
  expect(await rig.withJournal((journal) => recordOf(journal, key))).toMatchObject({ effects: [] });

  await resetTo(rig.temporal, saga, await taskBefore(rig.temporal, saga, 'quotePlanSwitch'));
  const again = new SagaHandle(rig.temporal, 'switchPlan', request.reference, '', true);
  await untilWaiting(again, 'refused');
  await answer(again, 'retry', { correction });
  expect(await again.result()).toMatchObject({ outcome: 'done', placed: false });
  expect(switchesOf(rig.sandbox.ledger, request.subscription_id)).toEqual([]);
});
