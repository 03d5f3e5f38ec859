/** A journal that was restored, and rows that it lost. */
import type { JournalCursor } from '../../../../src/domain/effects';
import { writeByHand } from '../../../../src/journal/by-hand';
import { nothingLost, restored, trustNewReferences } from '../../../../src/journal/restore/confirm-restore';
import { endedSagas, readState } from '../../../../src/journal/read-state';
import { recordOf } from '../../../../src/journal/views/record';
import { effectsOf } from '../../../../src/journal/rows';
import { restoredAndTrusted, said } from '../../../support/operator';
import {
  Run,
  add,
  assign,
  dayMs,
  inFlightMs,
  journal,
  journalRow,
  letPass,
  place,
  remove,
  rowOf,
  run,
  unassignOld,
  type Sent,
} from '../runs';

export function restoredJournal(): void {
  describe('is seen by a saga that ends: nobody says that nothing was placed', () => {
    const stands = (run: Run, cursor = run.cursor) => readState(journal, run.key, { cursor, inFlightMs });

    it('by what its history knows and the journal lacks', async () => {
      const { cursor } = await run.send(place(7));
      await journal.db.deleteFrom('effect').where('id', '=', cursor.row).execute();
      expect(await stands(run)).toMatchObject({
        placement: { how: 'restored', why: expect.stringMatching(/older copy/) },
      });
      expect((await journalRow(journal)).restored_ms).not.toBeNull();
    });

    it('by whoever has found it out before', async () => {
      await (await Run.begin(journal)).intend(place(1), { cursor: { ...run.cursor!, row: 'lost' } });
      expect(await stands(run, undefined)).toMatchObject({ placement: { how: 'restored' } });
    });

    it('and after the confirmation it is in doubt, as a row of its own, until a person has answered', async () => {
      await restoredAndTrusted(journal);
      const first = await stands(run, undefined);
      expect(first).toMatchObject({ placement: { how: 'unknown', restored: true, inFlightMs } });
      const { row } = first.placement as { row: string };
      expect(await stands(run)).toEqual(first);
      expect(await recordOf(journal, run.key)).toMatchObject({ placement: 'unknown' });
      await letPass(journal);
      expect(await run.deny(row)).toEqual({ how: 'denied' });
      expect(await stands(run)).toMatchObject({ placement: { how: 'none' } });
      expect(await recordOf(journal, run.key)).toMatchObject({ placement: 'none' });
    });
  });

  it('makes an ending count no more: another run of the reference begins, and asks', async () => {
    const other = await Run.begin(journal);
    await run.end('reversed');
    const begins = async () => (await run.again().own(undefined, false)) !== undefined;
    expect(await begins()).toBe(false);
    await other.intend(place(1), { cursor: { ...run.cursor!, row: 'lost' } });
    expect(await begins()).toBe(true);
    await run.end('reversed');
    await restoredAndTrusted(journal);
    expect(await begins()).toBe(true);
  });

  it('lets an ending count that was told after it, once a person has said what became of the lost time', async () => {
    const first = await Run.begin(journal);
    const begins = async () => (await first.again().own(undefined, false)) !== undefined;
    await first.end('reversed');
    await restoredAndTrusted(journal);
    const second = first.again();
    await second.own(undefined, false);
    const asked = await second.asks(place());
    await second.end('reversed');
    expect(await begins()).toBe(true);
    await letPass(journal);
    await first.deny(asked);
    const third = first.again();
    await third.own(undefined, false);
    await third.end('reversed');
    expect(await begins()).toBe(false);
    await restoredAndTrusted(journal);
    expect(await begins()).toBe(true);
  });

  it('tells no ending on another database, until a person has said what became of the old one', async () => {
    await run.end('reversed');
    const again = () => journal.begin(run.key, { run: run.again().run });
    await expect(again()).resolves.toMatchObject({ how: 'ended' });
    await journal.db.updateTable('journal').set({ identity: 'another/00000001' }).execute();
    await expect(again()).resolves.toMatchObject({ how: 'restored' });
    await nothingLost(journal, said);
    await expect(again()).resolves.toMatchObject({ how: 'ended' });
  });

  it('keeps nothing that a person has done by hand, before somebody has seen to it', async () => {
    const say = () =>
      writeByHand(journal, run.key, {
        calls: [assign],
        run: run.run,
        verdict: { by: 'ann', note: 'seen' },
        cursor: run.cursor,
      });
    await run.intend(place(1), { cursor: { ...run.cursor!, row: 'lost' } });
    await expect(say()).resolves.toMatchObject({ how: 'restored', why: expect.stringMatching(/older copy/) });
    expect(await effectsOf(journal.db, run.key)).toEqual([]);
    await restoredAndTrusted(journal);
    await expect(say()).resolves.toMatchObject({ how: 'written' });
  });

  describe('is found out by what a history knows and the journal lacks', () => {
    const lacking: Record<string, (run: Run) => Promise<JournalCursor>> = {
      'a row': async ({ cursor }) => ({ ...cursor!, row: 'lost' }),
      'the reference': async ({ cursor, key }) => {
        await journal.db.deleteFrom('reference').where('reference', '=', key.reference).execute();
        return cursor!;
      },
      'a greater epoch': async ({ cursor }) => ({ ...cursor!, epoch: cursor!.epoch + 1 }),
      'another journal': async ({ cursor }) => ({ ...cursor!, journal: 'another' }),
    };

    it.each(Object.keys(lacking))('%s: nothing is sent any more, by whichever saga', async (what) => {
      const other = await Run.begin(journal);
      await other.adds(7);
      await other.do(assign);
      const before = await journal.db.selectFrom('effect').selectAll().execute();

      const cursor = await lacking[what]!(run);
      const intended = await run.intend(place(1), { cursor });
      expect(intended).toMatchObject({ how: 'restored', why: expect.stringMatching(/journal/) });
      expect(Math.abs((await journalRow(journal)).restored_ms! - Date.now())).toBeLessThan(60_000);

      const stopped = [place(7), add(2), remove(7), assign, unassignOld];
      for (const call of stopped) {
        expect(await other.intend(call)).toMatchObject({ how: 'restored' });
        expect(await new Run(journal).intend(call)).toMatchObject({ how: 'restored' });
      }
      expect(await journal.db.selectFrom('effect').selectAll().execute()).toEqual(before);
    });
  });

  describe('goes on after `restored`', () => {
    it('and asks about the pivot of a reference from before, once', async () => {
      await run.intend(place(1), { cursor: { ...run.cursor!, row: 'lost' } });
      await restoredAndTrusted(journal);

      const row = await run.asks(place(1));
      // The same question for everybody who asks.
      for (const one of [run, run.again()])
        expect(await one.intend(place(1))).toMatchObject({ how: 'unknown', row, restored: true, inFlightMs });

      expect(await run.deny(row)).toMatchObject({ how: 'in-flight' });
      await letPass(journal);
      expect(await run.deny(row)).toEqual({ how: 'denied' });
      await run.do(place(1), 'not-done');
      await run.send(place(1));
    });

    it('and takes “not placed” only when the time has passed since the command, however old the row is', async () => {
      const { cursor } = await run.do(place(1), 'unknown');
      await letPass(journal, dayMs);
      await restoredAndTrusted(journal);
      const refused = await run.deny(cursor.row);
      expect(refused).toMatchObject({ how: 'in-flight' });
      expect((refused as { leftMs: number }).leftMs).toBeGreaterThan(inFlightMs - 30_000);
      expect(await run.intend(place(1))).toMatchObject({ how: 'unknown', row: cursor.row, restored: false });
      await letPass(journal);
      expect(await run.deny(cursor.row)).toEqual({ how: 'denied' });
      // The lost time may have had another one.
      expect(await run.intend(place(1))).toMatchObject({ how: 'unknown', restored: true });
    });

    it('and deletes nothing that an order of the lost time may name, until a person has answered', async () => {
      await run.adds(7);
      await restoredAndTrusted(journal);
      expect(await run.intend(remove(7))).toMatchObject({ how: 'ordered', placed: false, run: run.run });
      const row = await run.asks(place(8));
      expect(await run.intend(remove(7))).toMatchObject({ how: 'ordered', placed: false });
      await letPass(journal);
      await run.deny(row);
      await run.send(remove(7));
    });

    it('and deletes no item of before when the order of the lost time was placed, whichever items that named', async () => {
      await run.adds(7);
      await run.adds(8, 2);
      await restoredAndTrusted(journal);
      await run.confirm(await run.asks(place(7)), { how: 'confirmed', orderId: '5' });
      expect(await run.again().intend(place(7))).toMatchObject({ how: 'recorded', answer: { orderId: '5' } });
      expect(await run.intend(remove(8, 2))).toMatchObject({ how: 'ordered', placed: true });
    });

    it('and stops no saga that goes on, nor one that comes back with what it knew before', async () => {
      const back = run.again();
      back.cursor = { ...run.cursor!, row: 'lost' };
      await restoredAndTrusted(journal);
      for (let step = 1; step < 4; step += 1) await run.do(add(step));
      await back.send(add(9));
      expect(await journalRow(journal)).toMatchObject({ restored_ms: null });
    });

    it('and asks once more when it is restored once more', async () => {
      await restoredAndTrusted(journal);
      const first = await run.asks(place(1));
      await letPass(journal);
      await run.deny(first);
      await restoredAndTrusted(journal);
      expect(await run.asks(place(1))).not.toBe(first);
    });
  });

  describe('and references that are seen for the first time after it', () => {
    it('are asked about, where the operator wants that', async () => {
      await restored(journal, said);
      expect(await journalRow(journal)).toMatchObject({ doubts_new: 1 });
      const run = await Run.begin(journal);
      const doubt = await run.asks(place(1));
      expect(await run.intend(place(1))).toMatchObject({ row: doubt, restored: true });
      await letPass(journal);
      await run.deny(doubt);
      await run.send(place(1));
      // They are sent again when the operator trusts them, which is said once.
      await expect(trustNewReferences(journal, said)).resolves.toBe(true);
      await (await Run.begin(journal)).send(place(1));
      await expect(trustNewReferences(journal, said)).resolves.toBe(false);
    });

    it('are in doubt as well where their saga ends before it has taken them, then and later', async () => {
      await restored(journal, said);
      const run = new Run(journal);
      const stands = (asking: { run?: string } = { run: run.run }) =>
        readState(journal, run.key, { inFlightMs, ...asking });
      expect(await stands({})).toMatchObject({ known: false, placement: { how: 'none' } });
      const first = await stands();
      expect(first).toMatchObject({ placement: { how: 'unknown', restored: true, inFlightMs } });
      expect(await stands()).toMatchObject({ placement: first.placement });
      expect(await journal.isTaken(run.key)).toBe(false);
      await trustNewReferences(journal, said);
      expect((await run.take()).first).toMatchObject({ request: { label: 'web-1' } });
      const { row } = first.placement as { row: string };
      expect(await run.intend(place(1))).toMatchObject({ how: 'unknown', row, restored: true });
    });
  });
}

/** A row that a call or a question is about is gone: the journal was restored to a copy from before it. */
export function lostRows(): void {
  const lose = async ({ cursor }: Sent) => {
    await journal.db.deleteFrom('effect').where('id', '=', cursor.row).execute();
  };
  const effects = () => effectsOf(journal.db, run.key);
  const isRestored = async () => (await journalRow(journal)).restored_ms !== null;

  describe('while the call was under way', () => {
    it.each(['done', 'unknown'] as const)('is written again, as %s, and the journal is found out', async (outcome) => {
      const intended = await run.send(place(1, 2));
      await lose(intended);
      await run.answer(place(1, 2), intended, outcome, { answer: { order: 5 } });
      const row = await rowOf(journal, intended.cursor.row);
      expect(row).toMatchObject({ ...run.key, kind: 'pivot', step: 'place-order', run: run.run, outcome });
      expect(JSON.parse(row!.about)).toEqual({ cartItems: [1, 2] });
      await expect(journal.unseal(row!.answer!, 'the answer')).resolves.toEqual({ order: 5 });
      expect(await isRestored()).toBe(true);
    });

    it('stands where a sweep finds it, also where its reference is gone', async () => {
      const { key, ...other } = new Run(journal, run.key);
      const lost = await run.send(add());
      await lose(lost);
      await journal.db.deleteFrom('reference').where('reference', '=', key.reference).execute();
      expect(other.cursor).toBeUndefined();
      await run.answer(add(), lost, 'done', { answer: { cartItemId: 7 } });
      const { sagas } = await endedSagas(journal, { days: 1, after: undefined, limit: 10 });
      expect(sagas).toMatchObject([{ ...key, cartItems: [7] }]);
    });

    it('marks what it took back, when it took something back', async () => {
      const added = await run.adds(7);
      const intended = await run.send(remove(7));
      await lose(intended);
      await run.answer(remove(7), intended, 'done');
      expect(await rowOf(journal, added.cursor.row)).toMatchObject({
        outcome: 'undone',
        undone_by: intended.cursor.row,
      });
    });

    it('is nothing where nothing was done: a row that was perhaps never written is no sign of an older copy', async () => {
      const { cursor } = run;
      const never = { how: 'send', cursor: { ...cursor!, row: 'never-committed' }, doubts: 0 } as const;
      await expect(run.answer(place(1), never, 'not-done', { failure: 'JournalUnavailable' })).resolves.toBe('written');
      expect(await effects()).toEqual([]);
      expect(await isRestored()).toBe(false);
      await run.send(place(1));
    });
  });

  describe('while a doubt of the lost time stands for it', () => {
    /** The doubt's row. */
    const doubted = async (intended: Sent): Promise<string> => {
      await lose(intended);
      await restoredAndTrusted(journal);
      return run.again().asks(place(1));
    };

    it('is what the doubt was about, when it was placed', async () => {
      const intended = await run.send(place(1));
      const doubt = await doubted(intended);
      // Written once more, because the answer of the first time was lost.
      for (const _ of ['first', 'second']) {
        await expect(run.answer(place(1), intended, 'done', { answer: { order: 5 } })).resolves.toBe('written');
        expect(await run.again().intend(place(1))).toMatchObject({ how: 'recorded', answer: { order: 5 } });
      }
      expect(await rowOf(journal, doubt)).toMatchObject({ outcome: 'done' });
    });

    it('is late when the doubt was denied: both are kept, and nothing is sent again', async () => {
      const intended = await run.send(place(1));
      const doubt = await doubted(intended);
      await letPass(journal);
      await run.deny(doubt);
      const answered = () => run.answer(place(1), intended, 'done', { answer: { order: 5 } });
      await expect(answered()).resolves.toBe('late');
      await expect(answered()).resolves.toBe('late');
      expect(await rowOf(journal, doubt)).toMatchObject({ outcome: 'denied' });
      expect(await rowOf(journal, intended.cursor.row)).toMatchObject({ outcome: 'done' });
      expect(await run.again().intend(place(1))).toMatchObject({ how: 'recorded', answer: { order: 5 } });
    });
  });

  it('does not complete another call that was intended meanwhile: both are told', async () => {
    const first = await run.send(place(1));
    await lose(first);
    const other = run.again();
    const second = await other.send(place(1));
    await expect(run.answer(place(1), first, 'done', { answer: 'the first' })).resolves.toBe('late');
    const row = await rowOf(journal, second.cursor.row);
    expect(row).toMatchObject({ outcome: null });
    await expect(journal.unseal(row!.late!, 'what came late')).resolves.toBe('the first');

    await expect(other.answer(place(1), second, 'done', { answer: 'the second' })).resolves.toBe('written');
    const both = await rowOf(journal, second.cursor.row);
    await expect(journal.unseal(both!.answer!, 'the answer')).resolves.toBe('the second');
    await expect(journal.unseal(both!.late!, 'what came late')).resolves.toBe('the first');
  });

  describe('while a person looked', () => {
    it('keeps that it was placed, for every later run, and the journal is found out', async () => {
      const intended = await run.do(place(1), 'unknown');
      await lose(intended);
      await expect(run.confirm(intended.cursor.row, { how: 'confirmed', orderId: '5' })).resolves.toBe('done');
      expect(await isRestored()).toBe(true);
      await restoredAndTrusted(journal);
      const later = await run.again().intend(place(1));
      expect(later).toMatchObject({ how: 'recorded', answer: { how: 'confirmed', orderId: '5' } });
      // Nobody knows which items it named.
      expect(await run.again().intend(remove(7))).toMatchObject({ how: 'ordered', placed: true });
    });

    it('takes “not placed” for no reason to send, and the journal is found out', async () => {
      const { cursor } = run;
      const intended = await run.do(place(1), 'unknown');
      await lose(intended);
      await run.deny(intended.cursor.row);
      expect(await isRestored()).toBe(true);
      expect(await run.intend(place(1), { cursor })).toMatchObject({ how: 'restored' });
    });
  });
}
