/** Items of the cart, beside the order and by themselves. */
import { effectsOf } from '../../../../src/journal/rows';
import { Run, add, inFlightMs, journal, letPass, place, remove, rowOf, run } from '../runs';

/** An item is not deleted under an order that names it, and an order names none that is gone, or is just going. */
export function cartItems(): void {
  beforeEach(() => run.adds(7));

  const send = { how: 'send' };
  const kinds = async () => (await effectsOf(journal.db, run.key)).map(({ kind }) => kind);

  it('whose id the provider gives again is another one: it is ordered, and deleted', async () => {
    await run.removes(7);
    await run.adds(7);
    await run.do(place(7), 'not-done');
    await run.removes(7);
    expect(await run.intend(place(7))).toMatchObject({ how: 'changed' });
    expect(await run.intend(remove(7))).toMatchObject({ how: 'recorded' });
  });

  describe('a delete', () => {
    it.each<[string, () => Promise<unknown>, object]>([
      ['was placed', () => run.do(place(6, 7)), { how: 'ordered', placed: true }],
      ['may have been placed', () => run.do(place(6, 7), 'unknown'), { how: 'ordered', placed: false }],
      ['may be in flight', () => run.send(place(7)), { how: 'under-way' }],
      ['nobody knows of', () => run.send(place(7)).then(() => letPass(journal)), { how: 'ordered', placed: false }],
      ['does not name it', () => run.do(place(8)), send],
      ['was refused', () => run.do(place(7), 'not-done'), send],
    ])('where the order %s', async (_, happen, expected) => {
      await happen();
      expect(await run.again().intend(remove(7))).toMatchObject(expected);
      // A refusal leaves no row.
      expect(await kinds()).toEqual(['mutate', 'pivot', ...(expected === send ? ['compensate'] : [])]);
    });

    it('is sent when a person has said that the order was not placed', async () => {
      await run.doInVain(place(7));
      await run.send(remove(7));
    });

    it('is sent again until it is known to be done, and then in no run', async () => {
      await run.do(remove(7), 'not-done');
      await run.do(remove(7), 'unknown');
      const { cursor } = await run.removes(7);
      const intended = await run.again().intend(remove(7));
      expect(intended).toMatchObject({ how: 'recorded', run: run.run, answer: null, cursor: { row: cursor.row } });
      expect(intended).toMatchObject({ at: new Date((await rowOf(journal, cursor.row))!.answered_ms!).toISOString() });
    });

    it('marks what it took away, and nothing else', async () => {
      const twin = await run.again().send(add(), { recall: false });
      await run.answer(add(), twin, 'done', { answer: { cartItemId: 8 } });
      const { cursor } = await run.removes(7);
      const rows = (await effectsOf(journal.db, run.key)).filter(({ kind }) => kind === 'mutate');
      expect(rows).toMatchObject([
        { cart_item_id: 7, outcome: 'undone', undone_by: cursor.row },
        { cart_item_id: 8, outcome: 'done', undone_by: null },
      ]);
    });
  });

  describe('an order', () => {
    it('is refused when an item of it was deleted, and names the step that made the item', async () => {
      await run.adds(8, 2);
      await run.removes(8, 2);
      expect(await run.again().intend(place(7, 8))).toEqual({ how: 'changed', why: 'add-item-2: undone since then' });
      expect(await kinds()).not.toContain('pivot');
    });

    it.each([null, 'unknown', 'not-done'] as const)(
      'is refused while the delete of an item has the outcome %s, unless it was refused',
      async (outcome) => {
        await run.again().do(remove(7), outcome);
        await letPass(journal);
        const why = 'add-item-1: undone since then';
        const expected = outcome === 'not-done' ? send : { how: 'changed', why };
        expect(await run.intend(place(7))).toMatchObject(expected);
      },
    );

    it('is sent with the item that was added anew, not with the old one', async () => {
      await run.removes(7);
      await run.adds(9);
      expect(await run.intend(place(7))).toMatchObject({ how: 'changed' });
      await run.send(place(9));
    });

    it('does not care for items of other references', async () => {
      const other = await Run.begin(journal);
      await other.adds(8);
      await other.removes(8);
      await run.send(place(7, 8));
    });

    it('is refused with an item whose id was given to another reference since, which is added again', async () => {
      const other = await Run.begin(journal);
      await other.adds(7);
      const why = `a cart item has the id of one of ${other.key.reference} by now`;
      expect(await run.intend(place(7))).toEqual({ how: 'changed', why });
      expect(await run.intend(add())).toMatchObject({ how: 'send', doubts: 1 });
      await other.send(place(7));
    });
  });
}

export function repeatableSteps(): void {
  it('gives the recorded answer of an item that was added, in every run, and sends nothing', async () => {
    const { cursor } = await run.adds(7);
    for (const later of [run, run.again()]) {
      const intended = await later.intend(add());
      const answer = { cartItemId: 7 };
      const recorded = { how: 'recorded', answer, run: run.run, cursor: { row: cursor.row }, doubts: 0 };
      expect(intended).toMatchObject(recorded);
    }
  });

  it('waits for an add that may be in flight, and then sends it once more and tells the doubt', async () => {
    const { cursor } = await run.send(add());
    await letPass(journal, 10_000);
    const waiting = await run.again().intend(add());
    expect(waiting).toMatchObject({ how: 'under-way', row: cursor.row });
    expect((waiting as { leftMs: number }).leftMs).toBeLessThanOrEqual(inFlightMs - 10_000);
    await letPass(journal, inFlightMs - 10_000);
    const { doubts } = await run.again().send(add());
    expect(doubts).toBe(1);
  });

  it('counts every doubt of the step, and tells them beside a recorded answer, too', async () => {
    await run.do(add(), 'unknown');
    // Its answer was lost: it cannot be in flight any more.
    expect(await run.do(add(), 'unknown')).toMatchObject({ doubts: 1 });
    await run.do(add(2), 'unknown');
    await run.do(add(), 'not-done');
    expect(await run.adds(7)).toMatchObject({ doubts: 2 });
    expect(await run.again().intend(add())).toMatchObject({ how: 'recorded', answer: { cartItemId: 7 }, doubts: 2 });
  });

  it('sends an add again when the item was deleted, and gives the new answer from then on', async () => {
    await run.adds(7);
    await run.removes(7);
    await run.adds(8);
    expect(await run.again().intend(add())).toMatchObject({ how: 'recorded', answer: { cartItemId: 8 } });
  });

  it.each([null, 'unknown'] as const)(
    'sends an add again after a delete of outcome %s, and tells that there may be two items',
    async (outcome) => {
      await run.adds(7);
      await run.do(remove(7), outcome);
      expect(await run.adds(8)).toMatchObject({ doubts: 1 });
      expect(await run.again().intend(add())).toMatchObject({ how: 'recorded', answer: { cartItemId: 8 }, doubts: 1 });
      await run.removes(7);
      expect(await run.again().intend(add())).toMatchObject({ how: 'recorded', answer: { cartItemId: 8 }, doubts: 0 });
    },
  );

  it('tells that there may be two items also where both adds are done by now', async () => {
    const first = await run.send(add());
    await letPass(journal);
    await run.adds(8);
    await run.answer(add(), first, 'done', { answer: { cartItemId: 7 } });
    expect(await run.again().intend(add())).toMatchObject({ how: 'recorded', answer: { cartItemId: 8 }, doubts: 1 });
  });

  it('does not send an add again when its delete was refused', async () => {
    await run.adds(7);
    await run.do(remove(7), 'not-done');
    expect(await run.intend(add())).toMatchObject({ how: 'recorded', answer: { cartItemId: 7 } });
  });
}
