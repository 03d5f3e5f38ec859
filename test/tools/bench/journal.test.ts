/** The journals that the bench fills are as sagas would have left them, and it sees by what they are read. */
import { randomUUID } from 'node:crypto';
import { fillJournal, filledReference, firstCall, referencesAmong } from '../../../bench/journal/fill';
import { accesses, indexesOf } from '../../../bench/journal/plans';
import type { EffectCall } from '../../../src/domain/effects';
import type { JournalAddress } from '../../../src/journal/dialects';
import type { Journal } from '../../../src/journal/journal';
import { openJournal } from '../../../src/journal/open';
import { createSealing } from '../../../src/security/sealing';
import { describeEachDatabase } from '../../integration/journal/databases';

const rows = 1_000;
const sealing = createSealing(undefined);

describeEachDatabase('a journal that was filled', ({ fresh }) => {
  let address: JournalAddress;
  let journal: Journal;
  beforeAll(async () => {
    address = await fresh();
    await fillJournal(address, sealing, rows, () => undefined);
    journal = await openJournal(address, sealing);
  });
  afterAll(() => journal.close());

  const ask = (of: Journal, n: number) => {
    const key = { workflow: 'provisionServers', reference: filledReference(n) } as const;
    const call = { ...firstCall, kind: 'mutate' } as EffectCall;
    return of.mean({ ...key, call, run: randomUUID(), knows: undefined, inAirMs: 60_000, recall: true });
  };

  it('has so many rows, and gives the answers of the first reference and of the last', async () => {
    const count = journal.db.selectFrom('effect').select(({ fn }) => fn.countAll().as('rows'));
    expect(Number((await count.executeTakeFirstOrThrow()).rows)).toBe(rows);
    for (const n of [1, referencesAmong(rows)]) expect(await ask(journal, n)).toMatchObject({ how: 'recorded' });
    expect(await ask(journal, referencesAmong(rows) + 1)).toMatchObject({ how: 'send' });
  });

  it('has its indexes again, and is read by them', async () => {
    const indexes = await indexesOf(journal, address, sealing, (recorded) => ask(recorded, 1));
    expect(indexes).toContain('effect_by_step');
    expect(indexes.join()).not.toContain('all of');
    const pivot = { workflow: 'provisionServers', reference: filledReference(1), step: 'place-order' } as const;
    const order = journal.db
      .selectFrom('effect')
      .selectAll()
      .where((where) => where.and(pivot));
    const { seq: _seq, ...again } = await order.executeTakeFirstOrThrow();
    await expect(
      journal.db
        .insertInto('effect')
        .values({ ...again, id: randomUUID() })
        .execute(),
    ).rejects.toThrow(/unique/i);
  });

  it('a table that is read as a whole would be named', async () => {
    const read = (of: Journal) => of.db.selectFrom('effect').selectAll().where('run', '=', 'any').execute();
    expect(await indexesOf(journal, address, sealing, read)).toEqual(['all of effect']);
  });
});

it.each([
  ['SEARCH effect USING INDEX effect_by_step (workflow=? AND reference=? AND step=?)', ['effect_by_step']],
  ['Update on reference\n  ->  Index Scan using reference_pk on reference', ['reference_pk']],
  ['Bitmap Heap Scan on effect\n  ->  Bitmap Index Scan on effect_by_step', ['effect_by_step']],
  ['Insert on reference\n  Conflict Arbiter Indexes: reference_pk\n  ->  Result', ['reference_pk']],
  ['Seq Scan on effect', ['all of effect']],
  ['SCAN effect USING INDEX effect_by_step', ['all of effect']],
  ['SCAN journal', []],
])('%s is by %j', (plan, indexes) => {
  expect(accesses(plan)).toEqual(indexes);
});
