/** JOURNAL_WITNESS_FILE: an order that the journal lost is noticed, whichever worker comes first after the restore. */
import { join } from 'node:path';
import File from 'libsql';
import type { JournalAddress } from '../../../src/journal/database/dialects';
import { Witness } from '../../../src/journal/restore/witness';
import { folderForFile } from '../../support/folder';
import { inFiles } from './databases';
import { openedJournals, place, Run } from './runs';

const { fresh, copy } = inFiles();

const folder = folderForFile();
const opened = openedJournals();
const worker = (address: JournalAddress, name: string) => {
  const warn = (message: string) => {
    throw new Error(message);
  };
  const witness = new Witness(
    join(folder.path, `${expect.getState().currentTestName}-${name}`.replace(/\W/g, '')),
    warn,
  );
  return opened(address, undefined, { how: 'ask', warn: () => undefined, witness });
};

it.each([
  ['the worker that placed it works first', copy, 0],
  ['the other worker works first, and writes one row', copy, 1],
  ['another, empty journal stands at its place: a new volume, a database made anew', fresh, 0],
])('an order that the journal lost is not placed again, where %s', async (_where, restore, othersWrite) => {
  const address = await fresh();
  for (const name of ['a', 'b']) {
    const journal = await worker(address, name);
    const run = await Run.begin(journal);
    await run.adds(1);
    await run.do(place(1));
    await journal.close();
  }
  const backup = await restore(address);

  // In the lost time: one order, by worker A.
  const a = await worker(address, 'a');
  const first = new Run(a);
  await first.take();
  await first.do(place(2));
  await a.close();

  const b = await worker(backup, 'b');
  for (let n = 0; n < othersWrite; n += 1) await (await Run.begin(b)).adds(9);
  const again = await worker(backup, 'a');
  // The backend sends its request again, or Temporal's retention has forgotten the run: a second start.
  const second = first.again(again);
  await second.take();
  expect(await second.intend(place(2))).toMatchObject({ how: 'restored' });
});

it('a row whose commit failed was never seen', async () => {
  const journal = await worker(await fresh(), 'a');
  const [lost, other] = await Promise.all([Run.begin(journal), Run.begin(journal)]);
  const { exec } = File.prototype;
  const spied = jest.spyOn(File.prototype, 'exec').mockImplementation(function (this: File.Database, statement) {
    if (statement === 'commit') throw Object.assign(new Error('the disk is full'), { code: 'SQLITE_FULL' });
    return exec.call(this, statement);
  });
  await expect(lost.intend(place(1))).rejects.toThrow();
  spied.mockRestore();
  expect(await other.intend(place(1))).toMatchObject({ how: 'send' });
});
