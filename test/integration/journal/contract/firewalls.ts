/** Firewalls of a server, by calls and by hand. */
import type { EffectCall } from '../../../../src/domain/effects';
import { writeByHand } from '../../../../src/journal/by-hand';
import { changedLately, lookAtServer } from '../../../../src/journal/views/firewalls';
import { recordOf } from '../../../../src/journal/views/record';
import { effectsOf } from '../../../../src/journal/rows';
import { readState } from '../../../../src/journal/read-state';
import { takeTurn } from '../../../../src/journal/turns';
import { Run, assign, inFlightMs, journal, letPass, rowOf, run, takeBackAssign, unassignOld, undoOld } from '../runs';

export function firewalls(): void {
  it('are marked as taken back also where nobody knew whether they had been assigned', async () => {
    const { cursor } = await run.do(assign, 'unknown');
    await letPass(journal);
    const back = await run.do(takeBackAssign);
    expect(await rowOf(journal, cursor.row)).toMatchObject({ outcome: 'undone', undone_by: back.cursor.row });
  });

  const elsewhere = (call: EffectCall) => ({ ...call, about: { ...call.about, vmObjectId: 8 } });
  const outcomes = [null, 'unknown', 'done', 'not-done'] as const;

  describe.each([
    ['that are undone', unassignOld, [undoOld]],
    ['that are changed again, in a later run', undoOld, [assign, unassignOld]],
  ])('%s', (_, opposite, calls) => {
    it.each(outcomes)('wait for the opposite call of outcome %s while that may be in flight', async (outcome) => {
      const intended = await run.do(opposite, outcome);
      const isKnown = outcome === 'done' || outcome === 'not-done';
      const first = isKnown ? { how: 'send' } : { how: 'under-way', row: intended.cursor.row };
      for (const call of calls) expect(await run.again().intend(call)).toMatchObject(first);
      await letPass(journal);
      for (const call of calls) expect(await run.again().intend(call)).toMatchObject({ how: 'send' });
    });

    it('do not wait for what was answered, though nobody has declared what that means', async () => {
      await run.do(opposite, 'unknown', { failure: undefined });
      for (const call of calls) expect(await run.again().intend(call)).toMatchObject({ how: 'send' });
    });

    it('do not wait for each other, for another server, or for another saga', async () => {
      for (const call of calls) await run.do(call, 'unknown');
      await run.send(elsewhere(opposite));
      await (await Run.begin(journal, 'setFirewalls')).send(opposite);
      for (const call of calls) expect(await run.again().intend(call)).toMatchObject({ how: 'send' });
    });
  });

  describe('of a server that is looked at before they are undone', () => {
    let vmObjectId = 900;
    beforeEach(() => {
      vmObjectId += 1;
    });
    const on = (call: EffectCall, ...firewalls: number[]) => ({
      ...call,
      about: { vmObjectId, firewalls: firewalls.length > 0 ? firewalls : call.about.firewalls! },
    });
    const look = (by = run) => lookAtServer(journal, by.key, vmObjectId, { withOthers: true });
    const other = () => Run.begin(journal, 'setFirewalls');

    it.each([null, 'unknown'] as const)(
      'are waited for while a change by the saga itself has the outcome %s and may be in flight',
      async (outcome) => {
        await run.do(on(assign), outcome);
        expect(await look(run.again())).toEqual({ leftMs: expect.any(Number) });
        expect(await look(await other())).toMatchObject({ leftMs: 0 });
        await letPass(journal);
        expect(await look()).toEqual({ leftMs: 0, others: [] });
      },
    );

    it('are waited for before they are changed, or only what puts something back', async () => {
      const left = async (kind?: 'compensate') => (await lookAtServer(journal, run.key, vmObjectId, { kind })).leftMs;
      expect(await left()).toBe(0);
      await run.send(on(assign));
      expect([await left(), await left('compensate')]).toEqual([expect.any(Number), 0]);
      expect(await left()).toBeGreaterThan(1_000);
      await letPass(journal);
      await run.send(on(takeBackAssign));
      expect(await left('compensate')).toBeGreaterThan(1_000);
      await letPass(journal);
      expect(await left()).toBe(0);
    });

    it('are told where runs of the saga have changed them, or may have, and none has taken that back', async () => {
      const changed = async () => (await readState(journal, run.key, { inFlightMs })).changed;
      await (await other()).do(on(assign));
      await run.do(on(assign), 'not-done');
      expect(await changed()).toEqual({ assigned: [], unassigned: [] });
      await run.do(on(assign, 150, 151), 'unknown');
      await run.do(on(assign, 150));
      await run.send(on(unassignOld));
      expect(await changed()).toEqual({ assigned: [150, 151], unassigned: [149] });
      await letPass(journal);
      await run.do(on(takeBackAssign));
      expect(await changed()).toEqual({ assigned: [151], unassigned: [149] });
      await run.do(on(undoOld));
      await run.do(on(takeBackAssign, 151));
      expect(await changed()).toEqual({ assigned: [], unassigned: [] });
    });

    it('are not undone while only some of them were undone, by whichever calls', async () => {
      const { cursor } = await run.do(on(assign, 150, 151));
      await run.do(on(takeBackAssign, 150), 'unknown');
      await run.again().do(on(takeBackAssign, 151));
      expect(await rowOf(journal, cursor.row)).toMatchObject({ outcome: 'done' });
      const last = await run.do(on(takeBackAssign, 150));
      expect(await rowOf(journal, cursor.row)).toMatchObject({ outcome: 'undone', undone_by: last.cursor.row });
    });

    it('are not undone by a call that was intended before them, and of which the answer was written late', async () => {
      await run.do(on(assign));
      const back = await run.send(on(takeBackAssign));
      await letPass(journal);
      const { cursor } = await run.again().do(on(assign));
      await run.answer(on(takeBackAssign), back, 'done');
      expect(await rowOf(journal, cursor.row)).toMatchObject({ outcome: 'done' });
      expect((await readState(journal, run.key, { inFlightMs })).changed).toMatchObject({ assigned: [150] });
    });

    it('are told firewall by firewall in the record of a saga that has not ended', async () => {
      const saga = await Run.begin(journal, 'setFirewalls');
      await saga.do(on(assign, 150, 151));
      await saga.do(on(takeBackAssign, 150));
      expect((await recordOf(journal, saga.key))?.leftovers).toMatchObject([{ kind: 'firewalls', firewalls: [151] }]);
    });

    it.each([null, 'unknown', 'done'] as const)(
      'are another saga’s as well where its call has the outcome %s',
      async (outcome) => {
        const by = await other();
        await by.do(on(assign, 143, 144), outcome);
        expect(await look()).toEqual({ leftMs: 0, others: [143, 144] });
        const seen = await look(by.again());
        expect(seen).toEqual({
          leftMs: outcome === 'done' ? 0 : expect.any(Number),
          ...(outcome === 'done' && { others: [] }),
        });
      },
    );

    it('are known as changed lately by the last call of each, without those that were refused or denied', async () => {
      const does = async (call: EffectCall, outcome: (typeof outcomes)[number] | 'denied' = 'done') => {
        const by = await other();
        const intended = await by.do(call, outcome === 'denied' ? 'unknown' : outcome);
        if (outcome !== 'denied') return;
        await journal.db.updateTable('effect').set({ outcome }).where('id', '=', intended.cursor.row).execute();
      };
      for (const id of [1, 2, 3, 4]) await does(on(assign, id));
      await does(on(unassignOld, 2));
      await does(on(unassignOld, 3), 'unknown');
      await does(on(unassignOld, 4), null);
      for (const id of [1, 2, 5]) await does(on(undoOld, id), 'not-done');
      for (const id of [1, 2, 6]) await does(on(unassignOld, id), 'denied');
      const lately = await changedLately(journal, vmObjectId, 60_000);
      expect([...lately]).toEqual([
        [1, true],
        [2, false],
        [3, undefined],
        [4, undefined],
      ]);
    });

    it('are nobody else’s where they were refused, taken back, or unassigned by anybody since', async () => {
      await (await other()).do(on(assign, 143), 'not-done');
      const second = await other();
      await second.do(on(assign, 144));
      await second.do(on(takeBackAssign, 144));
      await (await other()).do(on(assign, 145, 146));
      await run.do(on(unassignOld, 145));
      expect(await look()).toEqual({ leftMs: 0, others: [146] });
    });

    it('are nobody else’s where they were assigned before the saga’s turn', async () => {
      const saga = await Run.begin(journal, 'setFirewalls');
      await (await other()).do(on(assign, 143));
      await letPass(journal, 2 * inFlightMs);
      await journal.db.updateTable('effect').set({ answered_ms: 1 }).where('vm_object_id', '=', vmObjectId).execute();
      await takeTurn(journal, saga.key, `server ${vmObjectId}`);
      await (await other()).do(on(assign, 150));
      expect(await look(saga)).toEqual({ leftMs: 0, others: [150] });
    });
  });
}

export function byHand(): void {
  const verdict = { by: 'ada', note: 'in the panel' };
  const say = async (calls: EffectCall[], who = run) => {
    const written = await writeByHand(journal, who.key, { calls, run: who.run, verdict, cursor: who.cursor });
    if (written.how !== 'written') throw new Error(written.why);
    who.cursor = written.cursor;
    return written.cursor;
  };
  const counting = { countsByHand: true };

  it('is a row of its own, with who said so, and nobody can be sending it', async () => {
    await run.do(assign, 'unknown');
    const { row } = await say([assign]);
    const rows = await effectsOf(journal.db, run.key);
    expect(rows.map(({ outcome }) => outcome)).toEqual(['unknown', 'done']);
    const written = await rowOf(journal, row!);
    expect(written).toMatchObject({
      ...rest(assign),
      run: run.run,
      outcome: 'done',
      answered_ms: null,
      in_flight_ms: 0,
    });
    expect(JSON.parse(written!.about)).toEqual(assign.about);
    expect(Math.abs(written!.decided_ms! - Date.now())).toBeLessThan(60_000);
    await expect(journal.unseal(written!.decided!, 'it')).resolves.toEqual(verdict);
  });

  it('is written once for a run, however often it is said', async () => {
    const first = await say([assign, unassignOld]);
    expect(await say([assign, unassignOld])).toEqual(first);
    expect(await effectsOf(journal.db, run.key)).toHaveLength(2);
  });

  it('is written once for a run, also where a call that stood still says it after it was taken back', async () => {
    const begun = await run.own();
    const stoodStill = { ...run.cursor! };
    await run.own({ epoch: run.cursor!.epoch, fence: begun });
    await say([assign]);
    await run.do(takeBackAssign);
    run.cursor = stoodStill;
    await say([assign]);
    const rows = await effectsOf(journal.db, run.key);
    expect(rows.map(({ outcome }) => outcome)).toEqual(['undone', 'done']);
  });

  it('counts as assigned for whoever asks how the saga stands', async () => {
    await say([assign]);
    const { assigned } = await readState(journal, run.key, { inFlightMs });
    expect(assigned).toEqual([assign.about]);
  });

  it('is given again to a later run that lets it count, and only to that', async () => {
    await say([assign]);
    expect(await run.again().intend(assign, counting)).toMatchObject({ how: 'recorded', answer: null, run: run.run });
    expect(await run.again().intend(assign)).toMatchObject({ how: 'send' });
  });

  it.each<[string, () => Promise<unknown>]>([
    ['a further call of the step', () => run.do(assign, 'not-done')],
    ['taking it back', () => run.do(takeBackAssign)],
  ])('counts no more after %s', async (_what, happen) => {
    await say([assign]);
    await happen();
    expect(await run.again().intend(assign, counting)).toMatchObject({ how: 'send' });
  });

  it('counts for no other firewalls, and not for what the provider answered', async () => {
    await say([assign]);
    const other = { ...assign, about: { ...assign.about, firewalls: [151] } };
    expect(await run.again().intend(other, counting)).toMatchObject({ how: 'send' });
    await run.do(unassignOld);
    expect(await run.again().intend(unassignOld, counting)).toMatchObject({ how: 'send' });
  });

  it('counts in the turn in which it was said, and in no later one', async () => {
    const one = await Run.begin(journal, 'setFirewalls');
    const resource = `server of ${one.key.reference}`;
    const begin = async () => {
      const taken = await takeTurn(journal, one.key, resource);
      if (taken.how !== 'begun') throw new Error(taken.how);
      return taken.turn;
    };
    const turn = await begin();
    await say([assign], one);
    expect(await one.again().intend(assign, { ...counting, turn })).toMatchObject({ how: 'recorded' });
    await one.end('done', { resource });
    await one.again().own();
    const next = await begin();
    await laterBegun(next);
    expect(await one.again().intend(assign, { ...counting, turn: next })).toMatchObject({ how: 'send' });
  });

  /** No two of them in one millisecond. */
  const laterBegun = (id: string) =>
    journal.db
      .updateTable('turn')
      .set((set) => ({ begun_ms: set('begun_ms', '+', 1) }))
      .where('id', '=', id)
      .execute();
}

const rest = ({ step, kind, activity }: EffectCall) => ({ step, kind, activity });
