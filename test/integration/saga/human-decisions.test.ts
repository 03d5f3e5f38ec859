/**
 * A saga waits for a person: what they read, what they say at the same moment, and what they have done by hand.
 * Which decisions fit which wait: test/system/model; what becomes of one about another question:
 * test/system/second-orders/forgotten.test.ts; of what was done by hand, in a later run:
 * test/integration/journal/contract/firewalls.ts.
 */
import type { temporal } from '@temporalio/proto';
import type { FaultSpec } from '../../../sandbox/faults';
import { callsTo } from '../../../sandbox/sentences';
import { InvalidRequestError } from '../../../src/client/errors';
import type { SagaHandle } from '../../../src/client/handle';
import { decisionHints, decisionNames } from '../../../src/domain/decisions';
import type { SagaFailureName } from '../../../src/domain/failures';
import { reminderDelaysMs } from '../../../src/saga/people/human-decisions';
import { orderThat, stuckOrder } from '../../support/orders';
import { panelOf } from '../../support/panel';
import { firewallsRequest, provisionRequest } from '../../support/requests';
import { rigForFile } from '../../support/rig';
import { resetTo, workflowTasksOf } from '../../support/web-ui';
import { answer, outcomeOf, stepOf, untilAnother, untilWaiting } from '../../support/sagas';

const rig = rigForFile({ clears: true });

const lost = { endpoint: 'place-order', kind: 'reset-before' } as const;

it('takes one of two decisions that come at once; the other finds nothing to decide', async () => {
  const { saga } = await orderThat(rig, lost);
  await untilWaiting(saga, 'outcome-unknown');
  const decisions = await Promise.allSettled([
    answer(saga, 'confirmNotPlaced', { note: 'looked' }),
    answer(saga, 'confirmPlaced', { note: 'seen' }),
  ]);
  expect(decisions.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  await saga.result();
  const { decisions: taken } = await saga.progress();
  expect(taken).toHaveLength(1);
  expect(rig.ordersOf(saga)).toHaveLength(taken[0]?.decision === 'confirmNotPlaced' ? 1 : 0);
});

it.each<[string, <T>(decide: T, cancel: T) => T[]]>([
  ['the decision', (decide, cancel) => [decide, cancel]],
  ['the cancel', (decide, cancel) => [cancel, decide]],
])('loses neither of a decision and a cancel that race: %s is sent first', async (_, inOrder) => {
  const race = async () => {
    const { saga } = await orderThat(rig, lost);
    await untilWaiting(saga);
    const decide = (): Promise<unknown> => answer(saga, 'confirmNotPlaced', { note: 'looked' });
    await Promise.allSettled(inOrder(decide, () => rig.runOf(saga).cancel()).map((say) => say()));
    const { cancelled } = await outcomeOf(saga);
    const orders = rig.ordersOf(saga);
    expect(orders.length).toBeLessThanOrEqual(1);
    const taken = (await saga.progress()).decisions.length === 1;
    const open = rig.openItems(saga).map(({ cartItemId }) => cartItemId);
    // Decided "not placed" and cancelled: undone. Cancelled while nobody knew: left alone, and told.
    const told = (cancelled?.leftovers ?? []).flatMap((left) => (left.kind === 'cart-item' ? [left.cartItemId] : []));
    if (orders.length === 0) expect(told.length).toBe(taken ? 0 : 1);
    expect(told.filter((id) => !open.includes(id))).toEqual([]);
  };
  await Promise.all(Array.from({ length: 5 }, race));
});

it('says of each decision what it does and what to paste, and of the query what it answers', async () => {
  const { saga } = await stuckOrder(rig);
  const metadata = await rig.runOf(saga).query<temporal.api.sdk.v1.IWorkflowMetadata>('__temporal_workflow_metadata');
  type Definitions = { name?: string | null; description?: string | null }[] | null | undefined;
  const described = (list: Definitions): Record<string, unknown> =>
    Object.fromEntries((list ?? []).map(({ name, description }) => [name ?? '', description]));
  const hints = Object.fromEntries(
    decisionNames.map((name) => [name, `${decisionHints[name].does}. ${decisionHints[name].example}`]),
  );
  const { updateDefinitions, signalDefinitions, queryDefinitions } = metadata.definition ?? {};
  expect(described(updateDefinitions)).toEqual(hints);
  const cancelledBy = 'Who cancels the saga, and why. Sent by the command line before the cancellation';
  expect(described(signalDefinitions)).toEqual({ cancelledBy });
  expect(described(queryDefinitions)).toMatchObject({ progress: 'State, steps, what it waits for, decisions' });
  await saga.cancel();
});

const said = { by: 'ann', note: 'the customer has changed their mind' };

describe('a cancellation', () => {
  it("from the Web UI is nobody's whose own never came", async () => {
    const { saga, waiting } = await stuckOrder(rig);
    // The connection is lost between her words and her cancellation; then she wants the order after all.
    await rig.runOf(saga).signal('cancelledBy', { ...said, token: 'lost' });
    rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'unauthorized' });
    await answer(saga, 'retry', { by: 'ann' });
    await untilAnother(saga, waiting.id);
    await rig.runOf(saga).cancel();
    const { cancelled } = await outcomeOf(saga);
    expect(cancelled).toMatchObject({ why: 'cancelled; nobody said who or why', decisions: [{ decision: 'retry' }] });
  });

  it("after a reset is nobody's who cancelled the run of before", async () => {
    const { saga, request } = await stuckOrder(rig);
    await saga.cancel(said);
    expect((await outcomeOf(saga)).cancelled).toMatchObject({ why: `cancelled, says ann: ${said.note}` });
    rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'unauthorized' });
    await resetTo(rig.temporal, saga, (await workflowTasksOf(rig.temporal, saga)).at(1) ?? 0);
    const again = rig.latest('provisionServers', request);
    await untilWaiting(again, 'stuck');
    await rig.runOf(again).cancel();
    expect((await outcomeOf(again)).cancelled).toMatchObject({ why: 'cancelled; nobody said who or why' });
  });

  it('has a person and a reason, which stay in the report and in the journal', async () => {
    const { saga } = await stuckOrder(rig);
    await saga.cancel(said);
    const { cancelled } = await outcomeOf(saga);
    const record = { decision: 'cancel', kind: 'stuck', step: 'place-order', ...said };
    expect(cancelled).toMatchObject({ why: `cancelled, says ann: ${said.note}`, decisions: [record] });
    expect((await rig.recordOf(saga))?.decisions).toMatchObject([record]);
    expect((await saga.progress()).decisions).toMatchObject([record]);
  });

  it('is not taken with half of them, nor from a signal that cannot be read', async () => {
    const { saga } = await stuckOrder(rig);
    for (const less of [{ by: 'ann' }, { note: 'why' }, { by: '', note: 'why' }, { by: 'ann', note: ' ' }]) {
      await expect(saga.cancel(less as never)).rejects.toThrow(InvalidRequestError);
    }
    await rig.runOf(saga).signal('cancelledBy', { by: 7 });
    await saga.cancel();
    expect((await outcomeOf(saga)).cancelled).toMatchObject({ why: 'cancelled; nobody said who or why' });
  });
});

it('a wait is reminded of after an hour, then ever more seldom, and never stops', () => {
  const hourMs = 60 * 60 * 1000;
  const reminders = reminderDelaysMs();
  const delays = Array.from({ length: 40 }, () => reminders.next().value);
  expect(delays.slice(0, 3)).toEqual([1, 4, 16].map((hours) => hours * hourMs));
  const within = (days: number) => {
    let leftMs = days * 24 * hourMs;
    return delays.filter((delayMs) => (leftMs -= delayMs) >= 0).length;
  };
  expect(within(365)).toBe(7);
  expect(within(3650)).toBeGreaterThan(20);
});

/** It has two readings: our credentials are not allowed it, or the provider refuses the request. Each has a way out. */
describe.each<[FaultSpec['endpoint'], SagaFailureName, object, () => Promise<SagaHandle>]>([
  ['add-cart-item', 'OrderRejected', { correction: { plan_id: 3 } }, () => rig.sagas.provision(provisionRequest())],
  ['assign-firewalls', 'FirewallsRejected', {}, () => rig.sagas.firewalls(firewallsRequest())],
])('a 403 to %s', (endpoint, ends, corrected, start) => {
  async function forbidden() {
    const body = { error: 'quota of 5 servers is used up' };
    rig.sandbox.faults.add({ endpoint, kind: 'refuse-before', status: 403, body });
    const saga = await start();
    return { saga, waiting: await untilWaiting(saga, 'stuck') };
  }

  it('is asked about with both readings, and what the provider says of it', async () => {
    const { saga, waiting } = await forbidden();
    expect(waiting.question).toMatch(/our credentials are not allowed this, or the provider refuses this request/);
    expect(waiting.question).toMatch(/It says: .*quota of 5 servers is used up/);
    expect(waiting.lastFailure).toMatchObject({ failure: 'Unauthorized', status: 403, whose: 'us or the provider' });
    await answer(saga, 'retry', corrected);
    await expect(saga.result()).resolves.toMatchObject({ outcome: 'done' });
  });

  it('is a refusal where a person says so: the saga undoes, and the backend hears it', async () => {
    const { saga } = await forbidden();
    await answer(saga, 'reject', { by: 'ann', reason: 'the quota is meant' });
    const { failure } = await outcomeOf(saga);
    expect(failure).toMatchObject({ type: ends, report: { outcome: 'reversed', leftovers: [] } });
    expect(failure?.report.why).toMatch(/quota of 5 servers is used up.*rejected: the quota is meant/);
    expect(rig.openItems(saga)).toEqual([]);
  });
});

describe('what a person has done by hand counts as done', () => {
  const seen = { by: 'ada', note: 'done in the panel' };
  const panel = () => panelOf(rig.sandbox);
  /** Servers of the test’s own, and an order that is for them, whose assignments are refused. */
  function refusedOrderFor(...vmObjectIds: number[]) {
    // Requests name their servers.
    rig.sandbox.configure({ orderResponse: 'opaque' });
    for (const vmObjectId of vmObjectIds) {
      rig.sandbox.addServer({ vmObjectId, firewalls: [] });
      const match = { vmObjectId };
      rig.sandbox.faults.add({ endpoint: 'assign-firewalls', kind: 'refuse-before', match, times: 'all' });
    }
    return rig.sagas.provision(
      provisionRequest({ items: [{ quantity: vmObjectIds.length }], firewalls: [143], vmObjectIds }),
    );
  }

  it('a firewall that was assigned: it is protection, and its list is still looked at', async () => {
    const saga = await refusedOrderFor(81_001);
    await untilWaiting(saga, 'stuck');
    panel().assign(81_001, [143]);
    await answer(saga, 'markDone', seen);
    expect(await saga.result()).toMatchObject({
      outcome: 'done',
      skipped: [],
      leftovers: [],
      servers: [{ vmObjectId: 81_001, firewalls: [143], verified: true }],
      decisions: [{ decision: 'markDone', step: 'assign-firewalls-81001', ...seen }],
    });
    expect(await stepOf(saga, 'assign-firewalls-81001')).toMatchObject({
      ...{ status: 'done', detail: 'done by hand, says ada: done in the panel' },
    });
  });

  it('is what the provider’s list shows, whatever was said', async () => {
    const saga = await refusedOrderFor(81_011);
    await untilWaiting(saga);
    await answer(saga, 'markDone', { note: 'not so' });
    expect(await untilWaiting(saga)).toMatchObject({
      ...{ step: 'verify-firewalls-81011', lastFailure: { failure: 'NotVisibleYet' } },
    });
    await answer(saga, 'skip', { note: 'later' });
    expect(await saga.result()).toMatchObject({
      outcome: 'partly',
      servers: [{ vmObjectId: 81_011, firewalls: [], verified: false }],
      leftovers: [{ kind: 'server-unprotected', vmObjectId: 81_011, firewalls: [143] }],
    });
  });

  it('of servers that wait together those that are named; the others are asked about again', async () => {
    const saga = await refusedOrderFor(82_001, 82_002, 82_003);
    const first = await untilWaiting(saga);
    const steps = [82_001, 82_002, 82_003].map((id) => `assign-firewalls-${id}`);
    expect(first).toMatchObject({ step: steps[0], steps });
    await expect(answer(saga, 'markDone', seen)).rejects.toThrow(
      `steps: is required: name the steps that you have done; those that wait are ${steps.join(', ')}`,
    );
    rig.sandbox.faults.clear();
    panel().assign(82_001, [143]);
    panel().assign(82_003, [143]);
    const assigned = () =>
      callsTo(rig.sandbox.ledger, 'assign-firewalls').filter(({ names }) => names.vmObjectId?.includes(82_002)).length;
    const sent = assigned();
    await answer(saga, 'markDone', { ...seen, steps: [steps[0], steps[2]] });
    const second = await untilWaiting(saga);
    expect(second.step).toBe(steps[1]);
    expect(second.id).not.toBe(first.id);
    expect(second).not.toHaveProperty('steps');
    // Nothing was said of it, so nothing is done with it.
    expect(assigned()).toBe(sent);
    await answer(saga, 'skip', { note: 'it goes' });
    const why = 'they were not assigned; a person left it out: it goes';
    expect(await saga.result()).toMatchObject({
      outcome: 'partly',
      skipped: [steps[1]],
      leftovers: [{ kind: 'server-unprotected', vmObjectId: 82_002, firewalls: [143], why }],
      decisions: [{ decision: 'markDone', steps: [steps[0], steps[2]] }, { decision: 'skip' }],
    });
  });
});

it('who has cancelled a saga stays in its report, whoever cancels it again while it undoes', async () => {
  const refused = (endpoint: FaultSpec['endpoint']) => ({ endpoint, kind: 'unauthorized' as const });
  const { saga } = await orderThat(rig, [refused('place-order'), refused('delete-cart-item')]);
  const { id } = await untilWaiting(saga, 'stuck');
  await saga.cancel(said);
  const { id: question } = await untilAnother(saga, id);
  await saga.cancel({ by: 'bob', note: 'all that wait', question });
  await answer(saga, 'retry');
  expect((await outcomeOf(saga)).cancelled).toMatchObject({
    why: `cancelled, says ann: ${said.note}`,
    decisions: [{ decision: 'retry' }, { decision: 'cancel', by: 'ann' }],
  });
});
