/**
 * Two namespaces with one journal: a clean-up sees there whether a saga of the other one is open, and not whether it
 * runs.
 */
import { openCartItems } from '../../../sandbox/sentences';
import { planIdOf, provisionRequest } from '../../support/requests';
import { LostSagas } from '../../../src/operations/lost-sagas';
import { Rig } from '../../support/rig';
import { outcomeOf, untilWaiting } from '../../support/sagas';

let one: Rig;
let two: Rig;
beforeAll(async () => {
  one = await Rig.start({ compares: false });
  const { journalAddress: journal, sandbox } = one;
  two = await Rig.start({ journal, provider: { baseUrl: sandbox.url } });
});
afterAll(async () => {
  await two.close();
  await one.close();
});

it('does not empty the cart of a saga in another namespace, and names that one', async () => {
  const request = provisionRequest();
  const match = { planId: planIdOf(request.reference) };
  one.sandbox.faults.add({ endpoint: 'place-order', kind: 'unauthorized', match, times: 'all' });
  const saga = await one.sagas.provision(request);
  await untilWaiting(saga, 'stuck');
  const { failure } = await outcomeOf(await two.sagas.clean(request.reference));
  expect(failure).toMatchObject({
    type: 'InvalidRequest',
    report: { outcome: 'untouched', why: expect.stringContaining(`in namespace ${one.namespace}`) as string },
  });
  expect(openCartItems(one.sandbox.ledger)).toHaveLength(1);

  await one.temporal.workflow.getHandle(saga.workflowId).terminate('a test');
  const lost = () => one.withJournal((journal) => new LostSagas(one.temporal, journal).look());
  expect((await lost()).terminated).toBe(1);
  await (await one.sagas.clean(request.reference)).result();
  expect(openCartItems(one.sandbox.ledger)).toEqual([]);
  expect((await lost()).terminated).toBe(0);
  // It is open nowhere by now.
  expect((await outcomeOf(await two.sagas.clean(request.reference))).result).toMatchObject({ deleted: [] });
});
