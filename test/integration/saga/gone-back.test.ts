/**
 * What a run knows that a restored database has forgotten: what another run has done and told in the time that Temporal
 * has lost stays true; what a run has added or changed, and a restored journal does not know, is told or deleted.
 */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { sql } from 'kysely';
import Database from 'libsql';
import { firewallsOf } from '../../../sandbox/sentences';
import type { SagaHandle } from '../../../src/client/handle';
import type { EffectCall } from '../../../src/domain/effects';
import type { Leftover } from '../../../src/domain/outcomes';
import { restoredAndTrusted } from '../../support/operator';
import { orderThat, stuckOrder } from '../../support/orders';
import { firewallsRequest, planIdOf, provisionRequest } from '../../support/requests';
import { rigForFile } from '../../support/rig';
import { answer, outcomeOf, untilWaiting } from '../../support/sagas';
import { copyDatabase, putDatabaseBack } from '../../support/sqlite-copy';
import { deleteRun, resetToBeginning } from '../../support/web-ui';

// What a restored journal lacks took effect without a row; what another run has placed stands in the journal only.
const rig = rigForFile({ clears: true, compares: false });

type Request = ReturnType<typeof provisionRequest>;

describe('a run that Temporal has gone back to tells what was told in the time that is lost', () => {
  const keyOf = ({ reference }: { reference: string }) => ({ workflow: 'provisionServers' as const, reference });
  const reportOf = ({ workflow, reference }: Pick<SagaHandle, 'workflow' | 'reference'>) => ({
    ...{ reference, workflow, outcome: 'reversed' as const, why: `it was told ${randomUUID()}` },
    ...{ steps: [], known: {}, leftovers: [] as Leftover[], decisions: [] },
  });

  /** In the lost time. @returns what calls of it know */
  async function otherBegins(request: Request, run: string) {
    return rig.withJournal(async (journal) => {
      const begun = await journal.begin(keyOf(request), { run, isReset: true });
      if (begun.how !== 'begun') throw new Error(begun.how);
      const { id, epoch } = await journal.db.selectFrom('journal').selectAll().executeTakeFirstOrThrow();
      return { journal: id, epoch, fence: begun.number };
    });
  }

  /** It makes a call there, too. */
  async function otherCalls(request: Request, run: string, call: EffectCall, answer: unknown) {
    const key = keyOf(request);
    const sent = { call, run, inFlightMs: 0 };
    const cursor = await otherBegins(request, run);
    await rig.withJournal(async (journal) => {
      const intended = await journal.intend({ ...key, ...sent, cursor });
      if (intended.how !== 'send') throw new Error(intended.how);
      await journal.answered(key, { ...sent, cursor: intended.cursor }, { outcome: 'done', answer });
    });
  }
  const order = { order_id: 1 };
  const otherPlaces = (request: Request, run: string) =>
    otherCalls(
      request,
      run,
      { step: 'place-order', kind: 'pivot', activity: 'placeOrder', about: { cartItems: [1] } },
      { how: 'answered', value: { order, vmObjectIds: [9999] } },
    );

  const endsInLostTime = ({ workflow, reference }: SagaHandle, run: string, outcome: string, report: object) =>
    rig.withJournal((journal) => journal.ended({ workflow, reference }, { run, by: workflow, outcome, report }));

  /** Its order is refused, and what it has added cannot be deleted. */
  async function inItsUndo() {
    const { request, saga } = await orderThat(rig, [
      { endpoint: 'place-order', kind: 'refuse-before' },
      { endpoint: 'delete-cart-item', kind: 'unauthorized' },
    ]);
    await untilWaiting(saga, 'stuck');
    return { request, saga };
  }
  async function atAServer() {
    rig.sandbox.faults.add({ endpoint: 'list-firewalls', kind: 'unauthorized', times: 'all' });
    const saga = await rig.sagas.firewalls(firewallsRequest());
    await untilWaiting(saga, 'stuck');
    return { saga };
  }
  const goesOn = (saga: SagaHandle) => answer(saga, 'retry');
  const isCancelled = (saga: SagaHandle) => saga.cancel();

  it.each<[string, () => Promise<{ saga: SagaHandle }>, (saga: SagaHandle) => Promise<unknown>]>([
    ['when it goes on', () => stuckOrder(rig), goesOn],
    ['when it is cancelled', () => stuckOrder(rig), isCancelled],
    ['where it was undoing', inItsUndo, goesOn],
    ['where it is cancelled and has nothing to undo', atAServer, isCancelled],
  ])('by itself: %s', async (_, begins, then) => {
    const { saga } = await begins();
    const leftovers = [{ kind: 'cart-item-unknown' as const, item: 1, why: 'the list of the provider does not say' }];
    const report = { ...reportOf(saga), leftovers };
    const { runId } = await saga.describe();
    await endsInLostTime(saga, runId, 'reversed', { ended: 'OrderRejected', report });
    await then(saga);
    expect(await outcomeOf(saga)).toEqual({ failure: { type: 'OrderRejected', report } });
    expect((await saga.progress()).leftovers).toEqual(leftovers);
    expect(rig.ordersOf(saga)).toEqual([]);
  });

  it('by itself, after a reset and without a question: its history replays under another run id', async () => {
    const request = firewallsRequest();
    rig.sandbox.faults.add({ endpoint: 'list-firewalls', kind: 'unauthorized' });
    const first = await rig.sagas.firewalls(request);
    await untilWaiting(first, 'stuck');
    const gate = rig.sandbox.faults.add({ endpoint: 'list-firewalls', kind: 'gate' });
    const run = await resetToBeginning(rig.temporal, first);
    await rig.sandbox.whenStruck(gate);
    const report = reportOf(first);
    const { workflow, reference } = first;
    const ending = { run, by: workflow, isReset: true, outcome: 'reversed' };
    await rig.withJournal((journal) =>
      journal.ended({ workflow, reference }, { ...ending, report: { ended: 'FirewallsRejected', report } }),
    );
    rig.sandbox.faults.release(gate);
    const saga = await rig.sagas.get(reference, 'setFirewalls');
    expect(await outcomeOf(saga)).toEqual({ failure: { type: 'FirewallsRejected', report } });
  });

  it('by another run that has placed the order, where it was undoing', async () => {
    const { request, saga } = await inItsUndo();
    await otherPlaces(request, randomUUID());
    await goesOn(saga);
    const { failure } = await outcomeOf(saga);
    expect(failure).toMatchObject({ type: 'OrderRejected', report: { outcome: 'partly', known: { order } } });
    const placing = failure?.report.steps.find(({ id }) => id === 'place-order');
    expect(placing).toMatchObject({ status: 'done', detail: expect.stringMatching(/^from the journal/) as string });
    expect(rig.openItems(request)).toEqual([]);
  });

  it('by another run that has ended', async () => {
    const { request, saga } = await inItsUndo();
    const run = randomUUID();
    await otherPlaces(request, run);
    const { reference } = request;
    const result = { reference, order, cartItemIds: [1], servers: [], leftovers: [], outcome: 'done' };
    const report = { ...reportOf(saga), outcome: 'done' };
    await endsInLostTime(saga, run, 'done', { ended: 'done', report, result });
    await goesOn(saga);
    expect(await outcomeOf(saga)).toEqual({ result });
  });

  it('and keeps its word once it has ended, though another run began after its first begin', async () => {
    const { request, saga } = await stuckOrder(rig);
    await otherBegins(request, randomUUID());
    rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'refuse-before', match: { label: saga.reference } });
    await goesOn(saga);
    const told = await outcomeOf(saga);
    expect(told.failure).toMatchObject({ type: 'OrderRejected', report: { outcome: 'reversed', leftovers: [] } });
    await deleteRun(rig.temporal, saga);
    expect(await outcomeOf(await rig.sagas.provision(request))).toEqual(told);
    expect(rig.ordersOf(saga)).toEqual([]);
  });

  it('leaves no cart item that the other run has deleted, though a person was asked to leave it behind', async () => {
    const { request, saga } = await inItsUndo();
    const { step, cart_item_id: id } = await rig.withJournal(({ db }) => {
      const added = db.selectFrom('effect').selectAll().where('cart_item_id', 'is not', null);
      return added.where('reference', '=', request.reference).executeTakeFirstOrThrow();
    });
    const about = { cartItemId: Number(id) };
    const call = { step, kind: 'compensate', activity: 'deleteCartItem', about } as const;
    await otherCalls(request, randomUUID(), call, null);
    await answer(saga, 'skip', { note: 'it may stay' });
    const { failure } = await outcomeOf(saga);
    expect(failure).toMatchObject({ type: 'OrderRejected', report: { outcome: 'reversed', leftovers: [] } });
  });

  it('and which of its servers lack firewalls, also where another run begins while it looks at them', async () => {
    const request = provisionRequest({ items: [{ quantity: 2 }], firewalls: [143] });
    rig.sandbox.faults.add({ endpoint: 'assign-firewalls', kind: 'refuse-before', status: 402, nth: 2 });
    const saga = await rig.sagas.provision(request);
    await untilWaiting(saga, 'stuck');
    const gate = rig.sandbox.faults.add({ endpoint: 'list-firewalls', kind: 'gate' });
    await saga.cancel();
    await rig.sandbox.whenStruck(gate);
    await otherBegins(request, randomUUID());
    rig.sandbox.faults.release(gate);
    const [open] = rig.serversOf(saga).filter((id) => firewallsOf(rig.sandbox.ledger, id).length === 0);
    const leftovers = [{ kind: 'server-unprotected', vmObjectId: open, firewalls: [143] }];
    expect((await outcomeOf(saga)).cancelled).toMatchObject({ outcome: 'partly', leftovers });
  });
});

describe('the journal was restored to before', () => {
  const matchOf = ({ reference }: Request) => ({ planId: planIdOf(reference) });

  /** Its items were added after the copy, and their row of a moment before is lost as well. */
  async function addedInLostTime(spoil: (request: Request) => void = () => undefined) {
    const request = provisionRequest();
    spoil(request);
    const match = { label: request.label };
    const fault = rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'unauthorized', match, times: 'all' });
    const copy = join(rig.folder, `${request.reference}.db`);
    const adding = rig.sandbox.faults.add({ endpoint: 'add-cart-item', kind: 'gate', match: matchOf(request) });
    const saga = await rig.sagas.provision(request);
    await rig.sandbox.whenStruck(adding);
    copyDatabase(rig.journalFile, copy);
    rig.sandbox.faults.release(adding);
    await untilWaiting(saga, 'stuck');
    await rig.withoutWorkers(async () => {
      const database = new Database(copy);
      database.prepare('delete from effect where reference = ?').run(request.reference);
      database.close();
      putDatabaseBack(copy, rig.journalFile);
      await rig.withJournal((journal) => restoredAndTrusted(journal));
    });
    rig.sandbox.faults.lift(fault);
    return { request, saga };
  }
  const goesOn = async (saga: SagaHandle) => {
    await answer(saga, 'retry');
    await untilWaiting(saga, 'outcome-unknown');
    await answer(saga, 'confirmNotPlaced', { note: 'the panel shows none' });
    return (await outcomeOf(saga)).result as { leftovers: Leftover[]; cartItemIds: number[] };
  };

  it('its items were added: a saga that goes on adds them again, and deletes those of before', async () => {
    const { request, saga } = await addedInLostTime();
    const [before] = rig.openItems(request);
    const { leftovers, cartItemIds } = await goesOn(saga);
    expect(leftovers).toEqual([]);
    expect(cartItemIds).not.toContain(before?.cartItemId);
    expect(rig.openItems(request)).toEqual([]);
    expect(rig.ordersOf(request)).toHaveLength(1);
  });

  it('its items were added: one that is cancelled tells them', async () => {
    const { request, saga } = await addedInLostTime();
    const [{ cartItemId } = { cartItemId: 0 }] = rig.openItems(request);
    await saga.cancel();
    const { leftovers = [] } = (await outcomeOf(saga)).cancelled ?? {};
    expect(leftovers).toContainEqual(expect.objectContaining({ kind: 'cart-item', cartItemId }));
    expect(leftovers).toContainEqual(expect.objectContaining({ kind: 'placement-unknown' }));
  });

  it('its items were added: an add of which it got no answer is told', async () => {
    // The provider has it, and the answer is lost; the next one is answered.
    const twice = (request: Request) =>
      rig.sandbox.faults.add({ endpoint: 'add-cart-item', kind: 'reset-after', match: matchOf(request), times: 1 });
    const { request, saga } = await addedInLostTime(twice);
    expect(rig.openItems(request)).toHaveLength(2);
    expect((await goesOn(saga)).leftovers).toMatchObject([{ kind: 'cart-item-unknown', item: 1 }]);
    expect(rig.openItems(request)).toHaveLength(1);
  });

  it('firewalls were changed: a saga that is refused then tells them', async () => {
    const { faults, ledger } = rig.sandbox;
    const before = firewallsRequest({ assign: [9] });
    const { vmObjectId } = before;
    await (await rig.sagas.firewalls(before)).result();
    const listing = faults.add({ endpoint: 'list-firewalls', kind: 'gate' });
    const fault = faults.add({ endpoint: 'unassign-firewalls', kind: 'unauthorized', times: 'all' });
    const saga = await rig.sagas.firewalls({ ...firewallsRequest({ unassign: [9] }), vmObjectId });
    await rig.sandbox.whenStruck(listing);
    const copy = join(rig.folder, 'firewalls.db');
    copyDatabase(rig.journalFile, copy);
    faults.release(listing);
    await untilWaiting(saga, 'stuck');
    await rig.withoutWorkers(async () => {
      putDatabaseBack(copy, rig.journalFile);
      await rig.withJournal((journal) => restoredAndTrusted(journal));
    });
    faults.lift(fault);
    faults.add({ endpoint: 'unassign-firewalls', kind: 'refuse-before' });
    await answer(saga, 'retry');
    const { failure } = await outcomeOf(saga);
    expect(firewallsOf(ledger, vmObjectId)).toEqual([9, 143]);
    expect(failure?.report).toMatchObject({
      outcome: 'reversed-with-leftovers',
      leftovers: [{ kind: 'firewalls', vmObjectId, firewalls: [143] }],
    });
  });
});

it('an item that is taken back again and again is added again, but not without end and without a word', async () => {
  // The journal says what is not so: the items are in the cart.
  await rig.withJournal(({ db }) =>
    sql`
      create trigger somebody_cleans after update of outcome on effect
      when new.kind = 'mutate' and new.outcome = 'done'
      begin update effect set outcome = 'undone', undone_by = new.id where id = new.id; end
    `.execute(db),
  );
  const request = provisionRequest();
  const saga = await rig.sagas.provision(request);
  const { step, question, choices } = await untilWaiting(saga);
  expect({ step, choices }).toEqual({ step: 'place-order', choices: ['retry'] });
  expect(question).toMatch(/^Stuck: /);
  const sent = () => [rig.callsOf(request, 'add-cart-item').length, rig.ordersOf(request).length];
  expect(sent()).toEqual([3, 0]);
  await rig.withJournal(({ db }) => sql`drop trigger somebody_cleans`.execute(db));
  await answer(saga, 'retry');
  expect(await saga.result()).toMatchObject({ leftovers: [] });
  expect(sent()).toEqual([4, 1]);
});

it('an id that the provider gives again is deleted under no other reference: the item stays, and is told', async () => {
  const { orders } = (rig.sandbox as unknown as { provider: { orders: { nextCartItemId: number } } }).provider;
  const cartItemId = orders.nextCartItemId;
  const [a, b] = [provisionRequest(), provisionRequest()];
  rig.sandbox.faults.add({ endpoint: 'place-order', match: { account: a.account }, kind: 'refuse-before' });
  // It is deleted, and the answer is lost, until a person is asked.
  rig.sandbox.faults.add({ endpoint: 'delete-cart-item', match: { cartItemId }, kind: 'reset-after', times: 3 });
  const older = await rig.sagas.provision(a);
  await untilWaiting(older, 'stuck');
  orders.nextCartItemId = cartItemId;
  rig.sandbox.faults.add({ endpoint: 'place-order', match: { account: b.account }, kind: 'unauthorized' });
  const younger = await rig.sagas.provision(b);
  await untilWaiting(younger, 'stuck');
  await answer(older, 'retry');
  expect((await outcomeOf(older)).failure?.report.leftovers).toMatchObject([
    { kind: 'cart-item', cartItemId, why: expect.stringContaining(`an item of ${b.reference}`) },
  ]);
  rig.sandbox.configure({ closedCartItems: 'refuse' });
  await answer(younger, 'retry');
  await younger.result();
  expect(rig.ordersOf(b)).toHaveLength(1);
});

it('an id that the provider gives again is ordered under no older reference: its item is added again', async () => {
  const { orders } = (rig.sandbox as unknown as { provider: { orders: { nextCartItemId: number } } }).provider;
  const cartItemId = orders.nextCartItemId;
  const { request: a, saga: older } = await stuckOrder(rig);
  orders.nextCartItemId = cartItemId;
  const { request: b, saga: younger } = await stuckOrder(rig);
  await answer(older, 'retry');
  expect(await older.result()).toMatchObject({
    cartItemIds: [cartItemId + 1],
    leftovers: [{ kind: 'cart-item', cartItemId, why: expect.stringContaining(`an item of ${b.reference}`) as string }],
  });
  await answer(younger, 'retry');
  expect(await younger.result()).toMatchObject({ cartItemIds: [cartItemId], leftovers: [] });
  expect([a, b].map((request) => rig.ordersOf(request).length)).toEqual([1, 1]);
});
