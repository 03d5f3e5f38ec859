import { add, inFlightMs, journal, letPass, remove, run } from '../runs';

export function repeatableSteps(): void {
  it('gives the recorded answer of an item that was added, in every run, and sends nothing', async () => {
    const { knows } = await run.adds(7);
    for (const later of [run, run.again()]) {
      const meant = await later.mean(add());
      expect(meant).toMatchObject({ how: 'recorded', answer: { cartItemId: 7 }, run: run.run, knows, doubts: 0 });
    }
  });

  it('waits for an add that may be in flight, and then sends it once more and tells the doubt', async () => {
    const { knows } = await run.send(add());
    await letPass(journal, 10_000);
    const waiting = await run.again().mean(add());
    expect(waiting).toMatchObject({ how: 'under-way', row: knows.row });
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
    expect(await run.again().mean(add())).toMatchObject({ how: 'recorded', answer: { cartItemId: 7 }, doubts: 2 });
  });

  it('sends an add again when the item was deleted, and gives the new answer from then on', async () => {
    await run.adds(7);
    await run.removes(7);
    const again = await run.send(add());
    await run.answer(add(), again, 'done', { answer: { cartItemId: 8 }, cartItemId: 8 });
    expect(await run.again().mean(add())).toMatchObject({ how: 'recorded', answer: { cartItemId: 8 } });
  });

  it.each([null, 'unknown'] as const)(
    'sends an add again while its delete has the outcome %s, and tells that the first item may be there as well',
    async (outcome) => {
      await run.adds(7);
      const deleting = await run.send(remove(7));
      if (outcome !== null) await run.answer(remove(7), deleting, outcome);
      const again = await run.send(add());
      expect(again).toMatchObject({ doubts: 1 });
      await run.answer(add(), again, 'done', { answer: { cartItemId: 8 }, cartItemId: 8 });
      expect(await run.again().mean(add())).toMatchObject({ how: 'recorded', answer: { cartItemId: 8 }, doubts: 1 });
      await run.removes(7);
      expect(await run.again().mean(add())).toMatchObject({ how: 'recorded', answer: { cartItemId: 8 }, doubts: 0 });
    },
  );

  it('tells that there may be two items also where both adds are done by now', async () => {
    const first = await run.send(add());
    await letPass(journal);
    await run.adds(8);
    await run.answer(add(), first, 'done', { answer: { cartItemId: 7 }, cartItemId: 7 });
    expect(await run.again().mean(add())).toMatchObject({ how: 'recorded', answer: { cartItemId: 8 }, doubts: 1 });
  });

  it('does not send an add again when its delete was refused', async () => {
    await run.adds(7);
    await run.do(remove(7), 'not-done');
    expect(await run.mean(add())).toMatchObject({ how: 'recorded', answer: { cartItemId: 7 } });
  });
}
