/** Much that was bought: it flows, and whoever reads no more ends it. */
import { sql } from 'kysely';
import { bought } from '../../../src/journal/bought';
import type { Journal } from '../../../src/journal/journal';
import { openJournal } from '../../../src/journal/open';
import { createSealing } from '../../../src/security/sealing';
import { describeEachDatabase, numbersTo } from './databases';

/** Many pages, and many of each moment. */
const rows = 5_000;

describeEachDatabase(`among ${rows} purchases`, ({ fresh }) => {
  let journal: Journal;
  beforeAll(async () => {
    journal = await openJournal(await fresh(), createSealing(undefined));
    const { db } = journal;
    const numbers = numbersTo(db, rows);
    await sql`
      insert into reference (workflow, reference, account, first_seen_ms, first_run, epoch, touched_ms)
        select 'switchPlan', 'r' || n, 'AB-' || (n % 2), 0, 'run', 0, 0 from (${numbers}) as numbers`.execute(db);
    // Pages end among those of one moment.
    await sql`
      insert into effect (id, workflow, reference, step, kind, activity, run, about, epoch, meant_ms, in_flight_ms, outcome)
        select 'e' || n, 'switchPlan', 'r' || n, 'switch-plan', 'pivot', 'switchPlan', 'run', '{}', 0, n / 300, 0, 'done'
        from (${numbers}) as numbers`.execute(db);
    await sql`
      insert into purchase (effect, account, same, meant_ms)
        select 'e' || n, 'AB-' || (n % 2), 's', n / 300 from (${numbers}) as numbers`.execute(db);
  });
  afterAll(() => journal.close());

  it.each([
    [rows, {}],
    [rows / 2, { account: 'ab-1' }],
    [600, { sinceMs: 7, untilMs: 9 }],
    [0, { fate: 'unknown' as const }],
  ])('each of %i is told once, in the order of time: %j', async (count, filter) => {
    const seen = new Set<string>();
    let lastMs = 0;
    for await (const { reference, at } of bought(journal, filter)) {
      seen.add(reference);
      expect(Date.parse(at)).toBeGreaterThanOrEqual(lastMs);
      lastMs = Date.parse(at);
    }
    expect(seen.size).toBe(count);
  });

  it('who reads three asks for one page', async () => {
    const asked = jest.spyOn(journal, 'read');
    const three = [];
    for await (const row of bought(journal, {})) if (three.push(row) === 3) break;
    expect(three).toHaveLength(3);
    expect(asked).toHaveBeenCalledTimes(1);
    asked.mockRestore();
  });
});
