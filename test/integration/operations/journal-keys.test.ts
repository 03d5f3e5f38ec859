/** Whether a worker has the keys of its journal, at the start. */
import { randomBytes } from 'node:crypto';
import type { JournalAddress } from '../../../src/journal/dialects';
import { checkJournalKeys, WrongKeyError } from '../../../src/operations/journal-keys';
import { parsePayloadKeys } from '../../../src/security/keys';
import { createSealing } from '../../../src/security/sealing';
import { describeEachDatabaseInWays } from '../journal/databases';
import { openedJournals, Run } from '../journal/runs';

const key = (id: string) => `${id}:${randomBytes(32).toString('base64')}`;
const sealedWith = (...keys: string[]) => createSealing(parsePayloadKeys(keys.join(',')));

describeEachDatabaseInWays('the keys of a journal', ({ fresh }) => {
  const opened = openedJournals();
  const [written, other] = [key('k1'), key('k1')];
  let address: JournalAddress;

  beforeEach(async () => {
    address = await fresh();
    await Run.begin(await opened(address, sealedWith(written)));
  });

  /** What a worker with these keys says at its start. */
  async function started(...keys: string[]): Promise<string[]> {
    const warned: string[] = [];
    await checkJournalKeys(await opened(address, sealedWith(...keys)), (message) => warned.push(message));
    return warned;
  }

  it('are the right ones, also beside a new one that encrypts', async () => {
    expect(await started(written)).toEqual([]);
    expect(await started(key('k2'), written)).toEqual([]);
  });

  it('are others of the same id: it does not start, and says what to set', async () => {
    await expect(started(other)).rejects.toThrow(WrongKeyError);
    await expect(started(key('k2'), other)).rejects.toThrow(
      /newest requests are marked as encrypted with key “k1”, but that key does not decrypt .* set PAYLOAD_KEYS to the keys of the time/,
    );
  });

  it('are of another id: the old one may be lost for good, so it starts, and says which is missing', async () => {
    expect(await started(key('k2'))).toEqual([
      expect.stringMatching(/encrypted with key “k1”, which is not among PAYLOAD_KEYS \(k2\): their sagas wait/),
    ]);
  });

  it('are asked for nothing by an empty journal, and by one row that was altered among others', async () => {
    const journal = await opened(await fresh(), sealedWith(other));
    await expect(checkJournalKeys(journal, () => undefined)).resolves.toBeUndefined();
    const damaged = await opened(address, sealedWith(written));
    const run = await Run.begin(damaged);
    const { request } = await damaged.db
      .selectFrom('reference')
      .select('request')
      .where('reference', '=', run.key.reference)
      .executeTakeFirstOrThrow();
    const payload = JSON.parse(request ?? '') as { data: string };
    const altered = JSON.stringify({ ...payload, data: randomBytes(64).toString('base64') });
    await damaged.db
      .updateTable('reference')
      .set({ request: altered })
      .where('reference', '=', run.key.reference)
      .execute();
    expect(await started(written)).toEqual([]);
  });
});
