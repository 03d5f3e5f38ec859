/** Two namespaces with one journal: whoever is queued cannot see there whether the one before it goes on, and waits. */
import { changeOrdersOf } from '../../../sandbox/sentences';
import { changeRequest } from '../../support/requests';
import { Rig, until } from '../../support/rig';
import { answer, progressOf, untilWaiting } from '../../support/sagas';

const turnLookMs = 100;

let one: Rig;
let two: Rig;
beforeAll(async () => {
  one = await Rig.start({ compares: false, activities: { turnLookMs } });
  const { journalAddress: journal, sandbox } = one;
  two = await Rig.start({ journal, provider: { baseUrl: sandbox.url }, activities: { turnLookMs } });
});
afterAll(async () => {
  await two.close();
  await one.close();
});

it('of a namespace that is gone goes on in another one, and gives its place back there', async () => {
  const request = changeRequest({ approval: 'always' });
  const first = await one.sagas.change(request);
  await untilWaiting(first, 'approval');
  await one.temporal.workflow.getHandle(first.workflowId).terminate('a test');
  const next = await two.sagas.change({ ...request, reference: `${request.reference}-2`, approval: 'never' });
  const { holder } = await until(async () => (await progressOf(next)).queued);
  expect(holder).toBe(`${first.workflowId} in namespace ${one.namespace}`);

  const goesOn = await two.sagas.change(request);
  await untilWaiting(goesOn, 'approval');
  expect((await progressOf(next)).state).toBe('queued');
  await answer(goesOn, 'approve');
  for (const saga of [goesOn, next]) expect(await saga.result()).toMatchObject({ outcome: 'done' });
  expect(changeOrdersOf(one.sandbox.ledger, request.subscription_id)).toHaveLength(2);
});

it('keeps the turn that it has while another namespace asks for it, and hands it on', async () => {
  const request = changeRequest({ approval: 'always' });
  const first = await one.sagas.change(request);
  await untilWaiting(first, 'approval');
  const reference = `${request.reference}-2`;
  const second = await two.sagas.change({ ...request, reference, approval: 'never' });
  const queued = await until(async () => (await progressOf(second)).queued);
  expect(queued).toMatchObject({ before: 1, holder: `${first.workflowId} in namespace ${one.namespace}` });
  const third = await one.sagas.change({ ...request, reference: `${request.reference}-3`, approval: 'never' });
  await until(async () => (await progressOf(third)).queued?.before === 2);
  // Several looks later it still waits.
  await until(async () => {
    const { lookedAt } = (await progressOf(second)).queued ?? {};
    return lookedAt === undefined || Date.parse(lookedAt) > Date.parse(queued.lookedAt) + 5 * turnLookMs;
  });
  expect((await progressOf(second)).state).toBe('queued');
  expect(changeOrdersOf(one.sandbox.ledger, request.subscription_id)).toEqual([]);

  await answer(first, 'approve');
  for (const saga of [first, second, third]) expect(await saga.result()).toMatchObject({ outcome: 'done' });
  expect(changeOrdersOf(one.sandbox.ledger, request.subscription_id)).toHaveLength(3);
});
