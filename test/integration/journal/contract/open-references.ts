import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { begin as beginOf, close, closeToRuns, openReferences } from '../../../../src/journal/open-references';
import { recordOf } from '../../../../src/journal/record';
import { closeByRun } from '../../../../src/journal/rows';
import { add, journal, place, remove, Run, run, takeBackAssign } from '../runs';

export function openOnes(): void {
  /** Those of this test. */
  let begun: Run[];
  beforeEach(() => {
    begun = [];
  });

  const begin = async () => {
    const run = new Run(journal, { workflow: 'setFirewalls', reference: randomUUID() });
    await journal.take(run.key, { account: undefined, request: {}, run: run.run, opens: true });
    begun.push(run);
    return run;
  };
  const clean = async (run: Run) => {
    await closeToRuns(journal, run.key);
    await run.end('done', { run: 'clean', by: 'cleanCart' });
  };
  const foundOnes = async (limit = 10) => {
    const all = [];
    for (let slice = await openReferences(journal, undefined, limit); slice.length > 0;) {
      all.push(...slice);
      slice = await openReferences(journal, slice.at(-1), limit);
    }
    return all.filter(({ reference }) => begun.some(({ key }) => key.reference === reference));
  };
  const found = async (limit?: number) => (await foundOnes(limit)).map(({ reference }) => reference);
  const references = (runs: readonly Run[]) => runs.map(({ key }) => key.reference).sort();

  it('are those that were taken and have no ending, slice by slice', async () => {
    const runs = [await begin(), await begin(), await begin(), await begin()];
    expect(await found(1)).toEqual(references(runs));
    expect(await found(4)).toEqual(references(runs));
    for (const { firstRun, firstSeenAt } of await foundOnes()) {
      expect(runs.map((one) => one.run)).toContain(firstRun);
      expect(Date.parse(firstSeenAt)).toBeGreaterThan(0);
    }
    const [first, ...others] = runs;
    await first!.end();
    expect(await found(2)).toEqual(references(others));
  });

  it('stay open after a clean-up that did not put all in order, whose end is kept', async () => {
    const run = await begin();
    await run.end('partly', { run: 'clean', by: 'cleanCart', keepOpen: true });
    expect(await found()).toEqual(references([run]));
    const endings = await journal.db
      .selectFrom('ending')
      .select('run')
      .where('reference', '=', run.key.reference)
      .execute();
    expect(endings).toEqual([{ run: 'clean' }]);
  });

  it('are open again where another run goes on', async () => {
    const run = await begin();
    await run.end();
    expect(await found()).toEqual([]);
    const again = run.again();
    await again.own();
    expect(await found()).toEqual(references([run]));
    expect(await recordOf(journal, run.key)).toMatchObject({ state: 'open' });
    await again.end();
    expect(await found()).toEqual([]);
    expect(await recordOf(journal, run.key)).toMatchObject({ state: 'done' });
  });

  it('stay open where a later run begins before the ending', async () => {
    const run = await begin();
    const later = run.again();
    await later.own();
    // Late, and then once more, as its activity is tried again.
    for (const one of [run, run]) await one.end();
    expect(await found()).toEqual(references([run]));
    expect(await recordOf(journal, run.key)).toMatchObject({ state: 'open' });
    await later.end();
    expect(await found()).toEqual([]);
  });

  it('are closed by a run that has not begun itself, and stay open where a later one begins', async () => {
    const run = await begin();
    const [second, third] = [run.again(), run.again()];
    await second.end();
    expect(await found()).toEqual([]);
    await third.own();
    for (const one of [run, second]) await one.end();
    expect(await found()).toEqual(references([run]));
    await third.end();
    expect(await found()).toEqual([]);
  });

  describe('that have ended stay ended', () => {
    const isOwned = async (run: Run, isReset: boolean) => (await run.own(undefined, isReset)) !== undefined;

    it('for a second start, and for a run that was seen, by a reset or not', async () => {
      const run = await begin();
      await run.end();
      expect(await isOwned(run.again(), false)).toBe(false);
      for (const isReset of [false, true]) expect(await isOwned(run, isReset)).toBe(false);
      expect(await found()).toEqual([]);
    });

    it('and the last ending is told', async () => {
      const run = await begin();
      await run.end();
      const { key } = run;
      const told = await beginOf(journal, key, { run: randomUUID() });
      expect(told).toMatchObject({ how: 'ended', run: run.run, ending: expect.anything() as unknown });
    });

    it('also for one that begins while the ending is being written', async () => {
      const run = await begin();
      const { key } = run;
      let closed!: () => void;
      let commit!: () => void;
      const isClosed = new Promise<void>((done) => (closed = done));
      const mayCommit = new Promise<void>((done) => (commit = done));
      const ending = journal.inTransaction(async (tx) => {
        await closeByRun(tx, key, run);
        const said = { ended_by: key.workflow, outcome: 'done', report: await journal.sealing.seal({}) };
        await tx
          .insertInto('ending')
          .values({ ...key, ...said, run: run.run, ended_ms: Date.now(), resource: null, word: null })
          .execute();
        closed();
        await mayCommit;
      });
      await isClosed;
      const begun = beginOf(journal, key, { run: randomUUID() });
      await pause(200);
      commit();
      await ending;
      await expect(begun).resolves.toMatchObject({ how: 'ended' });
    });

    it('until a run that was reset, and never seen, goes on: then for no run', async () => {
      const run = await begin();
      await run.end();
      expect(await isOwned(run.again(), true)).toBe(true);
      expect(await isOwned(run.again(), false)).toBe(true);
    });

    it('but not where a clean-up has closed them', async () => {
      const run = await begin();
      await clean(run);
      expect(await found()).toEqual([]);
      expect(await isOwned(run.again(), false)).toBe(true);
    });

    it('but not where a later run was lost, and a clean-up has closed them', async () => {
      const run = await begin();
      await run.end();
      await run.again().own();
      await clean(run);
      expect(await found()).toEqual([]);
      expect(await isOwned(run.again(), false)).toBe(true);
    });

    it('but not where something was learnt of the pivot since', async () => {
      await run.answer(place(), await run.send(place()), 'done');
      await run.end();
      expect(await isOwned(run.again(), false)).toBe(false);
      await journal.cancelled(run.key, { note: 'seen' });
      expect(await isOwned(run.again(), false)).toBe(true);
    });
  });

  describe('are owned by one begin', () => {
    const renewed = (run: Run, more: object = {}) => ({ epoch: run.knows!.epoch, begun: run.knows!.begun, ...more });
    const meant = { how: 'send' };
    const refused = { how: 'not-owned' };
    let run: Run;
    beforeEach(async () => {
      run = await begin();
      await run.own();
    });

    it('and only its calls are meant, by one statement or by several', async () => {
      const before = run.knows;
      expect(await run.mean(add(), { isOwn: true })).toMatchObject(meant);
      expect(await run.mean(place(), { isOwn: true })).toMatchObject(meant);
      await run.again().own();
      for (const call of [add(2), place(), remove(5)])
        expect(await run.mean(call, { isOwn: true, knows: before })).toEqual(refused);
    });

    it('which may renew itself, also twice, and then the number of before is nobody’s', async () => {
      const before = run.knows;
      const begun = await run.own(renewed(run));
      expect(begun).toBe(before!.begun! + 1);
      expect(await run.own({ ...before! })).toBe(begun);
      expect(await run.mean(add(), { isOwn: true, knows: before })).toEqual(refused);
      expect(await run.mean(add(2), { isOwn: true })).toMatchObject(meant);
    });

    it('in whichever run of those that know it, until another one begins', async () => {
      const { knows } = run;
      const reset = run.again();
      expect(await reset.own({ ...knows! })).toBeDefined();
      expect(await run.own({ ...knows! })).toBeUndefined();
      await run.again().own();
      expect(await reset.own(renewed(reset))).toBeUndefined();
    });

    it('and who undoes is not renewed by what it undoes, also where Temporal is restored to before it', async () => {
      const { knows } = run;
      expect(await run.own(renewed(run, { undoes: true }))).toBeDefined();
      expect(await run.own({ ...knows! })).toBeUndefined();
    });

    it('who undoes may ask again, too: the answer may be lost', async () => {
      const { knows } = run;
      const begun = await run.own(renewed(run, { undoes: true }));
      expect(await run.own({ ...knows!, undoes: true, again: true })).toBe(begun);
      expect(await run.mean(takeBackAssign, { isOwn: true })).toMatchObject(meant);
      expect(await run.own({ ...knows!, undoes: true })).toBeUndefined();
      expect(await run.again().own({ ...knows!, undoes: true, again: true })).toBeUndefined();
      await run.again().own();
      expect(await run.own({ ...knows!, undoes: true, again: true })).toBeUndefined();
    });

    it('of one epoch: begins are counted anew after a journal was restored', async () => {
      const { knows } = run;
      expect(await run.own({ ...knows!, epoch: knows!.epoch - 1 })).toBeUndefined();
      expect(await run.mean(add(), { isOwn: true, knows: { ...knows!, epoch: knows!.epoch - 1 } })).not.toMatchObject(
        meant,
      );
    });
  });

  it('are closed by a clean-up, but not where a run has begun since it saw that none runs', async () => {
    const lost = [await begin(), await begin()];
    for (const { key } of lost) await closeToRuns(journal, key);
    const again = lost[0]!.again();
    await again.own();
    for (const one of lost) await one.end('done', { run: 'clean', by: 'cleanCart' });
    expect(await found()).toEqual(references([again]));
  });

  it('are closed, but not where anything was done since they were read', async () => {
    const run = await begin();
    const [one] = await foundOnes();
    await close(journal, { ...one!, touchedMs: one!.touchedMs - 1 });
    expect(await found()).toEqual(references([run]));
    await close(journal, one!);
    expect(await found()).toEqual([]);
  });
}
