/** Many at once: other calls of the same worker, and other workers. One of them may send. */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { EffectCall } from '../../../src/domain/effects';
import type { JournalAddress } from '../../../src/journal/database/dialects';
import type { Journal } from '../../../src/journal/journal';
import { intendLocked } from '../../../src/journal/intend';
import type { Intended } from '../../../src/journal/decide';
import { effectsOf, lock, type Tx } from '../../../src/journal/rows';
import { restored } from '../../../src/journal/restore/confirm-restore';
import { readState } from '../../../src/journal/read-state';
import { restoredAndTrusted, said } from '../../support/operator';
import { describeEachDatabase } from './databases';
import {
  add,
  assign,
  inFlightMs,
  letPass,
  openedJournals,
  place,
  remove,
  rowOf,
  Run,
  takeBackAssign,
  unassignOld,
} from './runs';

const how = (intended: readonly Intended[]) => intended.map((one) => one.how).sort();
const rounds = Array.from({ length: 15 }, (_, round) => round);

describeEachDatabase('the journal, many at once', ({ fresh }) => {
  const opened = openedJournals();
  let address: JournalAddress;
  let journals: Journal[];
  beforeEach(async () => {
    address = await fresh();
    journals = await Promise.all(Array.from({ length: 4 }, () => opened(address)));
  });

  /** One run for each, three for each journal, all of the same reference. */
  const crowd = (run: Run) => [...journals, ...journals, ...journals].map((journal) => run.again(journal));

  it('one pivot is sent, whichever run begins last', async () => {
    const first = await Run.begin(journals[0]!);
    const intended = await Promise.all(crowd(first).map((run) => run.intend(place(1))));
    const [row, ...others] = await effectsOf(journals[0]!.db, first.key);
    expect(others).toEqual([]);
    expect(intended.flatMap((one) => (one.how === 'send' ? [one.cursor.row] : []))).toEqual([row!.id]);
    const unsent = intended.filter(({ how }) => how !== 'send' && how !== 'not-owned');
    for (const one of unsent) expect(one).toMatchObject({ how: 'under-way', row: row!.id });
  });

  it('one takes a reference, and the others get its request', async () => {
    const first = new Run(journals[0]!);
    const taken = await Promise.all(crowd(first).map((run, index) => run.take({ label: `web-${index}` })));
    expect(taken.filter((one) => one.first === undefined)).toHaveLength(1);
    const requests = taken.flatMap((one) => (one.first ? [JSON.stringify(one.first.request)] : []));
    expect(new Set(requests).size).toBe(1);
  });

  /** By the begin that owns the reference: decided by one statement, where nothing stands against it. */
  const intendAsOwner = ({ key, run, cursor }: Run, journal: Journal, call: EffectCall) =>
    journal.intend({ ...key, call, run, cursor, inFlightMs });

  it('an item is deleted, or an order with it is sent, never both', async () => {
    const outcomes = new Set<string>();
    for (const round of rounds) {
      const run = await Run.begin(journals[0]!);
      const item = 7 + round;
      await run.adds(item);
      const calls = [
        () => intendAsOwner(run, journals[1]!, place(item)),
        () => intendAsOwner(run, journals[2]!, remove(item)),
      ];
      if (round % 2 === 0) calls.reverse();
      const intended = await Promise.all(calls.map((call) => call()));
      expect(how(intended).filter((one) => one === 'send')).toHaveLength(1);
      outcomes.add(how(intended).join());
    }
    // Each of the two was first at least once, or the rounds say little.
    expect([...outcomes].sort()).toEqual(['changed,send', 'send,under-way']);
  });

  it('a server is changed, or an undo at it is sent, never both', async () => {
    for (const round of rounds) {
      const run = await Run.begin(journals[0]!, 'setFirewalls');
      const calls = [{ ...assign, step: 'assign-more' }, takeBackAssign].map(
        (call, index) => () => intendAsOwner(run, journals[index + 1]!, call),
      );
      if (round % 2 === 0) calls.reverse();
      expect(how(await Promise.all(calls.map((call) => call())))).toEqual(['send', 'under-way']);
    }
  });

  it('a correction is written, or an order without it is sent, never both', async () => {
    for (const round of rounds) {
      const run = await Run.begin(journals[0]!);
      const correct = () =>
        journals[1]!.correct(run.key, {
          id: randomUUID(),
          run: run.run,
          step: 'place-order',
          by: 'ann',
          correction: {},
        });
      const order = async () => (await intendAsOwner(run, journals[2]!, place(7))).how;
      const both = round % 2 === 0 ? [correct, order] : [order, correct];
      expect([
        ['changed', 'written'],
        ['placed', 'send'],
      ]).toContainEqual((await Promise.all(both.map((act) => act()))).sort());
    }
  });

  it('nothing of an earlier begin is written once another one owns the reference', async () => {
    for (const round of rounds) {
      const run = await Run.begin(journals[0]!);
      const later = run.again(journals[1]);
      const ten = Array.from({ length: 10 }, (_, index) => add(index + 1));
      const sent = ten.map((call, index) => intendAsOwner(run, journals[index % 4]!, call));
      if (round % 2 === 0) await Promise.race(sent);
      await later.own();
      const rowsThen = await effectsOf(journals[0]!.db, run.key);
      const intended = await Promise.all(sent);
      expect(intended.map((one) => one.how).filter((one) => one !== 'send' && one !== 'not-owned')).toEqual([]);
      expect(await effectsOf(journals[0]!.db, run.key)).toEqual(rowsThen);
      expect(intended.filter((one) => one.how === 'send')).toHaveLength(rowsThen.length);
    }
  });

  it('ten items are added side by side, and ten are deleted: all of them are sent', async () => {
    const run = await Run.begin(journals[0]!);
    const ten = Array.from({ length: 10 }, (_, index) => index + 1);
    const add10 = await Promise.all(ten.map((item) => intendAsOwner(run, journals[item % 4]!, add(item))));
    expect(new Set(how(add10))).toEqual(new Set(['send']));
    const undo10 = await Promise.all(ten.map((item) => intendAsOwner(run, journals[item % 4]!, remove(item, item))));
    expect(new Set(how(undo10))).toEqual(new Set(['send']));
  });

  it('a step is called first by one of many calls at the same moment', async () => {
    for (const run of await Promise.all(rounds.map(() => Run.begin(journals[0]!)))) {
      const { key, cursor } = run;
      const intent = { ...key, call: add(), run: run.run, cursor, inFlightMs, recall: true };
      const intended = await Promise.all(journals.map((journal) => journal.intend(intent)));
      expect(how(intended)).toEqual(['send', 'under-way', 'under-way', 'under-way']);
    }
  });

  it('an ending is written once, and told to whoever writes another one', async () => {
    for (const { run, key } of await Promise.all(rounds.map(() => Run.begin(journals[0]!)))) {
      const ending = { run, by: key.workflow, outcome: 'done' };
      const written = await Promise.all(journals.map((journal, report) => journal.ended(key, { ...ending, report })));
      expect(written.map((one) => one.how).sort()).toEqual(['ended', 'ended', 'ended', 'written']);
    }
  });

  it('a step is called first by one call, however each was decided', async () => {
    const [one, other] = [journals[1]!, journals[2]!];
    for (const { key } of await Promise.all(rounds.map(() => Run.begin(journals[0]!)))) {
      const run = new Run(other, key);
      await run.own();
      const intent = { ...key, call: add(), run: run.run, cursor: run.cursor, inFlightMs };
      let intended: Promise<Intended> | undefined;
      const decided = await one.inTransaction(async (tx) => {
        const decided = await intendLocked(tx, { ...intent, note: null, store: one }, randomUUID());
        intended = run.intend(add(), intent);
        return decided;
      });
      expect([decided.how, (await intended!).how]).toEqual(['send', 'under-way']);
    }
  });

  it('an order is decided after the delete that it waits for', async () => {
    const [one, other] = [journals[1]!, journals[2]!];
    for (const round of rounds) {
      const run = await Run.begin(journals[0]!);
      await run.adds(7 + round);
      const intent = { ...run.key, call: remove(7 + round), run: run.run, cursor: run.cursor, inFlightMs };
      let order: Promise<Intended> | undefined;
      await one.inTransaction(async (tx) => {
        await intendLocked(tx, { ...intent, note: null, store: one }, randomUUID());
        order = intendAsOwner(run, other, place(7 + round));
        await pause(20);
      });
      expect(await order!).toMatchObject({ how: 'changed' });
    }
  });

  it('a server is changed for one of two orders that name it', async () => {
    const [one, other] = [journals[1]!, journals[2]!];
    const [first, second] = [await Run.begin(one), await Run.begin(other)];
    const open = { vm_object_id: 0, firewalls: '[150]', seen_ms: 1, open_since_ms: 1 };
    await one.db
      .insertInto('server')
      .values({ ...second.key, ...open })
      .execute();
    const { key, run, cursor } = first;
    let change: Promise<Intended> | undefined;
    await one.inTransaction(async (tx) => {
      const intent = { call: assign, run, cursor, inFlightMs, note: null, store: one };
      await intendLocked(tx, { ...key, ...intent }, randomUUID());
      change = intendAsOwner(second, other, assign);
      await pause(50);
    });
    expect(await change!).toMatchObject({ how: 'changed' });
    expect(await effectsOf(one.db, second.key)).toEqual([]);
    const servers = one.db.selectFrom('server').select('vm_object_id').where('reference', '=', second.key.reference);
    expect(await servers.execute()).toEqual([{ vm_object_id: 0 }]);
  });

  it('a person is asked once about a new reference that many read after the journal was restored', async () => {
    await restored(journals[0]!, said);
    for (const { key, run } of rounds.map(() => new Run(journals[0]!))) {
      const reads = await Promise.all(journals.map((journal) => readState(journal, key, { run, inFlightMs })));
      const [row, ...others] = await effectsOf(journals[0]!.db, key);
      expect(others).toEqual([]);
      for (const { placement } of reads) expect(placement).toMatchObject({ how: 'unknown', row: row!.id });
    }
  });

  it.each<[string, Intended['how'], (tx: Tx, run: Run, store: Journal) => Promise<unknown>]>([
    [
      'an undo at its server',
      'under-way',
      (tx, { key, run, cursor }, store) => {
        const undo = { ...key, call: takeBackAssign, run, cursor, inFlightMs, note: null, store };
        return intendLocked(tx, undo, randomUUID());
      },
    ],
    [
      'a look that finds an older copy',
      'restored',
      (tx) => tx.updateTable('journal').set({ restored_ms: 1 }).execute(),
    ],
  ])('a first call is decided after %s, for which it waits', async (_, expected, happen) => {
    const [one, other] = [journals[1]!, journals[2]!];
    const run = await Run.begin(journals[0]!, 'setFirewalls');
    let call: Promise<Intended> | undefined;
    await one.inTransaction(async (tx) => {
      await lock(tx, run.key);
      await happen(tx, run, one);
      call = intendAsOwner(run, other, unassignOld);
      await pause(100);
    });
    expect(await call!).toMatchObject({ how: expected });
  });

  it('what came of two calls is kept, where the journal has lost their reference', async () => {
    const [one, other] = [journals[1]!, journals[2]!];
    const lost = await Promise.all(rounds.map(() => Run.begin(journals[0]!)));
    const sent = await Promise.all(lost.map(async (run) => [await run.send(add(1)), await run.send(add(2))]));
    for (const table of ['effect', 'reference'] as const) await one.db.deleteFrom(table).execute();
    await restoredAndTrusted(one);
    for (const [round, run] of lost.entries()) {
      const answers = [one, other].map((journal, index) => {
        const done = { answer: { cartItemId: 7 + index } };
        return run.on(journal).answer(add(index + 1), sent[round]![index]!, 'done', done);
      });
      expect(await Promise.all(answers)).toEqual(['written', 'written']);
      const items = (await effectsOf(one.db, run.key)).map((row) => row.cart_item_id);
      expect(items.sort()).toEqual([7, 8]);
    }
  });

  it('a person says “placed”, another one “not placed”: one of them is taken', async () => {
    for (const round of rounds) {
      const run = await Run.begin(journals[0]!);
      const { cursor } = await run.do(place(1), 'unknown');
      await letPass(journals[0]!);
      const [one, other] = [run.again(journals[1]), run.again(journals[2])];
      const decisions = [() => one.confirm(cursor.row), () => other.deny(cursor.row)];
      if (round % 2 === 0) decisions.reverse();
      await Promise.all(decisions.map((decide) => decide()));
      // A confirmation counts, whichever came first: the person has seen it.
      expect(await rowOf(journals[0]!, cursor.row)).toMatchObject({ outcome: 'done' });
    }
  });
});
