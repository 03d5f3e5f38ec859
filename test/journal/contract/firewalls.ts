import type { Journal } from '../../../src/journal/journal';
import type { TestDatabases } from '../databases';
import { assign, letPass, putBackOld, sharedJournal, rowOf, Run, takeBackAssign, unassignOld } from '../runs';

/** The old firewalls go only while the new ones protect the server. */
export function firewalls(databases: TestDatabases): void {
  let journal: Journal;
  sharedJournal(databases, (opened) => {
    journal = opened;
  });
  let run: Run;
  beforeEach(async () => {
    run = await Run.begin(journal);
  });

  const goOn = () => run.mean(unassignOld, { restsOn: ['assign-new'] });

  it('go when the new ones are assigned', async () => {
    await run.do(assign);
    expect(await goOn()).toMatchObject({ how: 'send' });
  });

  it('stay when the new ones were taken back, by whichever run', async () => {
    const { knows } = await run.do(assign);
    const other = run.again();
    const back = await other.do(takeBackAssign);
    expect(await rowOf(journal, knows.row)).toMatchObject({ outcome: 'undone', undone_by: back.knows.row });
    expect(await goOn()).toEqual({ how: 'undone', steps: ['assign-new'] });
  });

  it.each([null, 'unknown'] as const)('stay while taking back the new ones has the outcome %s', async (outcome) => {
    await run.do(assign);
    const back = await run.again().send(takeBackAssign);
    if (outcome !== null) await run.answer(takeBackAssign, back, outcome);
    expect(await goOn()).toEqual({ how: 'undone', steps: ['assign-new'] });
  });

  it('go when taking back the new ones was refused', async () => {
    await run.do(assign);
    await run.do(takeBackAssign, 'not-done');
    expect(await goOn()).toMatchObject({ how: 'send' });
  });

  it('go when the new ones were taken back and assigned again', async () => {
    await run.do(assign);
    await run.do(takeBackAssign);
    await run.do(assign);
    expect(await goOn()).toMatchObject({ how: 'send' });
  });

  it.each(['not-done', 'unknown', null] as const)(
    'stay when the new ones were taken back, and assigning them again has the outcome %s',
    async (outcome) => {
      await run.do(assign);
      await run.do(takeBackAssign);
      const again = await run.send(assign);
      if (outcome !== null) await run.answer(assign, again, outcome);
      expect(await goOn()).toEqual({ how: 'undone', steps: ['assign-new'] });
    },
  );

  it.each(['not-done', 'unknown', null] as const)(
    'go when the new ones are assigned, and assigning them once more has the outcome %s',
    async (outcome) => {
      await run.do(assign);
      const again = await run.again().send(assign);
      if (outcome !== null) await run.answer(assign, again, outcome);
      expect(await goOn()).toMatchObject({ how: 'send' });
    },
  );

  it('are marked as taken back also where nobody knew whether they had been assigned', async () => {
    const { knows } = await run.do(assign, 'unknown');
    const back = await run.do(takeBackAssign);
    expect(await rowOf(journal, knows.row)).toMatchObject({ outcome: 'undone', undone_by: back.knows.row });
  });

  describe('that are put back', () => {
    it('wait for the opposite call to the same server, while that may be in the air', async () => {
      const { knows } = await run.send(unassignOld);
      expect(await run.again().mean(putBackOld)).toMatchObject({ how: 'under-way', row: knows.row });
      await letPass(journal);
      expect(await run.again().mean(putBackOld)).toMatchObject({ how: 'send' });
    });

    it('go when the outcome of that call is known, if only as unknown', async () => {
      await run.do(unassignOld, 'unknown');
      expect(await run.again().mean(putBackOld)).toMatchObject({ how: 'send' });
    });

    it('do not wait for themselves, for another server, or for another saga', async () => {
      await run.send(putBackOld);
      await run.send({ ...unassignOld, about: { ...unassignOld.about, vmObjectId: 8 } });
      await (await Run.begin(journal)).send(unassignOld);
      expect(await run.again().mean(putBackOld)).toMatchObject({ how: 'send' });
    });
  });
}
