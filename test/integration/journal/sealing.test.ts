/** A journal’s database tells whoever has it that there were effects, and not what was ordered. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { postgresFolder } from '../../../deploy/stack/programs';
import { writeByHand } from '../../../src/journal/by-hand';
import type { JournalAddress } from '../../../src/journal/database/dialects';
import { JournalUnreadable } from '../../../src/journal/database/errors';
import type { Journal } from '../../../src/journal/journal';
import { recordOf } from '../../../src/journal/views/record';
import { effectsOf } from '../../../src/journal/rows';
import { readState } from '../../../src/journal/read-state';
import { CannotStart } from '../../../src/config';
import { checkJournalKeys } from '../../../src/operations/journal-keys';
import { parsePayloadKeys } from '../../../src/security/keys';
import { createSealing } from '../../../src/security/sealing';
import { Search } from '../../system/canaries/search';
import { describeEachDatabase } from './databases';
import { add, assign, letPass, openedJournals, place, Run } from './runs';
import { newKey } from '../../support/keys';

const [first, second] = ['first', 'second'].map((id) => `${id}:${newKey()}`);
const sealedWith = (...keys: (string | undefined)[]) => createSealing(parsePayloadKeys(keys.join(',')));

const canaries = {
  'the request': 'canary-request-4b1f',
  'the answer': 'canary-answer-9c2e',
  'the failure': 'canary-failure-77ad',
  'the note of a denial': 'canary-denial-e01b',
  'what was confirmed': 'canary-confirmed-5d3a',
  'the note of a confirmation': 'canary-noted-0f8c',
  'what came late': 'canary-late-61be',
  'what it is found by': 'canary-found-3c17',
  'the note of what was done by hand': 'canary-by-hand-2e90',
  'the report': 'canary-report-a94d',
};
const search = new Search(Object.entries(canaries).map(([name, text]) => ({ name, text, parts: [] })));

/** Everything that is ever sealed. */
async function writeEverything(journal: Journal): Promise<Run> {
  const run = new Run(journal);
  const secret = canaries['the request'];
  await run.take({ label: secret, items: [{ plan_id: 17, password: secret, custom_script: secret }] }, 'AB-1');
  await run.do(add(), 'done', { answer: { cartItemId: 424_242, said: canaries['the answer'] } });
  const order = place(424_242);
  const lost = await run.do(order, 'unknown', { failure: 'UnknownOutcome', answer: canaries['the failure'] });
  await letPass(journal);
  await run.deny(lost.cursor.row, canaries['the note of a denial']);
  const note = { foundBy: canaries['what it is found by'] };
  const rules = { duplicateWithinMs: 1_000, spendLimits: [] };
  const { row } = (await run.do(order, 'unknown', {}, { note, rules })).cursor;
  expect(await journal.db.selectFrom('purchase').select('effect').execute()).toContainEqual({ effect: row });
  await run.answer(order, lost, 'done', { answer: canaries['what came late'] });
  await run.confirm(row, { orderId: canaries['what was confirmed'] }, canaries['the note of a confirmation']);
  const verdict = { by: 'ann', note: canaries['the note of what was done by hand'] };
  await writeByHand(journal, run.key, { calls: [assign], run: run.run, verdict, cursor: run.cursor });
  await run.end('done', { report: { report: canaries['the report'] } });
  return run;
}

/** Its bytes on the disk, or what a backup of it holds. */
function rawBytes(address: JournalAddress): Buffer {
  if ('file' in address) {
    const parts = ['', '-wal'].map((part) => address.file + part).filter((path) => existsSync(path));
    return Buffer.concat(parts.map((path) => readFileSync(path)));
  }
  const args = ['--inserts', '--dbname', address.postgres];
  return execFileSync(join(postgresFolder()!, 'pg_dump'), args, { maxBuffer: 64 * 1024 * 1024 });
}

async function unreadable(refused: Promise<unknown>): Promise<string> {
  const error: unknown = await refused.then(
    () => new Error('it was read'),
    (reason: unknown) => reason,
  );
  if (!(error instanceof JournalUnreadable)) throw error;
  for (const text of Object.values(canaries)) expect(error.message).not.toContain(text);
  return error.message;
}

describeEachDatabase('what is sealed', ({ fresh }) => {
  const opened = openedJournals();
  let address: JournalAddress;
  beforeEach(async () => {
    address = await fresh();
  });

  it('is not in the database, in no form; ids and outcomes are', async () => {
    const journal = await opened(address, sealedWith(first));
    const run = await writeEverything(journal);
    const bytes = rawBytes(address);
    expect(search.in(bytes)).toEqual([]);
    const effects = await effectsOf(journal.db, run.key);
    const ids = [run.key.reference, run.run, '424242', effects[0]!.id];
    for (const text of [...ids, 'place-order', 'denied', 'UnknownOutcome']) expect(bytes.includes(text)).toBe(true);
  });

  it('is in the database where there are no keys: the search would have found it', async () => {
    await writeEverything(await opened(address));
    const seen = new Set(search.in(rawBytes(address)).map(({ canary }) => canary));
    expect([...seen].sort()).toEqual(Object.keys(canaries).sort());
  });

  it.each([
    ['with another key', () => sealedWith(second)],
    ['without keys', () => createSealing(undefined)],
  ])('is not read %s: what it is about is named, nothing is taken for absent, nothing is sent', async (_how, wrong) => {
    const run = await writeEverything(await opened(address, sealedWith(first)));
    const journal = await opened(address, wrong());
    const before = await effectsOf(journal.db, run.key);
    const other = run.again(journal);
    expect(await unreadable(other.take())).toContain('the first request');
    expect(await unreadable(other.intend(place(424_242)))).toContain('the answer of place-order');
    expect(await unreadable(other.intend(add()))).toContain('the answer of add-item-1');
    const standing = readState(journal, run.key, { inFlightMs: 60_000 });
    expect(await unreadable(standing)).toContain('the answer of place-order');
    expect(await effectsOf(journal.db, run.key)).toEqual(before);
  });

  it('is not read with another key, and a clean-up that ended is not taken for the saga all the same', async () => {
    const journal = await opened(address, sealedWith(first));
    const run = new Run(journal);
    await run.take();
    await run.end('reversed');
    await run.end('done', { run: 'clean-up', by: 'cleanCart' });
    const record = await recordOf(await opened(address, sealedWith(second)), run.key);
    expect(record?.state).toBe('reversed');
    // Both may have ended in one millisecond.
    expect(record?.endings.map(({ workflow }) => workflow).sort()).toEqual(['cleanCart', 'provisionServers']);
  });

  describe('a worker, at its start, with keys that are', () => {
    const key = (id: string) => `${id}:${newKey()}`;
    const [written, other] = [key('k1'), key('k1')];
    beforeEach(async () => {
      await Run.begin(await opened(address, sealedWith(written)));
    });

    it('others of the same id: does not start, and says what to set', async () => {
      const started = async (...keys: string[]) =>
        checkJournalKeys(await opened(address, sealedWith(...keys)), () => undefined);
      await expect(started(other)).rejects.toThrow(CannotStart);
      await expect(started(key('k2'), other)).rejects.toThrow(
        /newest requests are marked as encrypted with key “k1”, but that key does not decrypt .* set PAYLOAD_KEYS to the keys of the time/,
      );
    });

    it('of another id: starts, because the old one may be lost for good, and says which is missing', async () => {
      const warned: string[] = [];
      await checkJournalKeys(await opened(address, sealedWith(key('k2'))), (message) => warned.push(message));
      expect(warned).toEqual([
        expect.stringMatching(/encrypted with key “k1”, which is not among PAYLOAD_KEYS \(k2\): their sagas wait/),
      ]);
    });
  });
});
