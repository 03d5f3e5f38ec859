import type { Journal } from '../../../../src/journal/journal';
import { standingOf } from '../../../../src/journal/standing';
import type { TestDatabases } from '../databases';
import { add, assign, inFlightMs, letPass, sharedJournal, place, remove, Run, takeBackAssign } from '../runs';

export function standing(databases: TestDatabases): void {
  let journal: Journal;
  sharedJournal(databases, (opened) => {
    journal = opened;
  });
  let run: Run;
  beforeEach(async () => {
    run = await Run.begin(journal);
  });

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

  it('is empty for one that has done nothing yet, or nothing that lasts', async () => {
    expect(await stands()).toEqual({ known: true, placement: { how: 'none' }, ...nothing });
    await run.do(place(1), 'not-done');
    await run.do(add(), 'not-done');
    await run.adds(7);
    await run.removes(7);
    await run.do(assign);
    await run.do(takeBackAssign);
    expect(await stands()).toEqual({ known: true, placement: { how: 'none' }, ...nothing });
  });

  it('has the firewalls that are assigned', async () => {
    await run.do(assign);
    expect(await stands()).toMatchObject({ assigned: [{ vmObjectId: 7, firewalls: [150] }] });
  });

  it('has what is in the cart', async () => {
    await run.adds(7);
    await run.again().adds(8, 2);
    await run.do(remove(7), 'unknown');
    expect(await stands()).toMatchObject({
      placement: { how: 'none' },
      items: [
        { cartItemId: 7, step: 'add-item-1' },
        { cartItemId: 8, step: 'add-item-2' },
      ],
    });
  });

  it('has the numbers of the items of which nobody knows whether they were added', async () => {
    await run.do(add(3), 'unknown');
    await run.send(add(5));
    await run.adds(7);
    expect(await stands()).toMatchObject({ items: [{ cartItemId: 7 }], doubtfulAdds: [3, 5] });
  });

  it('has what was placed, and what is left of the cart', async () => {
    await run.adds(7);
    await run.adds(8, 2);
    await run.do(place(7), 'done', { answer: { how: 'answered', value: 5 } });
    expect(await stands()).toMatchObject({
      placement: { how: 'placed', run: run.run, placed: { value: 5 } },
      items: [{ cartItemId: 8 }],
      perhapsOrdered: [],
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

  it('is unknown at once when the answer was lost, and free when a person has denied it', async () => {
    await run.adds(7);
    const { knows } = await run.do(place(7), 'unknown');
    expect(await stands()).toMatchObject({ placement: { how: 'unknown', row: knows.row }, items: [] });
    await letPass(journal);
    await run.deny(knows.row);
    expect(await stands()).toMatchObject({
      placement: { how: 'none' },
      items: [{ cartItemId: 7 }],
      perhapsOrdered: [],
    });
  });

  it('tells what a person confirmed', async () => {
    const { knows } = await run.do(place(7), 'unknown');
    await run.confirm(knows.row, { how: 'confirmed', orderId: '5' });
    expect(await stands()).toMatchObject({ placement: { how: 'placed', placed: { how: 'confirmed', orderId: '5' } } });
  });
}
