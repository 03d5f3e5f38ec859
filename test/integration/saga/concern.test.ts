/** Likely duplicates and spend limits: a person is asked before the pivot, and the journal's transaction decides. */
import { openCartItems, ordersWithLabel, changeOrdersOf } from '../../../sandbox/sentences';
import { parseSpendLimits } from '../../../src/domain/spending';
import type { SagaHandle } from '../../../src/client/handle';
import { describeInWays, itInWays } from '../../support/left-out';
import { changeRequest, provisionRequest, switchRequest } from '../../support/requests';
import { resetTo, workflowTasksOf } from '../../support/reset';
import { Rig, until } from '../../support/rig';
import { answer, outcomeOf, stepOf, untilWaiting, untilWaitingOrEnded } from '../../support/sagas';

const hourMs = 3_600_000;

let rig: Rig;
beforeAll(async () => {
  rig = await Rig.start({
    activities: {
      duplicateWithinMs: hourMs,
      spendLimits: parseSpendLimits('ZZ-1=3 servers/1h, ZZ-2=10 usd/1h, ZZ-3=1 servers/1h, ZZ-4=12 usd/1h'),
    },
  });
});
afterAll(() => rig.close());

let accounts = 0;
/** Orders of an account of their own, all of the same. */
function alike(changes: object = {}) {
  accounts += 1;
  const account = `YY-${accounts}`;
  return () => provisionRequest({ account, items: [{ plan_id: 17 }], ...changes });
}
const ordersOf = ({ label }: { label: string }) => ordersWithLabel(rig.sandbox.ledger, label);
const changesOf = ({ subscription_id }: { subscription_id: number }) =>
  changeOrdersOf(rig.sandbox.ledger, subscription_id);
const waits = (saga: SagaHandle) => untilWaitingOrEnded(saga);

describe('the same under another reference', () => {
  it('is asked about before the order, by name and time, and ordered after a yes', async () => {
    const order = alike();
    const [first, second] = [order(), order()];
    await (await rig.sagas.provision(first)).result();
    const saga = await rig.sagas.provision(second);
    const waiting = await untilWaiting(saga, 'duplicate');
    expect(waiting).toMatchObject({ step: 'place-order', choices: ['approve', 'reject'] });
    expect(waiting.question).toMatch(
      new RegExp(`^Place the order anyway\\? The same was bought within 1h .*: ${first.reference} on 20\\d\\d-`),
    );
    expect(ordersOf(second)).toEqual([]);
    await expect(saga.decide('approve', { question: 'another' })).rejects.toThrow(/not the one that waits/);
    await answer(saga, 'approve', { by: 'boss' });
    expect(await saga.result()).toMatchObject({
      outcome: 'done',
      decisions: [{ decision: 'approve', kind: 'duplicate', by: 'boss', question: waiting.id }],
    });
    expect(ordersOf(second)).toHaveLength(1);
  });

  itInWays.each(['reject', 'cancel'] as const)(
    'is not ordered after %s, and nothing stays in the cart',
    async (decision) => {
      const order = alike();
      await (await rig.sagas.provision(order())).result();
      const second = order();
      const saga = await rig.sagas.provision(second);
      await untilWaiting(saga, 'duplicate');
      if (decision === 'reject') await answer(saga, 'reject', { reason: 'twice' });
      else await saga.cancel();
      const { failure, cancelled } = await outcomeOf(saga);
      expect(failure?.report ?? cancelled).toMatchObject({ outcome: 'reversed', leftovers: [] });
      if (failure) expect(failure).toMatchObject({ type: 'NotApproved', report: { why: 'rejected: twice' } });
      expect(await stepOf(saga, 'place-order')).toMatchObject({ status: 'failed' });
      expect(ordersOf(second)).toEqual([]);
      expect(openCartItems(rig.sandbox.ledger)).toEqual([]);
      // What was never ordered is not told to the next one.
      const third = await rig.sagas.provision(order());
      expect((await untilWaiting(third)).question).not.toContain(second.reference);
      await third.cancel();
      await outcomeOf(third);
    },
  );

  itInWays('is asked about of two that were started at the same moment, once', async () => {
    const order = alike();
    const requests = [order(), order()];
    const sagas = await Promise.all(requests.map((request) => rig.sagas.provision(request)));
    const waiting = await Promise.all(sagas.map(waits));
    expect(waiting.map((one) => one?.kind).sort()).toEqual(['duplicate', undefined]);
    const asks = sagas[waiting.findIndex((one) => one !== undefined)]!;
    expect(requests.flatMap(ordersOf)).toHaveLength(1);
    await answer(asks, 'approve');
    await asks.result();
    expect(requests.flatMap(ordersOf)).toHaveLength(2);
  });

  itInWays('is rejected where nobody answers for as long as the request says', async () => {
    const order = alike();
    await (await rig.sagas.provision(order())).result();
    const second = order();
    const { failure } = await outcomeOf(
      await rig.sagas.provision({ ...second, approval: { above: 9, expiresAfterSeconds: 1 } }),
    );
    expect(failure).toMatchObject({ type: 'NotApproved', report: { why: expect.stringContaining('nobody answered') } });
    expect(ordersOf(second)).toEqual([]);
  });

  itInWays('holds for changes, and for switches', async () => {
    const change = changeRequest({ account: 'YY-0' });
    await (await rig.sagas.change(change)).result();
    const same = { subscription_id: change.subscription_id, account: 'YY-0' };
    const again = await rig.sagas.change(changeRequest(same));
    expect((await untilWaiting(again, 'duplicate')).question).toMatch(/^Place the change order .*T-/);
    await answer(again, 'approve');
    await again.result();
    expect(changesOf(change)).toHaveLength(2);

    const { subscription_id } = switchRequest();
    await (await rig.sagas.switch(switchRequest({ subscription_id, account: 'YY-0' }))).result();
    const switched = await rig.sagas.switch(switchRequest({ subscription_id, account: 'YY-0' }));
    await untilWaiting(switched, 'duplicate');
    await answer(switched, 'reject');
    expect((await outcomeOf(switched)).failure).toMatchObject({ type: 'NotApproved' });
  });

  itInWays('is asked about once, however often the order is sent again', async () => {
    const order = alike();
    await (await rig.sagas.provision(order())).result();
    const second = order();
    const fault = { endpoint: 'place-order', match: { label: second.label } } as const;
    rig.sandbox.faults.add({ ...fault, kind: 'rate-limit', nth: 1 });
    rig.sandbox.faults.add({ ...fault, kind: 'unauthorized', nth: 2 });
    const saga = await rig.sagas.provision(second);
    await untilWaiting(saga, 'duplicate');
    await answer(saga, 'approve');
    await untilWaiting(saga, 'stuck');
    await answer(saga, 'retry');
    expect(await saga.result()).toMatchObject({ decisions: [{ kind: 'duplicate' }, { kind: 'stuck' }] });
    expect(ordersOf(second)).toHaveLength(1);
  });
});

describeInWays('a run that begins again', () => {
  const startAgain = async (request: { reference: string }) => {
    const workflowId = `provision/${request.reference}`;
    await rig.temporal.workflow.start('provisionServers', { workflowId, taskQueue: 'order-saga', args: [request] });
    return rig.sagas.get(request.reference);
  };

  it('is not asked about what it placed', async () => {
    const order = alike();
    const first = order();
    await (await rig.sagas.provision(first)).result();
    const second = await rig.sagas.provision(order());
    await untilWaiting(second, 'duplicate');
    await answer(second, 'approve');
    await second.result();
    expect(await (await startAgain(first)).result()).toMatchObject({ decisions: [] });
    expect(ordersOf(first)).toHaveLength(1);
  });

  it('is asked again: a yes holds for the run that it was given to', async () => {
    const order = alike();
    await (await rig.sagas.provision(order())).result();
    const second = order();
    rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'unauthorized', match: { label: second.label } });
    const saga = await rig.sagas.provision(second);
    const { id } = await untilWaiting(saga, 'duplicate');
    await answer(saga, 'approve');
    await untilWaiting(saga, 'stuck');
    await rig.temporal.workflow.getHandle(saga.workflowId).terminate('a test');
    const again = await startAgain(second);
    const waiting = await untilWaiting(again, 'duplicate');
    expect(waiting.id).not.toBe(id);
    expect(ordersOf(second)).toEqual([]);
    await answer(again, 'approve');
    await again.result();
    expect(ordersOf(second)).toHaveLength(1);
  });

  it('that was reset to after the yes is not asked again', async () => {
    const order = alike();
    await (await rig.sagas.provision(order())).result();
    const second = order();
    rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'unauthorized', match: { label: second.label } });
    const saga = await rig.sagas.provision(second);
    await untilWaiting(saga, 'duplicate');
    await answer(saga, 'approve');
    await untilWaiting(saga, 'stuck');
    const run = rig.temporal.workflow.getHandle(saga.workflowId);
    const tasks = await workflowTasksOf(rig.temporal, run);
    await resetTo(rig.temporal, run, tasks.at(-1)!);
    const again = await rig.sagas.get(second.reference);
    const kind = await until(async () => (await untilWaitingOrEnded(again))?.kind ?? 'ended');
    if (kind === 'stuck') await answer(again, 'retry');
    expect(await again.result()).toMatchObject({
      decisions: [{ kind: 'duplicate' }, ...(kind === 'stuck' ? [{}] : [])],
    });
    expect(ordersOf(second)).toHaveLength(1);
  });
});

describe('a spend limit', () => {
  it('of servers is asked about with what was spent, what is added, and what it comes to', async () => {
    const order = (quantity: number) => provisionRequest({ account: 'ZZ-1', items: [{ quantity }] });
    await (await rig.sagas.provision(order(2))).result();
    const request = order(2);
    const saga = await rig.sagas.provision(request);
    const waiting = await untilWaiting(saga, 'over-limit');
    expect(waiting.question).toBe(
      'Place the order anyway? Account ZZ-1 has a limit of 3 servers/1h. ' +
        'Spent in the last 1h: 2 servers. This one adds 2: 4 in all.',
    );
    // What keeps to the limit goes on meanwhile; then the yes was to less than it comes to now.
    await (await rig.sagas.provision(order(1))).result();
    await answer(saga, 'approve');
    const again = await until(async () => {
      const { waiting: now } = await saga.progress();
      return now !== undefined && now.id !== waiting.id && now;
    });
    expect(again.question).toMatch(/Spent in the last 1h: 3 servers\. This one adds 2: 5 in all\.$/);
    await answer(saga, 'approve');
    await saga.result();
    expect(ordersOf(request)).toHaveLength(1);
  });

  it('of money counts what was quoted', async () => {
    const change = () => changeRequest({ account: 'ZZ-2' });
    await (await rig.sagas.change(change())).result();
    await (await rig.sagas.change(change())).result();
    const request = change();
    const saga = await rig.sagas.change(request);
    expect((await untilWaiting(saga, 'over-limit')).question).toMatch(
      /limit of 10 usd\/1h\. Spent in the last 1h: 10 usd\. This one adds 5: 15 in all\.$/,
    );
    await answer(saga, 'reject', { reason: 'next month' });
    expect((await outcomeOf(saga)).failure).toMatchObject({
      type: 'NotApproved',
      report: { outcome: 'reversed', known: { quote: { total: 5 } } },
    });
    expect(changesOf(request)).toEqual([]);
  });

  itInWays('that only one of two fits under lets one of them pass', async () => {
    const requests = [1, 2].map((plan_id) => provisionRequest({ account: 'ZZ-3', items: [{ plan_id }] }));
    const sagas = await Promise.all(requests.map((request) => rig.sagas.provision(request)));
    const waiting = await Promise.all(sagas.map(waits));
    expect(waiting.map((one) => one?.kind).sort()).toEqual(['over-limit', undefined]);
    const asks = sagas[waiting.findIndex((one) => one !== undefined)]!;
    await asks.cancel();
    await outcomeOf(asks);
    expect(requests.flatMap(ordersOf)).toHaveLength(1);
  });

  itInWays('takes a switch that names its account, and asks about one that names none', async () => {
    rig.sandbox.configure({ planPrices: { 21: 8, 22: 7 } });
    await (await rig.sagas.switch(switchRequest({ account: 'ZZ-4' }))).result();
    const over = await rig.sagas.switch(switchRequest({ account: 'ZZ-4', plan_id: 22 }));
    expect((await untilWaiting(over, 'over-limit')).question).toMatch(/8 usd\. This one adds 7: 15 in all/);
    await over.cancel();
    await outcomeOf(over);
    const nameless = await rig.sagas.switch(switchRequest({ plan_id: 22 }));
    expect((await untilWaiting(nameless, 'over-limit')).question).toMatch(/adds 7 usd and names no account/);
    await answer(nameless, 'approve');
    await nameless.result();
  });
});
