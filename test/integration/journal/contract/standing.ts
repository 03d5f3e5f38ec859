import { standingOf } from '../../../../src/journal/standing';
import { inFlightMs, journal, letPass, place, Run, run } from '../runs';

export function standing(): void {
  const stands = () => standingOf(journal, run.key, { inFlightMs: 60_000 });
  const from = { journal: expect.any(String) as string, epoch: expect.any(Number) as number };
  const nothing = { from, items: [], perhapsOrdered: [], doubtfulAdds: [], assigned: [] };

  it('is unknown for a reference that was never taken', async () => {
    const { key } = new Run(journal);
    expect(await standingOf(journal, key, { inFlightMs: 60_000 })).toEqual({
      known: false,
      placement: { how: 'none' },
      ...nothing,
    });
  });

  it('is under way while the order may be in flight, and then unknown', async () => {
    await run.adds(7);
    await run.adds(8, 2);
    const { knows } = await run.send(place(7));
    const underWay = await stands();
    expect(underWay).toMatchObject({
      placement: { how: 'under-way' },
      items: [{ cartItemId: 8 }],
      perhapsOrdered: [{ cartItemId: 7 }],
    });
    expect((underWay.placement as { leftMs: number }).leftMs).toBeGreaterThan(0);
    await letPass(journal);
    expect(await stands()).toMatchObject({
      placement: { how: 'unknown', row: knows.row, run: run.run, inFlightMs, restored: false },
      perhapsOrdered: [{ cartItemId: 7 }],
    });
  });

  it('tells what a person confirmed', async () => {
    const { knows } = await run.do(place(7), 'unknown');
    await run.confirm(knows.row, { how: 'confirmed', orderId: '5' });
    expect(await stands()).toMatchObject({ placement: { how: 'placed', placed: { how: 'confirmed', orderId: '5' } } });
  });
}
