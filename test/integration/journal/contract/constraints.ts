import { randomUUID } from 'node:crypto';
import type { Insertable } from 'kysely';
import type { EffectKind, EffectOutcome } from '../../../../src/domain/effects';
import { isUniqueViolation } from '../../../../src/journal/errors';
import type { JournalTables } from '../../../../src/journal/schema';
import { effectsOf } from '../../../../src/journal/rows';
import { journal, Run, run } from '../runs';

/** What the database itself refuses, whatever the code does: none of these goes through the journal's functions. */
export function constraints(): void {
  const row = (kind: EffectKind, outcome: EffectOutcome | null): Insertable<JournalTables['effect']> => ({
    ...run.key,
    ...{ id: randomUUID(), step: `step-${randomUUID()}`, kind, activity: 'placeOrder', run: randomUUID(), about: '{}' },
    ...{ epoch: Date.now(), meant_ms: Date.now(), in_flight_ms: 0, outcome },
  });
  const insert = (...rows: Insertable<JournalTables['effect']>[]) =>
    journal.db.insertInto('effect').values(rows).execute();

  const live = [null, 'done', 'unknown'] as const;
  const over = ['not-done', 'undone', 'denied'] as const;
  const pairs = live.flatMap((first) => live.map((second) => [first, second] as const));

  it.each(pairs)('is one: a pivot of outcome %s lets no second one of outcome %s be written', async (first, second) => {
    await insert(row('pivot', first));
    const refusal = await insert(row('pivot', second)).catch((error: unknown) => error);
    expect(isUniqueViolation(refusal)).toBe(true);
    expect(await effectsOf(journal.db, run.key)).toHaveLength(1);
  });

  it.each(live)('stands against an outcome that is changed back to %s as well', async (outcome) => {
    const denied = row('pivot', 'denied');
    await insert(denied, row('pivot', null));
    const update = journal.db.updateTable('effect').set({ outcome }).where('id', '=', denied.id).execute();
    expect(isUniqueViolation(await update.catch((error: unknown) => error))).toBe(true);
  });

  it('lets one live pivot stand beside any number that are over, and of other references and workflows', async () => {
    await insert(...over.map((outcome) => row('pivot', outcome)), ...over.map((outcome) => row('pivot', outcome)));
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
    const refusal = await insert({ ...row('mutate', 'done'), id: first.id }).catch((error: unknown) => error);
    expect(isUniqueViolation(refusal)).toBe(true);
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
