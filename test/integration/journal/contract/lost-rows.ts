import { restored } from '../../../../src/journal/confirm-restore';
import { endedSagas } from '../../../../src/journal/left-behind';
import { effectsOf } from '../../../../src/journal/rows';
import { add, journal, journalRow, letPass, place, remove, rowOf, Run, run, type Sent } from '../runs';
import { said } from '../../../support/operator';

/** A row that a call or a question is about is gone: the journal was restored to a copy from before it. */
export function lostRows(): void {
  const lose = async ({ knows }: Sent) => {
    await journal.db.deleteFrom('effect').where('id', '=', knows.row).execute();
  };
  const effects = () => effectsOf(journal.db, run.key);
  const isRestored = async () => (await journalRow(journal)).restored_ms !== null;

  describe('while the call was under way', () => {
    it.each(['done', 'unknown'] as const)('is written again, as %s, and the journal is found out', async (outcome) => {
      const meant = await run.send(place(1, 2));
      await lose(meant);
      await run.answer(place(1, 2), meant, outcome, { answer: { order: 5 } });
      const row = await rowOf(journal, meant.knows.row);
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
      expect(other.knows).toBeUndefined();
      await run.answer(add(), lost, 'done', { cartItemId: 7 });
      const { sagas } = await endedSagas(journal, { days: 1, after: undefined, limit: 10 });
      expect(sagas).toMatchObject([{ ...key, cartItems: [7] }]);
    });

    it('marks what it took back, when it took something back', async () => {
      const added = await run.adds(7);
      const meant = await run.send(remove(7));
      await lose(meant);
      await run.answer(remove(7), meant, 'done');
      expect(await rowOf(journal, added.knows.row)).toMatchObject({ outcome: 'undone', undone_by: meant.knows.row });
    });

    it('is nothing where nothing was done: a row that was perhaps never written is no sign of an older copy', async () => {
      const { knows } = run;
      const never = { how: 'send', knows: { ...knows!, row: 'never-committed' }, doubts: 0 } as const;
      await expect(run.answer(place(1), never, 'not-done', { failure: 'JournalUnavailable' })).resolves.toBe('written');
      expect(await effects()).toEqual([]);
      expect(await isRestored()).toBe(false);
      await run.send(place(1));
    });
  });

  describe('while a doubt of the lost time stands for it', () => {
    /** The doubt's row. */
    const doubted = async (meant: Sent): Promise<string> => {
      await lose(meant);
      await restored(journal, 'trust', said);
      const doubt = await run.again().mean(place(1));
      expect(doubt).toMatchObject({ how: 'unknown', restored: true });
      return (doubt as { row: string }).row;
    };

    it('is what the doubt was about, when it was placed', async () => {
      const meant = await run.send(place(1));
      const doubt = await doubted(meant);
      await expect(run.answer(place(1), meant, 'done', { answer: { order: 5 } })).resolves.toBe('written');
      expect(await rowOf(journal, doubt)).toMatchObject({ outcome: 'done' });
      expect(await run.again().mean(place(1))).toMatchObject({ how: 'recorded', answer: { order: 5 } });
      // Written once more, because the answer of the first time was lost.
      await run.answer(place(1), meant, 'done', { answer: { order: 5 } });
      expect(await run.again().mean(place(1))).toMatchObject({ how: 'recorded', answer: { order: 5 } });
    });

    it('is late when the doubt was denied: both are kept, and nothing is sent again', async () => {
      const meant = await run.send(place(1));
      const doubt = await doubted(meant);
      await letPass(journal);
      await run.deny(doubt);
      const answered = () => run.answer(place(1), meant, 'done', { answer: { order: 5 } });
      await expect(answered()).resolves.toBe('late');
      await expect(answered()).resolves.toBe('late');
      expect(await rowOf(journal, doubt)).toMatchObject({ outcome: 'denied' });
      expect(await rowOf(journal, meant.knows.row)).toMatchObject({ outcome: 'done' });
      expect(await run.again().mean(place(1))).toMatchObject({ how: 'recorded', answer: { order: 5 } });
    });
  });

  it('does not complete another call that was meant meanwhile: both are told', async () => {
    const first = await run.send(place(1));
    await lose(first);
    const other = run.again();
    const second = await other.send(place(1));
    await expect(run.answer(place(1), first, 'done', { answer: 'the first' })).resolves.toBe('late');
    const row = await rowOf(journal, second.knows.row);
    expect(row).toMatchObject({ outcome: null });
    await expect(journal.unseal(row!.late!, 'what came late')).resolves.toBe('the first');

    await expect(other.answer(place(1), second, 'done', { answer: 'the second' })).resolves.toBe('written');
    const both = await rowOf(journal, second.knows.row);
    await expect(journal.unseal(both!.answer!, 'the answer')).resolves.toBe('the second');
    await expect(journal.unseal(both!.late!, 'what came late')).resolves.toBe('the first');
  });

  describe('while a person looked', () => {
    it('keeps that it was placed, for every later run, and the journal is found out', async () => {
      const meant = await run.do(place(1), 'unknown');
      await lose(meant);
      await expect(run.confirm(meant.knows.row, { how: 'confirmed', orderId: '5' })).resolves.toBe('done');
      expect(await isRestored()).toBe(true);
      await restored(journal, 'trust', said);
      const later = await run.again().mean(place(1));
      expect(later).toMatchObject({ how: 'recorded', answer: { how: 'confirmed', orderId: '5' } });
      // Nobody knows which items it named.
      expect(await run.again().mean(remove(7))).toMatchObject({ how: 'ordered', placed: true });
    });

    it('takes “not placed” for no reason to send, and the journal is found out', async () => {
      const { knows } = run;
      const meant = await run.do(place(1), 'unknown');
      await lose(meant);
      await run.deny(meant.knows.row);
      expect(await isRestored()).toBe(true);
      expect(await run.mean(place(1), { knows })).toMatchObject({ how: 'restored' });
    });
  });
}
