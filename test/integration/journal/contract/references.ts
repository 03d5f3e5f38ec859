/** Who has a reference, how its saga stands, and which are open. */
import { closeByRun } from '../../../../src/journal/acquire';
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import { close, openSagas } from '../../../../src/journal/views/open-references';
import { recordOf } from '../../../../src/journal/views/record';
import { insertReference, referenceOf } from '../../../../src/journal/rows';
import { readState } from '../../../../src/journal/read-state';
import { numbersTo } from '../databases';
import { Run, add, inFlightMs, journal, letPass, place, remove, run, type Sent } from '../runs';

export function references(): void {
  it('takes a reference that is seen for the first time', async () => {
    const run = new Run(journal);
    const { first, cursor } = await run.take({ label: 'web-1' }, 'AB-1');
    expect(first).toBeUndefined();
    const { id, epoch } = await journal.db.selectFrom('journal').selectAll().executeTakeFirstOrThrow();
    expect(cursor).toEqual({ journal: id, epoch, fence: 1 });
    const row = await referenceOf(journal.db, run.key);
    expect(row).toMatchObject({ ...run.key, account: 'AB-1', first_run: run.run, epoch });
    expect(Math.abs(row!.first_seen_ms - Date.now())).toBeLessThan(60_000);
  });

  it.each([
    ['that took it first', (run: Run, request: object) => run.take(request, 'AB-1')],
    // The journal was restored, and an answer came before the reference was taken again: the request is filled in.
    [
      'whose effects alone were known',
      ({ key, run }: Run) => journal.inTransaction((tx) => insertReference(tx, key, run, 0)),
    ],
  ])('knows it for ever, with its first request and the run %s', async (_, happen) => {
    const run = new Run(journal);
    const request = { label: 'web-1', items: [1, { deep: 'ä' }] };
    await happen(run, request);
    const { first } = await run.again().take(request, 'AB-1');
    expect(first).toMatchObject({ run: run.run, request });
    expect(new Date(first!.at).toISOString()).toBe(first!.at);
    expect((await run.again().take({ label: 'web-2' }, 'AB-2')).first).toEqual(first);
    expect(await referenceOf(journal.db, run.key)).toMatchObject({ account: 'AB-1' });
  });

  describe('endings', () => {
    it('keeps how each run ended', async () => {
      await run.end('cancelled', { report: { report: 'first' } });
      const reset = run.again();
      await reset.end('done', { isReset: true, report: { report: 'second' } });
      const [first, second] = await endingsOf(run);
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
      expect(await endingsOf(run)).toMatchObject([{ run: run.run, outcome: '1' }]);
    });

    it('takes the same word of a run again, whose answer was lost', async () => {
      const ends = (one: Run) => one.end('done', { report: { report: 'done', left: [1] } });
      await ends(run);
      await expect(ends(run)).resolves.toEqual({ how: 'written', next: undefined });
      await expect(ends(run.again())).resolves.toMatchObject({ how: 'ended' });
      expect(await endingsOf(run)).toHaveLength(1);
    });

    it('keeps none for a reference that it does not know', async () => {
      const run = new Run(journal);
      await run.end();
      expect(await endingsOf(run)).toEqual([]);
    });
  });
}

const endingsOf = ({ key }: Run) =>
  journal.db.selectFrom('ending').selectAll().where('reference', '=', key.reference).orderBy('ended_ms').execute();

export function standing(): void {
  const stands = () => readState(journal, run.key, { inFlightMs });
  const from = { journal: expect.any(String) as string, epoch: expect.any(Number) as number };
  const nothing = { from, items: [], perhapsOrdered: [], doubtfulAdds: [], assigned: [] };

  it('is unknown for a reference that was never taken', async () => {
    const { key } = new Run(journal);
    const placement = { how: 'none' };
    expect(await readState(journal, key, { inFlightMs })).toEqual({ known: false, placement, ...nothing });
  });

  it('is under way while the order may be in flight, and then unknown', async () => {
    await run.adds(7);
    await run.adds(8, 2);
    const { cursor } = await run.send(place(7));
    const underWay = await stands();
    expect(underWay).toMatchObject({
      placement: { how: 'under-way' },
      items: [{ cartItemId: 8 }],
      perhapsOrdered: [{ cartItemId: 7 }],
    });
    expect((underWay.placement as { leftMs: number }).leftMs).toBeGreaterThan(0);
    await letPass(journal);
    expect(await stands()).toMatchObject({
      placement: { how: 'unknown', row: cursor.row, run: run.run, inFlightMs, restored: false },
      perhapsOrdered: [{ cartItemId: 7 }],
    });
  });

  it('tells what a person confirmed', async () => {
    const { cursor } = await run.do(place(7), 'unknown');
    await run.confirm(cursor.row, { how: 'confirmed', orderId: '5' });
    expect(await stands()).toMatchObject({ placement: { how: 'placed', placed: { how: 'confirmed', orderId: '5' } } });
  });

  it('is known among ten thousand rows, and so is what may be sent', async () => {
    const { workflow, reference } = run.key;
    await sql`insert into effect (id, workflow, reference, step, kind, activity, run, about, cart_item_id, epoch, intended_ms,
        in_flight_ms, outcome, answer)
      select ${reference} || n, ${workflow}, ${reference}, 'add-item-' || n, 'mutate', 'addCartItem', ${run.run}, '{}', n, 0, 0, 0,
        'done', 'null' from (${numbersTo(journal.db, 10_000)}) as numbers`.execute(journal.db);
    expect((await stands()).items).toHaveLength(10_000);
    await run.own();
    await run.do(remove(9_999, 9_999));
    await run.do(add(10_001));
    expect(await run.intend(place(9_999))).toMatchObject({ how: 'changed' });
    await run.do(place(1, 10_000));
    expect((await stands()).items).toHaveLength(9_997);
    expect(await run.intend(remove(1))).toMatchObject({ how: 'ordered' });
    expect((await recordOf(journal, run.key))?.effects).toHaveLength(10_003);
    expect(await run.end()).toMatchObject({ how: 'written' });
  });
}

export function openOnes(): void {
  /** Those of this test. */
  let begun: Run[];
  beforeEach(() => {
    begun = [];
  });

  const begin = async () => {
    const run = await Run.begin(journal, 'setFirewalls');
    begun.push(run);
    return run;
  };
  const beginCleanUp = ({ key }: Run) => journal.begin(key, { run: 'clean', cleans: true });
  const clean = async (run: Run) => {
    await beginCleanUp(run);
    await run.end('done', { run: 'clean', by: 'cleanCart' });
  };
  const foundOnes = async (limit = 10) => {
    const all = [];
    const lookUp = () => Promise.resolve(new Map());
    for (let after, slice = await openSagas(journal, lookUp, { after, limit }); ;) {
      all.push(...slice.sagas);
      if ((after = slice.last) === undefined) break;
      slice = await openSagas(journal, lookUp, { after, limit });
    }
    return all.filter(({ reference }) => begun.some(({ key }) => key.reference === reference));
  };
  const found = async (limit?: number) => (await foundOnes(limit)).map(({ reference }) => reference);
  const references = (runs: readonly Run[]) => runs.map(({ key }) => key.reference).sort();

  it('are those that were taken and have no ending, slice by slice', async () => {
    const runs = [await begin(), await begin(), await begin(), await begin()];
    for (const limit of [1, 4]) expect(await found(limit)).toEqual(references(runs));
    for (const { firstSeenAt } of await foundOnes()) expect(Date.parse(firstSeenAt)).toBeGreaterThan(0);
    const [first, ...others] = runs;
    await first!.end();
    expect(await found(2)).toEqual(references(others));
  });

  it('stay open after a clean-up that did not put all in order, whose end is kept', async () => {
    const run = await begin();
    await run.end('partly', { run: 'clean', by: 'cleanCart', keepOpen: true });
    expect(await found()).toEqual(references([run]));
    expect(await endingsOf(run)).toMatchObject([{ run: 'clean' }]);
  });

  it.each<[string, first: (run: Run, second: Run) => Run[], late: (run: Run, second: Run) => Run[]]>([
    ['another run goes on after the ending', (run) => [run], () => []],
    // Late, and then once more, as its activity is tried again.
    ['a later run begins before the ending', () => [], (run) => [run, run]],
    ['a later run begins after one that has not begun itself', (_, second) => [second], (...two) => two],
  ])('are open again, or still, where %s, until that one ends', async (_, first, late) => {
    const run = await begin();
    const [second, later] = [run.again(), run.again()];
    for (const one of first(run, second)) await one.end();
    expect(await found()).toEqual(references(first(run, second).length > 0 ? [] : [run]));
    await later.own();
    for (const one of late(run, second)) await one.end();
    expect(await found()).toEqual(references([run]));
    expect(await recordOf(journal, run.key)).toMatchObject({ state: 'open' });
    await later.end();
    expect(await found()).toEqual([]);
    expect(await recordOf(journal, run.key)).toMatchObject({ state: 'done' });
  });

  describe('that have ended stay ended', () => {
    const isOwned = async (run: Run, isReset: boolean) => (await run.own(undefined, isReset)) !== undefined;

    it('for a second start, which is told the last ending, and for a run that was seen, by a reset or not', async () => {
      const run = await begin();
      await run.end();
      const told = await journal.begin(run.key, { run: randomUUID() });
      expect(told).toMatchObject({ how: 'ended', run: run.run, ending: expect.anything() as unknown });
      for (const isReset of [false, true]) expect(await isOwned(run, isReset)).toBe(false);
      expect(await found()).toEqual([]);
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
          .values({ ...key, ...said, run: run.run, ended_ms: Date.now(), resource: null, wanted: null })
          .execute();
        closed();
        await mayCommit;
      });
      await isClosed;
      const begun = journal.begin(key, { run: randomUUID() });
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

    it.each([false, true])('but not where a clean-up has closed them (a later run was lost: %s)', async (isLost) => {
      const run = await begin();
      if (isLost) {
        await run.end();
        await run.again().own();
      }
      await clean(run);
      expect(await found()).toEqual([]);
      expect(await isOwned(run.again(), false)).toBe(true);
    });

    it.each(['answered', 'decided'])('also where the clock went back since the pivot was %s', async (how) => {
      await (how === 'answered' ? run.do(place(), 'not-done') : run.doInVain(place()));
      const ahead = { answered_ms: sql<number>`answered_ms + 60000`, decided_ms: sql<number>`decided_ms + 60000` };
      await journal.db.updateTable('effect').set(ahead).where('reference', '=', run.key.reference).execute();
      await run.end('failed');
      expect(await isOwned(run.again(), false)).toBe(false);
    });

    const said = { by: 'ann', note: 'seen' };
    const inFlight = () => run.send(place());
    const placedTwice = async () => {
      const first = await run.doInVain(place());
      await run.do(place());
      await run.answer(place(), first, 'done');
      return first;
    };
    it.each<[string, () => Promise<Sent>, (row: string, sent: Sent) => Promise<unknown>]>([
      ['its answer, that it was refused', inFlight, (_, sent) => run.answer(place(), sent, 'not-done')],
      ['its answer, which nobody understands', inFlight, (_, sent) => run.answer(place(), sent, 'unknown')],
      ['that it was not placed', inFlight, (row) => letPass(journal).then(() => run.deny(row))],
      ['that it was placed', inFlight, (row) => run.confirm(row)],
      ['that it was cancelled', () => run.do(place()), () => journal.cancelled(run.key, said)],
      ['that a second one was cancelled', placedTwice, (row) => journal.secondCancelled(run.key, row, said)],
    ])('but not where something was learnt of the pivot since: %s', async (_, before, learn) => {
      const sent = await before();
      await run.end();
      expect(await isOwned(run.again(), false)).toBe(false);
      await learn(sent.cursor.row, sent);
      expect(await isOwned(run.again(), false)).toBe(true);
    });
  });

  describe('are owned by one begin', () => {
    const renewed = (run: Run, more: object = {}) => ({ epoch: run.cursor!.epoch, fence: run.cursor!.fence, ...more });
    const intended = { how: 'send' };
    const refused = { how: 'not-owned' };
    let run: Run;
    beforeEach(async () => {
      run = await begin();
      await run.own();
    });

    it('and only its calls are intended, by one statement or by several', async () => {
      const before = run.cursor;
      expect(await run.intend(add())).toMatchObject(intended);
      expect(await run.intend(place())).toMatchObject(intended);
      await run.again().own();
      for (const call of [add(2), place(), remove(5)])
        expect(await run.intend(call, { cursor: before })).toEqual(refused);
    });

    it('which may renew itself, also twice, and then the number of before is nobody’s', async () => {
      const before = run.cursor;
      const begun = await run.own(renewed(run));
      expect(begun).toBe(before!.fence! + 1);
      expect(await run.own({ ...before! })).toBe(begun);
      expect(await run.intend(add(), { cursor: before })).toEqual(refused);
      expect(await run.intend(add(2))).toMatchObject(intended);
    });

    it('in whichever run of those that know it, until another one begins', async () => {
      const { cursor } = run;
      const reset = run.again();
      expect(await reset.own({ ...cursor! })).toBeDefined();
      expect(await run.own({ ...cursor! })).toBeUndefined();
      await run.again().own();
      expect(await reset.own(renewed(reset))).toBeUndefined();
    });

    it('and a run is told where another one owned it since', async () => {
      const begins = (one: Run) => journal.begin(one.key, { run: one.run, isReset: true });
      expect(await begins(run)).toMatchObject({ isAfterAnother: false });
      const reset = run.again();
      expect(await begins(reset)).toMatchObject({ isAfterAnother: true });
      expect(await begins(reset)).toMatchObject({ isAfterAnother: false });
      expect(await begins(run)).toMatchObject({ isAfterAnother: true });
    });

    it('of one epoch: begins are counted anew after a journal was restored', async () => {
      const { cursor } = run;
      const before = { ...cursor!, epoch: cursor!.epoch - 1 };
      expect(await run.own(before)).toBeUndefined();
      expect(await run.intend(add(), { cursor: before })).not.toMatchObject(intended);
    });
  });

  it('are closed by a clean-up, but not where a run has begun since it saw that none runs', async () => {
    const lost = [await begin(), await begin()];
    for (const one of lost) await beginCleanUp(one);
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
