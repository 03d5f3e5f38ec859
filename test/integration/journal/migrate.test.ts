/** How the journal's tables come to be, and how it is known whether they are those of this release. */
import { sql } from 'kysely';
import { openDatabase, type JournalAddress } from '../../../src/journal/dialects';
import { migrate, schemaNumber } from '../../../src/journal/migrate';
import { describeEachDatabase } from './databases';
import { openedJournals, Run } from './runs';

describeEachDatabase('the schema', ({ place: somewhere }) => {
  const opened = openedJournals();
  let address: JournalAddress;
  beforeEach(async () => {
    address = await somewhere();
  });

  const withDatabase = async <T>(work: (db: ReturnType<typeof openDatabase>) => Promise<T>): Promise<T> => {
    const db = openDatabase(address);
    try {
      return await work(db);
    } finally {
      await db.destroy();
    }
  };

  it('is made once by many at once', async () => {
    const made = await Promise.all(Array.from({ length: 6 }, () => migrate(address)));
    expect(made).toEqual(made.map(({ from }) => ({ from, to: schemaNumber })));
    expect(made.map(({ from }) => from)).toContain(0);
    const journal = await opened(address);
    const [row, ...others] = await journal.db.selectFrom('journal').selectAll().execute();
    expect(others).toEqual([]);
    expect(row).toMatchObject({ raised_ms: 0, restored_ms: null, doubts_new: 0 });
    expect(Math.abs(row!.epoch - Date.now())).toBeLessThan(60_000);
  });

  it('is made as a whole or not at all', async () => {
    // The last table of the step is in its way: what came before it must not stay.
    await withDatabase((db) => sql`create table confirmation (somebody text)`.execute(db));
    await expect(migrate(address)).rejects.toThrow();
    await withDatabase((db) => sql`drop table confirmation`.execute(db));
    await expect(migrate(address)).resolves.toEqual({ from: 0, to: schemaNumber });
    await opened(address);
  });

  it('gets a column more while it is used: a call may fail for it, and none after that', async () => {
    await migrate(address);
    const journal = await opened(address);
    const run = await Run.begin(journal);
    const ask = () => Promise.allSettled(Array.from({ length: 4 }, () => journal.firstRequest(run.key)));
    await ask();
    await withDatabase((db) => sql`alter table reference add column more text`.execute(db));
    await ask();
    expect((await ask()).map(({ status }) => status)).toEqual(Array(4).fill('fulfilled'));
  });
});
