import { inFlightMs, journal, letPass, place, rowOf, run } from '../runs';

export function pivots(): void {
  it('is written down before it is sent', async () => {
    const { knows, doubts } = await run.send(place(11, 12));
    expect(doubts).toBe(0);
    const row = await rowOf(journal, knows.row);
    expect(row).toMatchObject({
      ...run.key,
      ...{ step: 'place-order', kind: 'pivot', activity: 'placeOrder', run: run.run },
      ...{
        outcome: null,
        answer: null,
        answered_ms: null,
        decided: null,
        in_flight_ms: inFlightMs,
        epoch: knows.epoch,
      },
    });
    expect(JSON.parse(row!.about)).toEqual({ cartItems: [11, 12] });
    expect(Math.abs(row!.meant_ms - Date.now())).toBeLessThan(60_000);
  });

  it('gives the recorded answer to every later run, and sends nothing', async () => {
    const { knows } = await run.do(place(1), 'done', { answer: { how: 'answered', value: { order: 5 } } });
    for (const later of [run, run.again(), run.again()]) {
      const meant = await later.mean(place(1));
      expect(meant).toMatchObject({ how: 'recorded', run: run.run, answer: { how: 'answered', value: { order: 5 } } });
      expect(meant).toMatchObject({ knows, doubts: 0 });
    }
  });

  it('gives the recorded answer whatever the step is called, and whatever it would order now', async () => {
    await run.do(place(1), 'done', { answer: 'placed' });
    const other = { ...place(2, 3), step: 'place-order-again' };
    expect(await run.again().mean(other)).toMatchObject({ how: 'recorded', answer: 'placed' });
  });

  it('is under way while the first call may be in flight', async () => {
    const { knows } = await run.send(place(1));
    await letPass(journal, 20_000);
    const meant = await run.again().mean(place(1));
    expect(meant).toMatchObject({ how: 'under-way', row: knows.row });
    const { leftMs } = meant as { leftMs: number };
    expect(leftMs).toBeLessThanOrEqual(inFlightMs - 20_000);
    expect(leftMs).toBeGreaterThan(0);
  });

  it('is in flight for as long as whoever meant it said, not as whoever asks now does', async () => {
    await run.send(place(1), { inFlightMs: 90_000 });
    await letPass(journal, 60_000);
    expect(await run.again().mean(place(1), { inFlightMs: 10 })).toMatchObject({ how: 'under-way' });
  });

  it('is unknown when nobody has written what came of it, and names the row to ask about', async () => {
    const { knows } = await run.send(place(1));
    await letPass(journal);
    const meant = await run.again().mean(place(1));
    expect(meant).toMatchObject({
      how: 'unknown',
      row: knows.row,
      run: run.run,
      inFlightMs,
      leftMs: 0,
      restored: false,
    });
    expect(Date.parse((meant as { at: string }).at)).toBe((await rowOf(journal, knows.row))!.meant_ms);
  });

  it('is unknown at once when its answer was lost, and says for how long it may be in flight', async () => {
    const { knows } = await run.do(place(1), 'unknown', { failure: 'UnknownOutcome' });
    const meant = await run.again().mean(place(1));
    expect(meant).toMatchObject({ how: 'unknown', row: knows.row, restored: false });
    expect((meant as { leftMs: number }).leftMs).toBeGreaterThan(0);
    expect(await run.mean(place(1))).toMatchObject({ how: 'unknown', row: knows.row });
  });
}
