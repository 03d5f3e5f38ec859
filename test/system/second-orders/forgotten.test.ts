/**
 * Ways to a second order that were once open because the only proof that something was sent was a run's history: it is
 * deleted, out of retention, forged, or asked too early. Each was proved with a second order in the ledger. Those with
 * a worker that stands still: stood-still.test.ts; with a database that was restored: restored.test.ts.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { callsTo, changeOrdersOf, openCartItems, orders, ordersWithLabel } from '../../../sandbox/sentences';
import { parsePayloadKeys } from '../../../src/security/keys';
import { changeRequest, provisionRequest } from '../../support/requests';
import { deleteRun, resetTo, resetToBeginning, taskBefore } from '../../support/web-ui';
import { Rig, rigForFile, until } from '../../support/rig';
import { answer, outcomeOf, untilAnother, untilWaiting } from '../../support/sagas';
import { newKey } from '../../support/keys';
import { payloadOf } from '../../support/payloads';
import { idsListed } from '../../support/listed';

const rig = rigForFile({ clears: true });

const latest = (reference: string, of: Rig = rig) => of.latest('provisionServers', { reference });

// test/integration/saga/outcomes.test.ts asks each workflow for an ended saga that Temporal has forgotten.
it('the newest run was deleted, which frees the workflow id, and the request comes again', async () => {
  const request = provisionRequest({ firewalls: [143] });
  const saga = await rig.sagas.provision(request);
  const first = await saga.result();
  await resetToBeginning(rig.temporal, saga);
  await latest(request.reference).result();
  const { runId } = await latest(request.reference).describe();
  await deleteRun(rig.temporal, { workflowId: saga.workflowId, runId });
  const again = await rig.sagas.provision(request);
  expect(await again.result()).toEqual(first);
  expect(rig.ordersOf(request)).toHaveLength(1);
});

it('the question names the order by the label that was sent, also after a reset', async () => {
  // Stuck, corrected, sent, and not answered.
  const request = provisionRequest({ label: `${randomUUID()}-old` });
  rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'unauthorized', match: { label: request.label } });
  const saga = await rig.sagas.provision(request);
  await untilWaiting(saga, 'stuck');
  const label = request.label.replace('old', 'new');
  rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'reset-after', match: { label } });
  await answer(saga, 'retry', { correction: { label } });
  const waiting = await untilWaiting(saga, 'outcome-unknown');
  expect(waiting.question).toContain(`label “${label}”`);

  await resetToBeginning(rig.temporal, saga);
  const again = latest(saga.reference);
  const asked = await untilWaiting(again, 'outcome-unknown');
  expect(asked.id).not.toBe(waiting.id);
  expect(asked.question).toContain(`label “${label}”`);
  await answer(again, 'confirmPlaced', { note: 'the panel shows it' });
  await again.result();
  expect(ordersWithLabel(rig.sandbox.ledger, label)).toHaveLength(1);
});

it('an item whose delete was not answered is deleted after a reset, or told', async () => {
  const request = provisionRequest();
  const match = { label: request.reference };
  rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'refuse-before', match });
  const saga = await rig.sagas.provision(request);
  rig.sandbox.faults.add({ endpoint: 'delete-cart-item', kind: 'error-before', times: 'all' });
  await untilWaiting(saga, 'stuck');
  rig.sandbox.faults.clear();
  await resetTo(rig.temporal, saga, await taskBefore(rig.temporal, saga, 'placeOrder'));
  expect((await latest(request.reference).result()).leftovers).toEqual([]);
  expect(openCartItems(rig.sandbox.ledger)).toEqual([]);
});

it('a pivot that was redirected may have taken effect: a person is asked, and retry is not offered', async () => {
  const request = changeRequest();
  const match = { subscriptionId: request.subscription_id };
  rig.sandbox.faults.add({ endpoint: 'place-change-order', kind: 'redirect-after', match });
  const saga = await rig.sagas.change(request);
  const waiting = await untilWaiting(saga);
  expect(waiting).toMatchObject({
    kind: 'outcome-unknown',
    choices: ['confirmPlaced', 'confirmNotPlaced', 'markCancelled'],
  });
  await answer(saga, 'confirmPlaced', { note: 'the panel shows it', orderId: 301 });
  expect(await saga.result()).toMatchObject({ decisions: [{ decision: 'confirmPlaced', orderId: '301' }] });
  expect(changeOrdersOf(rig.sandbox.ledger, request.subscription_id)).toHaveLength(1);
});

describe('a decision answers one question', () => {
  it('and is refused for the next one, word for word the same', async () => {
    const request = changeRequest();
    const match = { subscriptionId: request.subscription_id };
    rig.sandbox.faults.add({ endpoint: 'place-change-order', kind: 'reset-before', match, nth: 1 });
    rig.sandbox.faults.add({ endpoint: 'place-change-order', kind: 'reset-after', match, nth: 2 });
    const saga = await rig.sagas.change(request);
    // Two people look into the panel. Both see nothing, and both are right.
    const seen = await untilWaiting(saga, 'outcome-unknown');
    const said = (by: string) => ({ question: seen.id, by, note: 'the panel shows none' });
    await answer(saga, 'confirmNotPlaced', said('the first one'));
    const next = await untilAnother(saga, seen.id, 'outcome-unknown');
    expect(next.question.replace(/\d/g, '0')).toBe(seen.question.replace(/\d/g, '0'));
    await expect(saga.decide('confirmNotPlaced', said('the second one'))).rejects.toThrow(
      `question ${seen.id} is not the one that waits now, which is ${next.id}`,
    );
    await answer(saga, 'confirmPlaced', { note: 'now it is there' });
    await saga.result();
    expect(changeOrdersOf(rig.sandbox.ledger, request.subscription_id)).toHaveLength(1);
  });

  it('of a quote, too: another quote is another question', async () => {
    const request = changeRequest({ approval: 'always' });
    const saga = await rig.sagas.change(request);
    const first = await untilWaiting(saga, 'approval');
    await expect(saga.decide('approve', { by: 'boss' })).rejects.toThrow(/question: is required/);
    rig.sandbox.configure({ resourcePrices: { vm_backup: 50 } });
    await saga.decide('approve', { question: first.id, by: 'op' });
    const second = await untilAnother(saga, first.id);
    expect(second.question).toMatch(/50 usd/);
    await expect(saga.decide('approve', { question: first.id, by: 'op' })).rejects.toThrow(
      /is not the one that waits now/,
    );
    await saga.decide('reject', { question: second.id, by: 'op' });
    await outcomeOf(saga);
    expect(changeOrdersOf(rig.sandbox.ledger, request.subscription_id)).toEqual([]);
  });
});

describe('nobody is asked while the call may be in flight: the saga is settling', () => {
  // In flight for 8 s: 1 s to be sent, 2 s until it is given up, 5 s in which it may still take effect.
  const activities = { sendWithinMs: 1_000, inFlightMs: 8_000 };
  const slow = rigForFile({ compares: false, provider: { totalTimeoutMs: 2_000 }, activities });

  /** A change order that was given up, and has not taken effect yet. */
  async function inFlight() {
    const request = changeRequest();
    const match = { subscriptionId: request.subscription_id };
    const gate = slow.sandbox.faults.add({ endpoint: 'place-change-order', match, kind: 'gate', nth: 1 });
    const saga = await slow.sagas.change(request);
    await slow.sandbox.whenStruck(gate);
    const { settling, waiting } = await until(async () => {
      const shown = await saga.progress();
      return (shown.settling ?? shown.waiting) && shown;
    });
    // The journal would refuse the word of whoever is asked too early.
    expect(waiting).toBeUndefined();
    expect(Date.parse(settling?.until ?? '')).toBeGreaterThan(Date.now());
    const placed = () => changeOrdersOf(slow.sandbox.ledger, request.subscription_id).length;
    const takesEffect = async () => {
      slow.sandbox.faults.release(gate);
      await until(async () => placed() === 1);
    };
    return { request, saga, placed, takesEffect };
  }
  const early = { question: 'deadbeef', by: 'anna', note: 'I looked just now: it is not there' };

  it('takes no word of it, is found by a filter, and asks when it has settled', async () => {
    const { saga, placed, takesEffect } = await inFlight();
    await until(async () => (await idsListed(slow.sagas, { state: 'settling' })).includes(saga.workflowId));
    await expect(saga.decide('confirmNotPlaced', early)).rejects.toThrow(/nothing waits for a decision now/);
    await takesEffect();
    const { question } = await untilWaiting(saga, 'outcome-unknown');
    expect(question).toMatch(/Look now in the provider’s control panel/);
    await answer(saga, 'confirmPlaced', { note: 'now it is there' });
    await saga.result();
    expect(placed()).toBe(1);
  });

  it('a word that is handled late answers nothing', async () => {
    const { saga, placed, takesEffect } = await inFlight();
    const handle = slow.temporal.workflow.getHandle(saga.workflowId);
    let said: Promise<unknown> | undefined;
    await slow.withoutWorkers(async () => {
      said = handle.executeUpdate('confirmNotPlaced', { args: [early] }).catch((error: unknown) => error);
      await takesEffect();
      // Nothing can be in flight after that.
      await pause(activities.inFlightMs);
    });
    await said;
    await untilWaiting(saga, 'outcome-unknown');
    await answer(saga, 'confirmPlaced', { note: 'it is there' });
    await saga.result();
    expect(placed()).toBe(1);
  });

  it('can be cancelled: the report says that its outcome is unknown', async () => {
    const { saga, placed, takesEffect } = await inFlight();
    await saga.cancel();
    const { cancelled } = await outcomeOf(saga);
    expect(cancelled?.leftovers).toMatchObject([{ kind: 'placement-unknown' }]);
    await takesEffect();
    expect(placed()).toBe(1);
  });
});

it('a forged start, with ciphertext copied from the first event, gets the order that there is', async () => {
  const payloadKeys = parsePayloadKeys(`k1:${newKey()}`);
  const secret = await Rig.start({ payloadKeys });
  try {
    const request = provisionRequest();
    const saga = await secret.sagas.provision(request);
    await saga.result();
    const { history } = await secret.temporal.workflowService.getWorkflowExecutionHistory({
      namespace: secret.namespace,
      execution: { workflowId: saga.workflowId },
      maximumPageSize: 1,
    });
    const started = history?.events?.[0]?.workflowExecutionStartedEventAttributes;
    await secret.temporal.workflowService.startWorkflowExecution({
      namespace: secret.namespace,
      workflowId: saga.workflowId,
      workflowType: { name: 'provisionServers' },
      taskQueue: { name: 'order-saga' },
      requestId: randomUUID(),
      input: started?.input ?? null,
      memo: {
        fields: { startedOnce: payloadOf(true) },
      },
    });
    expect((await latest(request.reference, secret).result()).decisions).toEqual([]);
    expect(orders(secret.sandbox.ledger)).toHaveLength(1);
    expect(callsTo(secret.sandbox.ledger, 'add-cart-item')).toHaveLength(1);
  } finally {
    await secret.close();
  }
});
