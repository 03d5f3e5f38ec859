import { referenceOf } from '../../../../src/journal/rows';
import { journal, place, Run, run } from '../runs';

export function references(): void {
  it('takes a reference that is seen for the first time', async () => {
    const run = new Run(journal);
    const { first, knows } = await run.take({ label: 'web-1' }, 'AB-1');
    expect(first).toBeUndefined();
    const { id, epoch } = await journal.db.selectFrom('journal').selectAll().executeTakeFirstOrThrow();
    expect(knows).toEqual({ journal: id, epoch });
    const row = await referenceOf(journal.db, run.key);
    expect(row).toMatchObject({ ...run.key, account: 'AB-1', first_run: run.run, epoch });
    expect(Math.abs(row!.first_seen_ms - Date.now())).toBeLessThan(60_000);
  });

  it('knows it for ever, with the request and the run that took it first', async () => {
    const run = new Run(journal);
    await run.take({ label: 'web-1', items: [1, { deep: 'ä' }] });
    const { first } = await run.again().take({ label: 'web-2' });
    expect(first).toMatchObject({ run: run.run, request: { label: 'web-1', items: [1, { deep: 'ä' }] } });
    expect(new Date(first!.at).toISOString()).toBe(first!.at);
    const third = await run.again().take({ label: 'web-3' });
    expect(third.first).toEqual(first);
  });

  it('fills in the first request where only effects of the reference were known', async () => {
    const run = new Run(journal);
    await run.send(place(1));
    const { first } = await run.again().take({ label: 'web-1' }, 'AB-1');
    expect(first).toMatchObject({ run: run.run, request: { label: 'web-1' } });
    const { first: second } = await run.again().take({ label: 'web-2' }, 'AB-2');
    expect(second).toEqual(first);
    const row = await referenceOf(journal.db, run.key);
    expect(row!.account).toBe('AB-1');
  });

  describe('endings', () => {
    const endings = ({ key }: Run) =>
      journal.db.selectFrom('ending').selectAll().where('reference', '=', key.reference).orderBy('ended_ms').execute();

    it('keeps how each run ended', async () => {
      await run.end('cancelled', { report: { report: 'first' } });
      const reset = run.again();
      await reset.end('done', { isReset: true, report: { report: 'second' } });
      const [first, second] = await endings(run);
      expect(first).toMatchObject({ ...run.key, run: run.run, outcome: 'cancelled' });
      expect(second).toMatchObject({ ...run.key, run: reset.run, outcome: 'done' });
      await expect(journal.unseal(second!.report, 'the report')).resolves.toEqual({ report: 'second' });
    });

    it.each([
      ['the same run', (run: Run) => run, undefined],
      ['the same run that came from a reset', (run: Run) => run, true],
      ['a second start', (run: Run) => run.again(), undefined],
    ])('keeps the one that was told: %s is answered with it', async (_, other, isReset) => {
      const run = await Run.begin(journal);
      const end = (one: Run, report: number) => one.end(`${report}`, { isReset, report: { report } });
      await expect(end(run, 1)).resolves.toEqual({ how: 'written', next: undefined });
      await expect(end(other(run), 2)).resolves.toMatchObject({ how: 'ended', run: run.run, ending: { report: 1 } });
      expect(await endings(run)).toMatchObject([{ run: run.run, outcome: '1' }]);
    });

    it('keeps none for a reference that it does not know', async () => {
      const run = new Run(journal);
      await run.end();
      expect(await endings(run)).toEqual([]);
    });
  });
}
