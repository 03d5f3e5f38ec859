/** What the list and the progress show while a saga goes on, is undone, and ends. */
import type { SagaHandle } from '../../../src/client/handle';
import { activitiesOf, inputsOf, statesOf } from '../../support/events';
import { changeRequest, planIdOf, provisionRequest, switchRequest } from '../../support/requests';
import { Rig, until } from '../../support/rig';
import { answer, outcomeOf, stepOf, untilWaiting } from '../../support/sagas';

let rig: Rig;
beforeAll(async () => {
  rig = await Rig.start();
});
afterAll(() => rig.close());
afterEach(() => {
  rig.sandbox.faults.clear();
});

const runOf = ({ workflowId }: SagaHandle) => rig.temporal.workflow.getHandle(workflowId);

describe('the list shows', () => {
  it('nothing of a saga without trouble', async () => {
    const saga = await rig.sagas.provision(provisionRequest());
    await saga.result();
    expect(await statesOf(runOf(saga))).toEqual([]);
  });

  it('a wait, that it is over, and the end', async () => {
    const saga = await rig.sagas.switch(switchRequest({ approval: 'always' }));
    await untilWaiting(saga);
    await answer(saga, 'approve');
    await saga.result();
    expect(await statesOf(runOf(saga))).toEqual(['approval', 'running', 'done']);
  });

  it('no undoing where nothing was done', async () => {
    const saga = await rig.sagas.change(changeRequest({ approval: 'always' }));
    await untilWaiting(saga);
    await answer(saga, 'reject', { reason: 'too dear' });
    expect((await outcomeOf(saga)).failure).toMatchObject({
      type: 'NotApproved',
      report: { why: 'rejected: too dear' },
    });
    expect(await statesOf(runOf(saga))).toEqual(['approval', 'running', 'reversed']);
  });

  it('an undoing that waits, and goes on as one', async () => {
    const request = provisionRequest();
    rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'unauthorized', match: { label: request.label } });
    rig.sandbox.faults.add({ endpoint: 'delete-cart-item', kind: 'unauthorized' });
    const saga = await rig.sagas.provision(request);
    await untilWaiting(saga);
    await saga.cancel();
    const { question } = await until(async () => {
      const { waiting } = await saga.progress();
      return waiting?.step !== 'place-order' && waiting;
    });
    expect(question).toMatch(/^Undoing: “Delete cart item \d+” did not succeed/);
    await answer(saga, 'retry');
    await outcomeOf(saga);
    expect(await statesOf(runOf(saga))).toEqual(['stuck', 'undoing', 'stuck', 'undoing', 'reversed']);
  });
});

describe('the progress shows a step', () => {
  it('that is running, and one that is being undone', async () => {
    const request = provisionRequest();
    const match = { planId: planIdOf(request.reference) };
    const adding = rig.sandbox.faults.add({ endpoint: 'add-cart-item', kind: 'gate', match });
    const deleting = rig.sandbox.faults.add({ endpoint: 'delete-cart-item', kind: 'gate', match });
    rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'refuse-before', match: { label: request.label } });
    const saga = await rig.sagas.provision(request);
    await rig.sandbox.whenStruck(adding);
    expect(await saga.progress()).toMatchObject({ state: 'running' });
    expect(await stepOf(saga, 'add-cart-item-1')).toMatchObject({ status: 'running', attempts: 1 });
    rig.sandbox.faults.release(adding);
    await rig.sandbox.whenStruck(deleting);
    expect(await saga.progress()).toMatchObject({ state: 'undoing' });
    expect(await stepOf(saga, 'add-cart-item-1')).toMatchObject({ status: 'undoing', attempts: 2 });
    await saga.cancel();
    rig.sandbox.faults.release(deleting);
    const { cancelled } = await outcomeOf(saga);
    expect(cancelled?.why).toMatch(
      /^cancelled; nobody said who or why; before that, OrderRejected: Place the order: .*422/,
    );
    expect(cancelled?.steps[0]).toMatchObject({ status: 'undone' });
  });

  it('that is stuck, and that the person left out', async () => {
    const request = provisionRequest({ firewalls: [143] });
    rig.sandbox.faults.add({ endpoint: 'assign-firewalls', kind: 'unauthorized' });
    const saga = await rig.sagas.provision(request);
    const { step, question, choices } = await untilWaiting(saga);
    expect(question).toMatch(/^Stuck: /);
    expect(choices).toEqual(['retry', 'markDone', 'skip', 'markCancelled']);
    expect(await stepOf(saga, step)).toMatchObject({ status: 'stuck' });
    await answer(saga, 'skip', { note: 'has its own' });
    const result = await saga.result();
    expect(await stepOf(saga, step)).toMatchObject({ status: 'skipped' });
    expect(result).toMatchObject({ skipped: [step], servers: [{ firewalls: [], verified: false }] });
  });

  it('beside one that is cut short by a cancel, as failed', async () => {
    const request = provisionRequest({ items: [{}, {}] });
    const match = { planId: planIdOf(request.reference) };
    rig.sandbox.faults.add({ endpoint: 'add-cart-item', kind: 'unauthorized', match });
    rig.sandbox.faults.add({ endpoint: 'add-cart-item', kind: 'rate-limit', retryAfter: 30, nth: 2, match });
    const saga = await rig.sagas.provision(request);
    await until(async () => {
      const { steps } = await saga.progress();
      return steps.length >= 2 && steps.slice(0, 2).every(({ detail }) => detail !== undefined);
    });
    await saga.cancel();
    const { cancelled } = await outcomeOf(saga);
    expect(cancelled?.steps.map(({ status }) => status)).toEqual(['failed', 'failed']);
    expect(cancelled?.leftovers).toEqual([]);
  });
});

it('the first call of a step says nothing of attempts, the next ones do', async () => {
  const request = provisionRequest();
  rig.sandbox.faults.add({
    endpoint: 'add-cart-item',
    kind: 'rate-limit',
    match: { planId: planIdOf(request.reference) },
  });
  const saga = await rig.sagas.provision(request);
  expect(await saga.result()).toMatchObject({ leftovers: [] });
  const [first, second] = await inputsOf(runOf(saga), 'addCartItem');
  expect(first).not.toHaveProperty('retry');
  expect(second).toMatchObject({ retry: { attempt: 2, elapsedMs: expect.any(Number) as number } });
});

it('cancelled behind its order it looks into the journal and at its server, and undoes nothing', async () => {
  const gate = rig.sandbox.faults.add({ endpoint: 'assign-firewalls', kind: 'gate' });
  const saga = await rig.sagas.provision(provisionRequest({ firewalls: [143] }));
  await rig.sandbox.whenStruck(gate);
  await saga.cancel();
  rig.sandbox.faults.release(gate);
  await outcomeOf(saga);
  expect((await activitiesOf(runOf(saga))).map((asked) => asked.split(':')[0])).toEqual([
    'takeReference',
    'addCartItem',
    'placeOrder',
    'assignFirewalls',
    'readStanding',
    'listFirewalls',
    'writeEnding',
  ]);
});

describe('an undo', () => {
  const refusedOrder = () => {
    const request = provisionRequest();
    rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'refuse-before', match: { label: request.label } });
    return request;
  };

  it('that the provider refuses waits for a person, and does not end the saga', async () => {
    const request = refusedOrder();
    rig.sandbox.faults.add({ endpoint: 'delete-cart-item', kind: 'refuse-before' });
    const saga = await rig.sagas.provision(request);
    expect(await untilWaiting(saga, 'stuck')).toMatchObject({ choices: ['retry', 'markDone', 'skip'] });
    await answer(saga, 'skip', { note: 'the panel has it' });
    const { failure } = await outcomeOf(saga);
    expect(failure?.type).toBe('OrderRejected');
    expect(failure?.report.steps[0]).toMatchObject({ status: 'skipped', detail: 'left behind' });
    expect(failure?.report.leftovers).toMatchObject([{ kind: 'cart-item', why: 'the panel has it' }]);
  });
});
