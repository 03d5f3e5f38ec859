/** Pivots, which must never be sent twice: their intents, their outcomes, and people's statements about them. */
import { randomUUID } from 'node:crypto';
import type { Insertable } from 'kysely';
import type { EffectKind, EffectOutcome } from '../../../../src/domain/effects';
import { isUniqueViolation } from '../../../../src/journal/database/errors';
import { effectsOf } from '../../../../src/journal/rows';
import type { JournalTables } from '../../../../src/journal/database/schema';
import { Run, add, assign, inFlightMs, journal, letPass, place, rowOf, run, takeBackAssign, type Sent } from '../runs';

export function pivots(): void {
  it('is written down before it is sent', async () => {
    const { cursor, doubts } = await run.send(place(11, 12));
    expect(doubts).toBe(0);
    const row = await rowOf(journal, cursor.row);
    expect(row).toMatchObject({
      ...run.key,
      ...{ step: 'place-order', kind: 'pivot', activity: 'placeOrder', run: run.run },
      ...{ outcome: null, answer: null, answered_ms: null, decided: null },
      ...{ in_flight_ms: inFlightMs, epoch: cursor.epoch },
    });
    expect(JSON.parse(row!.about)).toEqual({ cartItems: [11, 12] });
    expect(Math.abs(row!.intended_ms - Date.now())).toBeLessThan(60_000);
  });

  it('gives the recorded answer to every later run, whatever the step is called and would order now', async () => {
    const answer = { how: 'answered', value: { order: 5 } };
    const { cursor } = await run.do(place(1), 'done', { answer });
    const calls = [place(1), { ...place(2, 3), step: 'place-order-again' }];
    for (const later of [run, run.again()])
      for (const call of calls)
        expect(await later.intend(call)).toMatchObject({
          how: 'recorded',
          run: run.run,
          answer,
          cursor: { row: cursor.row },
          doubts: 0,
        });
  });

  it('is under way for as long as whoever intended it said, not as whoever asks now does', async () => {
    const { cursor } = await run.send(place(1), { inFlightMs: 90_000 });
    await letPass(journal, 60_000);
    const intended = await run.again().intend(place(1), { inFlightMs: 10 });
    expect(intended).toMatchObject({ how: 'under-way', row: cursor.row });
    const { leftMs } = intended as { leftMs: number };
    expect(leftMs).toBeLessThanOrEqual(30_000);
    expect(leftMs).toBeGreaterThan(0);
  });

  it('is unknown when nobody has written what came of it, and names the row to ask about', async () => {
    const { cursor } = await run.send(place(1));
    await letPass(journal);
    const intended = await run.again().intend(place(1));
    const { row } = cursor;
    expect(intended).toMatchObject({ how: 'unknown', row, run: run.run, inFlightMs, restored: false });
    expect(Date.parse((intended as { at: string }).at)).toBe((await rowOf(journal, cursor.row))!.intended_ms);
  });

  it('is unknown at once when its answer was lost, and says for how long it may be in flight', async () => {
    const { cursor } = await run.do(place(1), 'unknown', { failure: 'UnknownOutcome' });
    const intended = await run.again().intend(place(1));
    expect(intended).toMatchObject({ how: 'unknown', row: cursor.row, restored: false });
    expect((intended as { inFlightMs: number }).inFlightMs).toBeGreaterThan(0);
    expect(await run.intend(place(1))).toMatchObject({ how: 'unknown', row: cursor.row });
  });
}

/** The database itself refuses these: none of them goes through the journal's functions. */
export function constraints(): void {
  const row = (kind: EffectKind, outcome: EffectOutcome | null): Insertable<JournalTables['effect']> => ({
    ...run.key,
    ...{ id: randomUUID(), step: `step-${randomUUID()}`, kind, activity: 'placeOrder', run: randomUUID(), about: '{}' },
    ...{ epoch: Date.now(), intended_ms: Date.now(), in_flight_ms: 0, outcome },
  });
  const insert = (...rows: Insertable<JournalTables['effect']>[]) =>
    journal.db.insertInto('effect').values(rows).execute();

  const expectTaken = async (refused: Promise<unknown>) =>
    expect(isUniqueViolation(await refused.catch((error: unknown) => error))).toBe(true);

  const live = [null, 'done', 'unknown'] as const;
  const over = ['not-done', 'undone', 'denied'] as const;
  const pairs = live.flatMap((first) => live.map((second) => [first, second] as const));

  it.each(pairs)('is one: a pivot of outcome %s lets no second one of outcome %s be written', async (first, second) => {
    await insert(row('pivot', first));
    await expectTaken(insert(row('pivot', second)));
    expect(await effectsOf(journal.db, run.key)).toHaveLength(1);
  });

  it.each(live)('stands against an outcome that is changed back to %s as well', async (outcome) => {
    const denied = row('pivot', 'denied');
    await insert(denied, row('pivot', null));
    await expectTaken(journal.db.updateTable('effect').set({ outcome }).where('id', '=', denied.id).execute());
  });

  it('lets one live pivot stand beside any number that are over, and of other references and workflows', async () => {
    await insert(...[...over, ...over].map((outcome) => row('pivot', outcome)));
    await insert(row('pivot', null));
    const other = await Run.begin(journal);
    await insert({ ...row('pivot', 'done'), ...other.key });
    const switched = new Run(journal, { workflow: 'switchPlan', reference: run.key.reference });
    await switched.take();
    await insert({ ...row('pivot', 'unknown'), ...switched.key });
  });

  it('gives no id twice', async () => {
    const first = row('mutate', 'done');
    await insert(first);
    await expectTaken(insert({ ...row('mutate', 'done'), id: first.id }));
  });

  it.each([
    ['a kind', { kind: 'order' }],
    ['an outcome', { outcome: 'perhaps' }],
    ['a reference', { reference: 'nobody-took-it' }],
  ])('refuses %s that it does not know', async (_what, wrong) => {
    await expect(insert({ ...row('mutate', null), ...(wrong as object) })).rejects.toThrow();
    expect(await effectsOf(journal.db, run.key)).toEqual([]);
  });
}

export function answers(): void {
  const read = async (row: string) => {
    const found = await rowOf(journal, row);
    return { ...found, answer: await journal.unseal(found!.answer!, 'the answer') };
  };

  const outcomes = ['done', 'not-done', 'unknown'] as const;
  const pairs = outcomes.flatMap((first) => outcomes.map((second) => [first, second] as const));
  it.each(pairs)(
    'complete a row as %s, with what was said; of %s, written later, what is news counts',
    async (first, second) => {
      const intended = await run.do(place(1), first, { failure: 'Refused', answer: 1 });
      const before = await read(intended.cursor.row);
      expect(before).toMatchObject({ outcome: first, failure: 'Refused', answer: 1, late: null, decided: null });
      expect(before.answered_ms).toBeGreaterThanOrEqual(before.intended_ms!);

      const isLate = first === 'not-done' && second === 'done';
      const isNews = isLate || (first === 'unknown' && second !== 'unknown');
      await expect(run.answer(place(1), intended, second, { answer: 2 })).resolves.toBe(isLate ? 'late' : 'written');
      expect(await read(intended.cursor.row)).toMatchObject(isNews ? { outcome: second, failure: null } : before);
      if (isNews && !isLate) expect(await read(intended.cursor.row)).toMatchObject({ answer: 2 });
    },
  );

  it('count when they come late, beside the denial: it is not sent again', async () => {
    const intended = await run.doInVain(place(1));
    const before = await rowOf(journal, intended.cursor.row);
    for (const outcome of ['not-done', 'unknown'] as const) {
      await expect(run.answer(place(1), intended, outcome)).resolves.toBe('written');
    }
    expect(await rowOf(journal, intended.cursor.row)).toEqual(before);

    await expect(run.answer(place(1), intended, 'done', { answer: { order: 5 } })).resolves.toBe('late');
    const row = await rowOf(journal, intended.cursor.row);
    const { late, decided, outcome } = row!;
    expect({ decided, outcome }).toEqual({ decided: before!.decided, outcome: 'done' });
    await expect(journal.unseal(late!, 'what came late')).resolves.toEqual({ order: 5 });
    expect(await run.again().intend(place(1))).toMatchObject({ how: 'recorded', answer: { order: 5 } });
  });

  it('only stand beside the denial where it was sent again meanwhile', async () => {
    const intended = await run.doInVain(place(1));
    const second = await run.again().send(place(1));
    await expect(run.answer(place(1), intended, 'done')).resolves.toBe('late');
    expect(await rowOf(journal, intended.cursor.row)).toMatchObject({ outcome: 'denied' });
    expect(await rowOf(journal, second.cursor.row)).toMatchObject({ outcome: null });
  });

  it('are not late when they are written once more and the effect was taken back in between', async () => {
    const intended = await run.do(assign);
    await run.do(takeBackAssign);
    const before = await rowOf(journal, intended.cursor.row);
    expect(before).toMatchObject({ outcome: 'undone' });
    await expect(run.answer(assign, intended, 'done')).resolves.toBe('written');
    expect(await rowOf(journal, intended.cursor.row)).toEqual(before);
  });

  it('mark nothing as taken back unless taking it back is done', async () => {
    const change = await Run.begin(journal, 'setFirewalls');
    const intended = await change.do(assign);
    for (const outcome of ['not-done', 'unknown'] as const) await change.do(takeBackAssign, outcome);
    expect(await rowOf(journal, intended.cursor.row)).toMatchObject({ outcome: 'done', undone_by: null });
  });
}

export function decisions(): void {
  const unsealed = (sealed: string | null | undefined) => journal.unseal(sealed!, 'it');

  describe('“placed”', () => {
    const placed = { how: 'confirmed', orderId: '1' };

    it.each<[string, () => Promise<Sent>]>([
      ['whose answer was lost', () => run.do(place(1), 'unknown')],
      ['of which nobody wrote what came of it', () => run.send(place(1))],
      ['that was denied', () => run.doInVain(place(1))],
    ])('completes a pivot %s, for every later run', async (_, happen) => {
      const { cursor } = await happen();
      await expect(run.confirm(cursor.row, placed, 'in the panel')).resolves.toBe('done');
      const row = await rowOf(journal, cursor.row);
      expect(row).toMatchObject({ outcome: 'done' });
      expect(Math.abs(row!.decided_ms! - Date.now())).toBeLessThan(60_000);
      await expect(unsealed(row!.decided)).resolves.toEqual({ by: 'ann', note: 'in the panel' });
      expect(await run.again().intend(place(1))).toMatchObject({ how: 'recorded', answer: placed });
    });

    it('is also what a look found, without a person', async () => {
      const { cursor } = await run.do(place(1), 'unknown');
      await letPass(journal, 1_000);
      await journal.confirm(run.key, cursor.row, { how: 'found', vmObjectIds: [1] }, undefined);
      expect(await rowOf(journal, cursor.row)).toMatchObject({ outcome: 'done', decided: null, decided_ms: null });
      expect(await run.intend(place(1))).toMatchObject({ how: 'recorded', answer: { how: 'found', vmObjectIds: [1] } });
    });

    it('changes nothing of a pivot that is known to be done', async () => {
      const { cursor } = await run.do(place(1), 'done', { answer: 'the first' });
      const before = await rowOf(journal, cursor.row);
      await expect(run.confirm(cursor.row, placed)).resolves.toBe('done');
      expect(await rowOf(journal, cursor.row)).toEqual(before);
    });

    it.each([null, 'unknown', 'done'] as const)(
      'is superseded when it was denied, and is intended again with the outcome %s',
      async (outcome) => {
        const { cursor } = await run.doInVain(place(1));
        await run.again().do(place(1), outcome);
        const before = await effectsOf(journal.db, run.key);
        await expect(run.confirm(cursor.row, placed)).resolves.toBe('superseded');
        expect(await effectsOf(journal.db, run.key)).toEqual(before);
      },
    );
  });

  describe('“not placed”', () => {
    it.each([null, 'unknown'] as const)(
      'is refused, with the time that is left, while a pivot of outcome %s may be in flight',
      async (outcome) => {
        const intended = await run.do(place(1), outcome);
        await letPass(journal, inFlightMs - 5_000);
        const before = await rowOf(journal, intended.cursor.row);
        const refused = await run.deny(intended.cursor.row);
        expect(refused).toMatchObject({ how: 'in-flight' });
        expect((refused as { leftMs: number }).leftMs).toBeLessThanOrEqual(5_000);
        expect((refused as { leftMs: number }).leftMs).toBeGreaterThan(0);
        expect(await rowOf(journal, intended.cursor.row)).toEqual(before);

        await letPass(journal, 5_000);
        await expect(run.deny(intended.cursor.row)).resolves.toEqual({ how: 'denied' });
        const row = await rowOf(journal, intended.cursor.row);
        expect(row).toMatchObject({ outcome: 'denied' });
        await expect(unsealed(row!.decided)).resolves.toEqual({ by: 'ops', note: 'looked' });
      },
    );

    it('is counted for its own row: one that was intended later has its own time', async () => {
      const first = await run.doInVain(place(1));
      const second = await run.do(place(1), 'unknown');
      await expect(run.deny(first.cursor.row)).resolves.toEqual({ how: 'denied' });
      await expect(run.deny(second.cursor.row)).resolves.toMatchObject({ how: 'in-flight' });
      expect(await rowOf(journal, second.cursor.row)).toMatchObject({ outcome: 'unknown' });
    });

    it('keeps who said it first', async () => {
      const { cursor } = await run.doInVain(place(1));
      const before = await rowOf(journal, cursor.row);
      await expect(run.deny(cursor.row, 'the second look')).resolves.toEqual({ how: 'denied' });
      expect(await rowOf(journal, cursor.row)).toEqual(before);
    });

    it('is told that it was placed, where that is known by now', async () => {
      const { cursor } = await run.do(place(1), 'done', { answer: 'placed' });
      await letPass(journal);
      await expect(run.deny(cursor.row)).resolves.toEqual({ how: 'done' });
      expect(await run.intend(place(1))).toMatchObject({ how: 'recorded', answer: 'placed' });
    });
  });
}

export function corrections(): void {
  const correct = (correction: unknown, id = randomUUID()) =>
    journal.correct(run.key, { id, run: run.run, step: 'place-order', by: 'op', correction });
  const known = () => journal.corrections(run.key);
  const changed = { how: 'changed', why: 'the request was corrected since' };
  const corrected = (item: number, times: number) => ({ ...add(item), about: { item, corrected: times } });

  it('are told, in order, to whoever takes the reference again, beside the request as it was', async () => {
    await correct({ label: 'web-2' });
    await correct({ label: 'web-3', password: 'ä' });
    const { first } = await run.again().take();
    expect(first).toMatchObject({ request: { label: 'web-1' } });
    expect(await known()).toEqual([{ label: 'web-2' }, { label: 'web-3', password: 'ä' }]);
  });

  it('are written once, and are two where a restored Temporal gives one id twice', async () => {
    const id = randomUUID();
    for (const label of ['web-2', 'web-2', 'web-3', 'web-3']) await correct({ label }, id);
    expect(await known()).toEqual([{ label: 'web-2' }, { label: 'web-3' }]);
  });

  it('make another item of the same step: the recorded one is not its answer', async () => {
    await run.adds(7);
    await run.do(corrected(1, 1), 'not-done');
    expect(await run.intend(add(1))).toMatchObject({ how: 'recorded', answer: { cartItemId: 7 } });
    const second = await Run.begin(journal);
    await second.do(corrected(1, 1), 'done', { answer: { cartItemId: 8 } });
    await second.do(add(1), 'not-done');
    expect(await second.intend(corrected(1, 1))).toMatchObject({ how: 'recorded', answer: { cartItemId: 8 } });
    await second.send(corrected(1, 2));
  });

  it('let nothing be placed by a run that does not know them all', async () => {
    for (const corrections of [0, 1]) {
      await correct({ label: `web-${corrections}` });
      expect(await run.intend(place(1), { corrections })).toEqual(changed);
    }
    // A run may know more of them than a journal that lost one.
    await run.send(place(1), { corrections: 3 });
  });

  it('are told before what was placed, to a run that does not know them all', async () => {
    await correct({ quantity: 1 });
    await run.do(place(1), 'done', {}, { corrections: 1 });
    expect(await run.again().intend(place(1))).toEqual(changed);
    expect(await run.again().intend(place(1), { corrections: 1 })).toMatchObject({ how: 'recorded' });
  });

  it.each([
    ['done', 'placed'],
    ['unknown', 'placed'],
    [null, 'placed'],
    ['not-done', 'written'],
  ] as const)('where the outcome of the pivot is %s: %s', async (outcome, how) => {
    await run.do(place(1), outcome);
    expect(await correct({ label: 'web-2' })).toBe(how);
    expect(await known()).toEqual(how === 'written' ? [{ label: 'web-2' }] : []);
  });
}
