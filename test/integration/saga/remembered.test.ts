/**
 * What a run has added to the cart it tells or deletes, and what it has changed at a server it tells, also where the
 * journal does not know it any more, cannot be asked, or says what is not so.
 */
import { join } from 'node:path';
import { sql } from 'kysely';
import Database from 'libsql';
import { firewallsOf, ordersWithLabel, silentLeftovers } from '../../../sandbox/sentences';
import type { SagaHandle } from '../../../src/client/handle';
import type { Leftover } from '../../../src/domain/leftovers';
import { restored } from '../../../src/journal/confirm-restore';
import { said } from '../../support/operator';
import { itInWays } from '../../support/left-out';
import { firewallsRequest, planIdOf, provisionRequest } from '../../support/requests';
import { rigForFile, until } from '../../support/rig';
import { answer, outcomeOf, untilWaiting } from '../../support/sagas';
import { copyDatabase, putDatabaseBack } from '../../support/sqlite-copy';
import { deleteRun, terminate } from '../../support/web-ui';

// What a restored journal lacks took effect without a row.
const rig = rigForFile({ clears: true, compares: false });

type Request = ReturnType<typeof provisionRequest>;

const matchOf = ({ reference }: Request) => ({ planId: planIdOf(reference) });
/** @returns what lets it be placed */
function cannotBePlaced({ label }: Request): () => void {
  const fault = rig.sandbox.faults.add({
    ...{ endpoint: 'place-order', kind: 'unauthorized', match: { label }, times: 'all' },
  });
  return () => {
    rig.sandbox.faults.lift(fault);
  };
}
/** The provider has it, and the answer is lost; the next one is answered. */
function isAddedTwice(request: Request): void {
  rig.sandbox.faults.add({ endpoint: 'add-cart-item', kind: 'reset-after', match: matchOf(request), times: 1 });
}

/** Open items of the cart that no leftover stands for. */
function silent(request: Request, leftovers: readonly Leftover[]) {
  const listed = leftovers.flatMap((one) => (one.kind === 'cart-item' ? [one.cartItemId] : []));
  const unknown = leftovers.filter(({ kind }) => kind === 'cart-item-unknown').length;
  const isOwn = ({ cartItemId }: { cartItemId: number }) =>
    rig.openItems(request).some((open) => open.cartItemId === cartItemId);
  return silentLeftovers(rig.sandbox.ledger, listed, 0).filter(isOwn).slice(unknown);
}

describe('the journal was restored to before its items were added, and `restored` was said:', () => {
  async function addedInLostTime(spoil: (request: Request) => void = () => undefined) {
    const request = provisionRequest();
    spoil(request);
    const place = cannotBePlaced(request);
    const copy = join(rig.folder, `${request.reference}.db`);
    const looking = rig.sandbox.faults.add({ endpoint: 'add-cart-item', kind: 'gate', match: matchOf(request) });
    const saga = await rig.sagas.provision(request);
    await rig.sandbox.whenStruck(looking);
    copyDatabase(rig.journalFile, copy);
    rig.sandbox.faults.release(looking);
    await untilWaiting(saga, 'stuck');
    await rig.withoutWorkers(async () => {
      // The row of the first add is lost as well: it was meant a moment before.
      const database = new Database(copy);
      database.prepare('delete from effect where reference = ?').run(request.reference);
      database.close();
      putDatabaseBack(copy, rig.journalFile);
      await rig.withJournal((journal) => restored(journal, 'trust', said));
    });
    place();
    return { request, saga };
  }
  const goesOn = async (saga: SagaHandle) => {
    await answer(saga, 'retry');
    await untilWaiting(saga, 'outcome-unknown');
    await answer(saga, 'confirmNotPlaced', { note: 'the panel shows none' });
    return (await outcomeOf(saga)).result as { leftovers: Leftover[]; cartItemIds: number[] };
  };

  it('a saga that goes on adds them again, and deletes those of before', async () => {
    const { request, saga } = await addedInLostTime();
    const [before] = rig.openItems(request);
    const { leftovers, cartItemIds } = await goesOn(saga);
    expect(leftovers).toEqual([]);
    expect(cartItemIds).not.toContain(before?.cartItemId);
    expect(rig.openItems(request)).toEqual([]);
    expect(rig.ordersOf(request)).toHaveLength(1);
  });

  it('one that is cancelled tells them', async () => {
    const { request, saga } = await addedInLostTime();
    const [{ cartItemId } = { cartItemId: 0 }] = rig.openItems(request);
    await saga.cancel();
    const { leftovers = [] } = (await outcomeOf(saga)).cancelled ?? {};
    expect(leftovers).toContainEqual(expect.objectContaining({ kind: 'cart-item', cartItemId }));
    expect(leftovers).toContainEqual(expect.objectContaining({ kind: 'placement-unknown' }));
  });

  it('an add of which it got no answer is told', async () => {
    const { request, saga } = await addedInLostTime(isAddedTwice);
    expect(rig.openItems(request)).toHaveLength(2);
    const { leftovers } = await goesOn(saga);
    expect(leftovers).toMatchObject([{ kind: 'cart-item-unknown', item: 1 }]);
    expect(silent(request, leftovers)).toEqual([]);
  });
});

it('the journal was restored to before firewalls were changed: a saga that is refused then tells them', async () => {
  const { faults, ledger } = rig.sandbox;
  const before = firewallsRequest({ assign: [9] });
  const { vmObjectId } = before;
  await (await rig.sagas.start('setFirewalls', before)).result();
  const listing = faults.add({ endpoint: 'list-firewalls', kind: 'gate' });
  const fault = faults.add({ endpoint: 'unassign-firewalls', kind: 'unauthorized', times: 'all' });
  const request = { ...firewallsRequest({ unassign: [9] }), vmObjectId };
  const saga = await rig.sagas.start('setFirewalls', request);
  await rig.sandbox.whenStruck(listing);
  const copy = join(rig.folder, `${request.reference}.db`);
  copyDatabase(rig.journalFile, copy);
  faults.release(listing);
  await untilWaiting(saga, 'stuck');
  await rig.withoutWorkers(async () => {
    putDatabaseBack(copy, rig.journalFile);
    await rig.withJournal((journal) => restored(journal, 'trust', said));
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

itInWays('whoever skips the look for what is left in the cart gets what may be', async () => {
  const request = provisionRequest();
  isAddedTwice(request);
  const place = cannotBePlaced(request);
  const first = await rig.sagas.provision(request);
  await untilWaiting(first, 'stuck');
  await terminate(rig.temporal, first);
  await deleteRun(rig.temporal, first);
  place();
  const placing = rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'gate', match: { label: request.label } });
  const saga = await rig.sagas.provision(request);
  await rig.sandbox.whenStruck(placing);
  const database = new Database(rig.journalFile, { timeout: 10_000 });
  database.exec('begin immediate');
  try {
    rig.sandbox.faults.release(placing);
    await until(async () => (await saga.progress()).waiting?.step === 'read-cart');
    await answer(saga, 'skip', { note: 'the journal is away' });
  } finally {
    database.exec('rollback');
    database.close();
  }
  const { leftovers, skipped } = (await saga.result()) as { leftovers: Leftover[]; skipped: string[] };
  expect(skipped).toContain('read-cart');
  expect(rig.openItems(request)).toHaveLength(1);
  expect(silent(request, leftovers)).toEqual([]);
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
  const sent = () => [
    rig.callsOf(request, 'add-cart-item').length,
    ordersWithLabel(rig.sandbox.ledger, request.label).length,
  ];
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
  expect(ordersWithLabel(rig.sandbox.ledger, b.label)).toHaveLength(1);
});
