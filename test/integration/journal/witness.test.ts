/**
 * JOURNAL_WITNESS_FILE of two workers. The journal loses one order, and is put back without a new timeline. The worker
 * that placed it must notice, whichever of the two works first after the restore.
 */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import File from 'libsql';
import type { JournalAddress } from '../../../src/journal/dialects';
import { openJournal } from '../../../src/journal/open';
import { Witness } from '../../../src/journal/witness';
import { createSealing } from '../../../src/security/sealing';
import { inFiles } from './databases';
import { place, Run } from './runs';

const { fresh, copy } = inFiles();

async function worker(address: JournalAddress, witness: string) {
  return openJournal(address, createSealing(undefined), {
    how: 'ask',
    warn: () => undefined,
    witness: new Witness(witness, (message) => {
      throw new Error(message);
    }),
  });
}

it.each([
  ['the worker that placed it works first', copy, 0],
  ['the other worker works first, and writes one row', copy, 1],
  ['another, empty journal stands at its place: a new volume, a database made anew', fresh, 0],
])('an order that the journal lost is not placed again, where %s', async (_where, restore, othersWrite) => {
  const folder = mkdtempSync(join(tmpdir(), 'witness-'));
  const [ofA, ofB] = [join(folder, 'a'), join(folder, 'b')];
  const address = await fresh();
  for (const file of [ofA, ofB]) {
    const journal = await worker(address, file);
    const run = await Run.begin(journal);
    await run.adds(1);
    await run.do(place(1));
    await journal.close();
  }
  const backup = await restore(address);

  // In the lost time: one order, by worker A.
  const a = await worker(address, ofA);
  const first = new Run(a);
  await first.take();
  await first.do(place(2));
  await a.close();

  const b = await worker(backup, ofB);
  for (let n = 0; n < othersWrite; n += 1) await (await Run.begin(b)).adds(9);
  const again = await worker(backup, ofA);
  // The backend sends its request again, or Temporal's retention has forgotten the run: a second start.
  const second = first.again(again);
  await second.take();
  const meant = await second.mean(place(2));
  await b.close();
  await again.close();
  expect(meant.how).toBe('restored');
});

it('a row whose commit failed, which another transaction had read, was never seen', async () => {
  const journal = await worker(await fresh(), join(mkdtempSync(join(tmpdir(), 'witness-')), 'a'));
  const runs = await Promise.all([1, 2, 3].map(() => Run.begin(journal)));
  const { exec } = File.prototype;
  const spied = jest.spyOn(File.prototype, 'exec').mockImplementation(function (this: File.Database, statement) {
    if (statement === 'commit') throw Object.assign(new Error('the disk is full'), { code: 'SQLITE_FULL' });
    return exec.call(this, statement);
  });
  // These two are committed together, or not at all.
  const failed = await Promise.allSettled(runs.slice(1).map((run) => run.mean(place(1))));
  spied.mockRestore();
  expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  const meant = await runs[0]!.mean(place(1));
  await journal.close();
  expect(meant.how).toBe('send');
});
