import { assign, journal, letPass, place, rowOf, run, takeBackAssign } from '../runs';

export function answers(): void {
  const read = async (row: string) => {
    const found = await rowOf(journal, row);
    return { ...found, answer: await journal.unseal(found!.answer!, 'the answer') };
  };

  const outcomes = ['done', 'not-done', 'unknown'] as const;
  const pairs = outcomes.flatMap((first) => outcomes.map((second) => [first, second] as const));
  it.each(pairs)(
    'complete a row as %s, with what was said; of %s, written later, what is news counts',
    async (...two) => {
      const [first, second] = two;
      const meant = await run.do(place(1), first, { failure: 'Refused', answer: 1 });
      const before = await read(meant.knows.row);
      expect(before).toMatchObject({ outcome: first, failure: 'Refused', answer: 1, late: null, decided: null });
      expect(before.answered_ms).toBeGreaterThanOrEqual(before.meant_ms!);

      const isLate = first === 'not-done' && second === 'done';
      const isNews = isLate || (first === 'unknown' && second !== 'unknown');
      await expect(run.answer(place(1), meant, second, { answer: 2 })).resolves.toBe(isLate ? 'late' : 'written');
      expect(await read(meant.knows.row)).toMatchObject(isNews ? { outcome: second, failure: null } : before);
      if (isNews && !isLate) expect(await read(meant.knows.row)).toMatchObject({ answer: 2 });
    },
  );

  it('count when they come late, beside the denial: it is not sent again', async () => {
    const meant = await run.do(place(1), 'unknown');
    await letPass(journal);
    await run.deny(meant.knows.row);
    const before = await rowOf(journal, meant.knows.row);
    for (const outcome of ['not-done', 'unknown'] as const) {
      await expect(run.answer(place(1), meant, outcome)).resolves.toBe('written');
    }
    expect(await rowOf(journal, meant.knows.row)).toEqual(before);

    await expect(run.answer(place(1), meant, 'done', { answer: { order: 5 } })).resolves.toBe('late');
    const row = await rowOf(journal, meant.knows.row);
    const { late, decided, outcome } = row!;
    expect({ decided, outcome }).toEqual({ decided: before!.decided, outcome: 'done' });
    await expect(journal.unseal(late!, 'what came late')).resolves.toEqual({ order: 5 });
    expect(await run.again().mean(place(1))).toMatchObject({ how: 'recorded', answer: { order: 5 } });
  });

  it('only stand beside the denial where it was sent again meanwhile', async () => {
    const meant = await run.send(place(1));
    await letPass(journal);
    await run.deny(meant.knows.row);
    const second = await run.again().send(place(1));
    await expect(run.answer(place(1), meant, 'done')).resolves.toBe('late');
    expect(await rowOf(journal, meant.knows.row)).toMatchObject({ outcome: 'denied' });
    expect(await rowOf(journal, second.knows.row)).toMatchObject({ outcome: null });
  });

  it('are not late when they are written once more and the effect was taken back in between', async () => {
    const meant = await run.do(assign);
    await run.do(takeBackAssign);
    const before = await rowOf(journal, meant.knows.row);
    expect(before).toMatchObject({ outcome: 'undone' });
    await expect(run.answer(assign, meant, 'done')).resolves.toBe('written');
    expect(await rowOf(journal, meant.knows.row)).toEqual(before);
  });

  it('mark nothing as taken back unless taking it back is done', async () => {
    const meant = await run.do(assign);
    for (const outcome of ['not-done', 'unknown'] as const) await run.do(takeBackAssign, outcome);
    expect(await rowOf(journal, meant.knows.row)).toMatchObject({ outcome: 'done', undone_by: null });
  });
}
