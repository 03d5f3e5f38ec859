import { effectsOf } from '../../../../src/journal/rows';
import { inFlightMs, journal, letPass, place, rowOf, run, type Sent } from '../runs';

export function decisions(): void {
  const unsealed = (sealed: string | null | undefined) => journal.unseal(sealed!, 'it');

  describe('“placed”', () => {
    const placed = { how: 'confirmed', vmObjectIds: [1] };

    const earlier: Record<string, () => Promise<Sent>> = {
      'whose answer was lost': () => run.do(place(1), 'unknown'),
      'of which nobody wrote what came of it': () => run.send(place(1)),
      'that was denied': async () => {
        const meant = await run.do(place(1), 'unknown');
        await letPass(journal);
        await run.deny(meant.knows.row);
        return meant;
      },
    };
    it.each(Object.keys(earlier))('completes a pivot %s, for every later run', async (which) => {
      const { knows } = await earlier[which]!();
      await expect(run.confirm(knows.row, placed, 'in the panel')).resolves.toBe('done');
      const row = await rowOf(journal, knows.row);
      expect(row).toMatchObject({ outcome: 'done' });
      expect(Math.abs(row!.decided_ms! - Date.now())).toBeLessThan(60_000);
      await expect(unsealed(row!.decided)).resolves.toEqual({ note: 'in the panel' });
      expect(await run.again().mean(place(1))).toMatchObject({ how: 'recorded', answer: placed });
    });

    it('is also what a look found, without a person', async () => {
      const { knows } = await run.do(place(1), 'unknown');
      await letPass(journal, 1_000);
      await journal.confirm(run.key, knows.row, { how: 'found', vmObjectIds: [1] }, undefined);
      expect(await rowOf(journal, knows.row)).toMatchObject({ outcome: 'done', decided: null, decided_ms: null });
      expect(await run.mean(place(1))).toMatchObject({ how: 'recorded', answer: { how: 'found', vmObjectIds: [1] } });
    });

    it('changes nothing of a pivot that is known to be done', async () => {
      const { knows } = await run.do(place(1), 'done', { answer: 'the first' });
      const before = await rowOf(journal, knows.row);
      await expect(run.confirm(knows.row, placed)).resolves.toBe('done');
      expect(await rowOf(journal, knows.row)).toEqual(before);
    });

    it.each([null, 'unknown', 'done'] as const)(
      'is superseded when it was denied, and is meant again with the outcome %s',
      async (outcome) => {
        const { knows } = await earlier['that was denied']!();
        const second = await run.again().send(place(1));
        if (outcome !== null) await run.answer(place(1), second, outcome);
        const before = await effectsOf(journal.db, run.key);
        await expect(run.confirm(knows.row, placed)).resolves.toBe('superseded');
        expect(await effectsOf(journal.db, run.key)).toEqual(before);
      },
    );
  });

  describe('“not placed”', () => {
    it.each([null, 'unknown'] as const)(
      'is refused, with the time that is left, while a pivot of outcome %s may be in flight',
      async (outcome) => {
        const meant = await run.send(place(1));
        if (outcome !== null) await run.answer(place(1), meant, outcome);
        await letPass(journal, inFlightMs - 5_000);
        const before = await rowOf(journal, meant.knows.row);
        const refused = await run.deny(meant.knows.row);
        expect(refused).toMatchObject({ how: 'in-flight' });
        expect((refused as { leftMs: number }).leftMs).toBeLessThanOrEqual(5_000);
        expect((refused as { leftMs: number }).leftMs).toBeGreaterThan(0);
        expect(await rowOf(journal, meant.knows.row)).toEqual(before);

        await letPass(journal, 5_000);
        await expect(run.deny(meant.knows.row)).resolves.toEqual({ how: 'denied' });
        const row = await rowOf(journal, meant.knows.row);
        expect(row).toMatchObject({ outcome: 'denied' });
        await expect(unsealed(row!.decided)).resolves.toEqual({ by: 'ops', note: 'looked' });
      },
    );

    it('is counted for its own row: one that was meant later has its own time', async () => {
      const first = await run.do(place(1), 'unknown');
      await letPass(journal);
      await run.deny(first.knows.row);
      const second = await run.do(place(1), 'unknown');
      await expect(run.deny(first.knows.row)).resolves.toEqual({ how: 'denied' });
      await expect(run.deny(second.knows.row)).resolves.toMatchObject({ how: 'in-flight' });
      expect(await rowOf(journal, second.knows.row)).toMatchObject({ outcome: 'unknown' });
    });

    it('keeps who said it first', async () => {
      const { knows } = await run.do(place(1), 'unknown');
      await letPass(journal);
      await run.deny(knows.row, 'the first look');
      const before = await rowOf(journal, knows.row);
      await expect(run.deny(knows.row, 'the second look')).resolves.toEqual({ how: 'denied' });
      expect(await rowOf(journal, knows.row)).toEqual(before);
    });

    it('is told that it was placed, where that is known by now', async () => {
      const { knows } = await run.do(place(1), 'done', { answer: 'placed' });
      await letPass(journal);
      await expect(run.deny(knows.row)).resolves.toEqual({ how: 'done' });
      expect(await run.mean(place(1))).toMatchObject({ how: 'recorded', answer: 'placed' });
    });
  });
}
