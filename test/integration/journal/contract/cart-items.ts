import type { Journal } from '../../../../src/journal/journal';
import { effectsOf } from '../../../../src/journal/rows';
import type { TestDatabases } from '../databases';
import { add, letPass, sharedJournal, place, remove, rowOf, Run } from '../runs';

/**
 * An item is not deleted under an order that names it, and an order does not name an item that is gone, or is just
 * going.
 */
export function cartItems(databases: TestDatabases): void {
  let journal: Journal;
  sharedJournal(databases, (opened) => {
    journal = opened;
  });
  let run: Run;
  beforeEach(async () => {
    run = await Run.begin(journal);
    await run.adds(7);
  });

  const kinds = async () => (await effectsOf(journal.db, run.key)).map(({ kind }) => kind);

  it('whose id the provider gives again is another one: it is ordered, and deleted', async () => {
    await run.removes(7);
    await run.adds(7);
    await run.do(place(7), 'not-done');
    await run.removes(7);
    expect(await run.mean(place(7))).toMatchObject({ how: 'changed' });
    expect(await run.mean(remove(7))).toMatchObject({ how: 'recorded' });
  });

  describe('a delete', () => {
    it('is refused when an order with that item was placed', async () => {
      await run.do(place(6, 7));
      const meant = await run.again().mean(remove(7));
      expect(meant).toMatchObject({ how: 'ordered', placed: true, run: run.run });
    });

    it('is refused when an order with that item may have been placed', async () => {
      await run.do(place(6, 7), 'unknown');
      expect(await run.mean(remove(7))).toMatchObject({ how: 'ordered', placed: false });
    });

    it('waits for an order with that item that may be in flight, and is refused when nobody knows of it', async () => {
      const { knows } = await run.send(place(7));
      expect(await run.again().mean(remove(7))).toMatchObject({ how: 'under-way', row: knows.row });
      await letPass(journal);
      expect(await run.again().mean(remove(7))).toMatchObject({ how: 'ordered', placed: false });
      expect(await kinds()).toEqual(['mutate', 'pivot']);
    });

    it('is sent when the order does not name that item', async () => {
      await run.adds(8, 2);
      await run.do(place(7));
      await run.send(remove(8, 2));
    });

    it('is sent when there is no order, or it was refused', async () => {
      await run.do(place(7), 'not-done');
      await run.removes(7);
    });

    it('is sent when a person has said that the order was not placed', async () => {
      const { knows } = await run.do(place(7), 'unknown');
      await letPass(journal);
      await run.deny(knows.row);
      await run.send(remove(7));
    });

    it('is sent again until it is known to be done', async () => {
      await run.do(remove(7), 'not-done');
      await run.do(remove(7), 'unknown');
      await run.send(remove(7));
    });

    it('is not sent again for an item that is known to be gone, in any run', async () => {
      const { knows } = await run.removes(7);
      const meant = await run.again().mean(remove(7));
      expect(meant).toMatchObject({ how: 'recorded', run: run.run, answer: null, knows });
      expect(meant).toMatchObject({ at: new Date((await rowOf(journal, knows.row))!.answered_ms!).toISOString() });
    });

    it('marks what it took away, and nothing else', async () => {
      const twin = await run.again().send(add(), { recall: false });
      await run.answer(add(), twin, 'done', { cartItemId: 8 });
      const { knows } = await run.removes(7);
      const rows = (await effectsOf(journal.db, run.key)).filter(({ kind }) => kind === 'mutate');
      expect(rows).toMatchObject([
        { cart_item_id: 7, outcome: 'undone', undone_by: knows.row },
        { cart_item_id: 8, outcome: 'done', undone_by: null },
      ]);
    });
  });

  describe('an order', () => {
    it('is refused when an item of it was deleted, and names the step that made the item', async () => {
      await run.adds(8, 2);
      await run.removes(8, 2);
      expect(await run.again().mean(place(7, 8))).toEqual({ how: 'changed', why: 'add-item-2: undone since then' });
      expect(await kinds()).not.toContain('pivot');
    });

    it.each([null, 'unknown'] as const)(
      'is refused while the delete of an item has the outcome %s',
      async (outcome) => {
        const deleting = await run.again().send(remove(7));
        if (outcome !== null) await run.answer(remove(7), deleting, outcome);
        await letPass(journal);
        expect(await run.mean(place(7))).toEqual({ how: 'changed', why: 'add-item-1: undone since then' });
      },
    );

    it('is sent when the delete of an item was refused', async () => {
      await run.do(remove(7), 'not-done');
      await run.send(place(7));
    });

    it('is sent with the item that was added anew, not with the old one', async () => {
      await run.removes(7);
      await run.adds(9);
      expect(await run.mean(place(7))).toMatchObject({ how: 'changed' });
      await run.send(place(9));
    });

    it('does not care for items of other references', async () => {
      const other = await Run.begin(journal);
      await other.adds(8);
      await other.removes(8);
      await run.send(place(7, 8));
    });
  });
}
