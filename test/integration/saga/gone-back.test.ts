/**
 * A run that a restored Temporal has gone back to, after it was reset in the time that is lost: what the other run has
 * done and told stays true.
 */
import { randomUUID } from 'node:crypto';
import { ordersWithLabel } from '../../../sandbox/sentences';
import type { SagaHandle } from '../../../src/client/handle';
import { begin } from '../../../src/journal/open-references';
import { deleteRun } from '../../support/web-ui';
import { firewallsRequest, provisionRequest } from '../../support/requests';
import { rigForFile } from '../../support/rig';
import { answer, outcomeOf, untilWaiting } from '../../support/sagas';

// What the other run has placed stands in the journal only.
const rig = rigForFile({ compares: false, clears: true });

const keyOf = ({ reference }: { reference: string }) => ({ workflow: 'provisionServers' as const, reference });
const reportOf = (reference: string, outcome: 'done' | 'reversed') => ({
  ...{ reference, workflow: 'provisionServers', outcome, why: `it was told ${randomUUID()}` },
  ...{ steps: [], known: {}, leftovers: [], ignored: [], decisions: [] },
});

/** In the lost time. @returns what calls of it know */
async function otherBegins(request: { reference: string }, run: string) {
  return rig.withJournal(async (journal) => {
    const begun = await begin(journal, keyOf(request), { run, isReset: true });
    if (begun.how !== 'begun') throw new Error(begun.how);
    const { id, epoch } = await journal.db.selectFrom('journal').selectAll().executeTakeFirstOrThrow();
    return { journal: id, epoch, begun: begun.number };
  });
}

const order = { order_id: 1 };
async function otherPlaces(request: { reference: string }, run: string): Promise<void> {
  const key = keyOf(request);
  const knows = await otherBegins(request, run);
  const call = { step: 'place-order', kind: 'pivot', activity: 'placeOrder', about: { cartItems: [1] } } as const;
  await rig.withJournal(async (journal) => {
    const meant = await journal.mean({ ...key, isOwn: true, call, run, inFlightMs: 0, knows });
    if (meant.how !== 'send') throw new Error(meant.how);
    const answered = { how: 'answered', value: { order, vmObjectIds: [9999] } };
    await journal.answered(
      key,
      { call, run, inFlightMs: 0, knows: meant.knows },
      { outcome: 'done', answer: answered },
    );
  });
}

/** Its order is refused, and what it has added cannot be deleted: it waits. @returns what lets it go on */
async function waitingInItsUndo(request: ReturnType<typeof provisionRequest>) {
  const { faults } = rig.sandbox;
  faults.add({ endpoint: 'place-order', kind: 'refuse-before', match: { label: request.label } });
  const fault = faults.add({ endpoint: 'delete-cart-item', kind: 'unauthorized', times: 'all' });
  const saga = await rig.sagas.provision(request);
  await untilWaiting(saga, 'stuck');
  const goOn = async () => {
    faults.lift(fault);
    await answer(saga, 'retry');
    return outcomeOf(saga);
  };
  return { saga, goOn };
}

const runOf = async (saga: Pick<SagaHandle, 'describe'>) => (await saga.describe()).runId;

it('says that it was placed, where it was undoing and the other run has placed it', async () => {
  const request = provisionRequest();
  const { goOn } = await waitingInItsUndo(request);
  await otherPlaces(request, randomUUID());
  const { failure } = await goOn();
  expect(failure).toMatchObject({ type: 'OrderRejected', report: { outcome: 'partly', known: { order } } });
  const placing = failure?.report.steps.find(({ id }) => id === 'place-order');
  expect(placing).toMatchObject({ status: 'done', detail: expect.stringMatching(/^from the journal/) as string });
  expect(rig.openItems(request)).toEqual([]);
});

it('leaves no cart item that the other run has deleted, though a person was asked to leave it behind', async () => {
  const request = provisionRequest();
  const { saga } = await waitingInItsUndo(request);
  const run = randomUUID();
  const knows = await otherBegins(request, run);
  await rig.withJournal(async (journal) => {
    const key = keyOf(request);
    const added = journal.db.selectFrom('effect').selectAll().where('cart_item_id', 'is not', null);
    const { step, cart_item_id: id } = await added.where('reference', '=', key.reference).executeTakeFirstOrThrow();
    const about = { cartItemId: Number(id) };
    const call = { step, kind: 'compensate', activity: 'deleteCartItem', about } as const;
    const meant = await journal.mean({ ...key, isOwn: true, call, run, inFlightMs: 0, knows });
    if (meant.how !== 'send') throw new Error(meant.how);
    const sent = { call, run, inFlightMs: 0, knows: meant.knows };
    await journal.answered(key, sent, { outcome: 'done', answer: null });
  });
  await answer(saga, 'skip', { note: 'it may stay' });
  rig.sandbox.faults.clear();
  const { failure } = await outcomeOf(saga);
  expect(failure).toMatchObject({ type: 'OrderRejected', report: { outcome: 'reversed', leftovers: [] } });
});

it('tells what the other run has told, where that has ended', async () => {
  const request = provisionRequest();
  const { reference } = request;
  const { goOn } = await waitingInItsUndo(request);
  const run = randomUUID();
  await otherPlaces(request, run);
  const result = { reference, order, cartItemIds: [1], servers: [], leftovers: [], outcome: 'done' };
  const report = { ended: 'done', report: reportOf(reference, 'done'), result };
  await rig.withJournal((journal) =>
    journal.ended(keyOf(request), { run, by: 'provisionServers', outcome: 'done', report }),
  );
  expect(await goOn()).toEqual({ result });
});

it('tells what it has told itself, where it was undoing and has ended since', async () => {
  const request = provisionRequest();
  const { saga, goOn } = await waitingInItsUndo(request);
  const run = await runOf(saga);
  const told = reportOf(request.reference, 'reversed');
  const why = 'the list of the provider does not say';
  const report = { ...told, leftovers: [{ kind: 'cart-item-unknown', item: 1, why }] };
  const ending = { ended: 'OrderRejected', report };
  await rig.withJournal((journal) =>
    journal.ended(keyOf(request), { run, by: 'provisionServers', outcome: 'reversed', report: ending }),
  );
  expect(await goOn()).toEqual({ failure: { type: 'OrderRejected', report } });
  expect((await saga.progress()).leftovers).toEqual(report.leftovers);
});

it('tells what it has told itself, though it is cancelled and has nothing to undo', async () => {
  const request = firewallsRequest();
  const { reference, vmObjectId } = request;
  rig.sandbox.faults.add({ endpoint: 'list-firewalls', kind: 'unauthorized', times: 'all' });
  const saga = await rig.sagas.start('setFirewalls', request);
  await untilWaiting(saga, 'stuck');
  const result = { reference, vmObjectId, assigned: [143], unassigned: [], firewalls: [143], verified: true };
  const report = { ended: 'done', report: reportOf(reference, 'done'), result };
  const run = await runOf(saga);
  await rig.withJournal((journal) =>
    journal.ended({ workflow: 'setFirewalls', reference }, { run, by: 'setFirewalls', outcome: 'done', report }),
  );
  await saga.cancel();
  expect(await outcomeOf(saga)).toEqual({ result });
});

it('keeps its word once it has ended, though the other run began after its first begin', async () => {
  const request = provisionRequest();
  const { faults, ledger } = rig.sandbox;
  faults.add({ endpoint: 'place-order', kind: 'unauthorized', match: { label: request.label } });
  const saga = await rig.sagas.provision(request);
  await untilWaiting(saga, 'stuck');
  await otherBegins(request, randomUUID());
  faults.clear();
  faults.add({ endpoint: 'place-order', kind: 'refuse-before', match: { label: request.label }, times: 1 });
  await answer(saga, 'retry');
  const told = await outcomeOf(saga);
  expect(told.failure).toMatchObject({ type: 'OrderRejected', report: { outcome: 'reversed', leftovers: [] } });
  await deleteRun(rig.temporal, saga);
  expect(await outcomeOf(await rig.sagas.provision(request))).toEqual(told);
  expect(ordersWithLabel(ledger, request.reference)).toEqual([]);
});
