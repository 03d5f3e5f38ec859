/** Transactions that wait for the file are each there by itself, or are not. */
import { join } from 'node:path';
import { Kysely } from 'kysely';
import File from 'libsql';
import { FileDialect } from '../../../src/journal/database/file-dialect';
import { folderForFile } from '../../support/folder';

const folder = folderForFile();
let path: string;
let database: File.Database;
let db: Kysely<{ done: { id: number } }>;
let beforeCommit: () => void;
beforeEach(async () => {
  path = join(folder.path, `${expect.getState().currentTestName?.replace(/\W+/g, '-') ?? ''}.db`);
  database = new File(path);
  db = new Kysely({ dialect: new FileDialect({ database, path, busyMs: 1_000 }) });
  await db.schema
    .createTable('done')
    .addColumn('id', 'integer', (id) => id.primaryKey())
    .execute();
  beforeCommit = () => undefined;
  const exec = database.exec.bind(database);
  jest.spyOn(database, 'exec').mockImplementation((statement) => {
    if (statement === 'commit') beforeCommit();
    return exec(statement);
  });
});
afterEach(() => db.destroy());

/** By another connection: what is there is committed. */
function committed(): number[] {
  const other = new File(path);
  const rows = other.prepare('select id from done order by id').all() as { id: number }[];
  other.close();
  return rows.map(({ id }) => id);
}

const write = (id: number) => db.transaction().execute((tx) => tx.insertInto('done').values({ id }).execute());
const numbers = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

it('one that fails takes nobody with it', async () => {
  const failing = (id: number) =>
    db.transaction().execute(async (tx) => {
      await tx.insertInto('done').values({ id }).execute();
      throw new Error(`not ${id}`);
    });
  const settled = await Promise.allSettled(numbers(9).map((id) => (id % 3 === 0 ? failing(id) : write(id))));
  expect(settled.map(({ status }) => status === 'fulfilled')).toEqual(numbers(9).map((id) => id % 3 !== 0));
  expect(committed()).toEqual(numbers(9).filter((id) => id % 3 !== 0));
});

it('a commit that fails loses its own transaction, which hears of it, and no other', async () => {
  beforeCommit = () => {
    beforeCommit = () => undefined;
    throw new Error('the disk is full');
  };
  const settled = await Promise.allSettled(numbers(2).map(write));
  expect(settled.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
  expect(committed()).toEqual([2]);
});

it('a database that is closed meanwhile has those that were done, and refuses the others', async () => {
  const writing = Promise.allSettled(numbers(10).map(write));
  const closing = db.destroy();
  const done = (await writing).flatMap(({ status }, index) => (status === 'fulfilled' ? [index + 1] : []));
  await closing;
  await expect(write(11)).rejects.toThrow();
  expect(committed()).toEqual(done);
});
