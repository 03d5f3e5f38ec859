/** Whether a worker has the keys of its journal, at the start. */
import { randomBytes } from 'node:crypto';
import type { JournalAddress } from '../../../src/journal/dialects';
import { checkJournalKeys, WrongKeyError } from '../../../src/operations/journal-keys';
import { parsePayloadKeys } from '../../../src/security/keys';
import { createSealing } from '../../../src/security/sealing';
import { describeEachDatabase } from '../journal/databases';
import { openedJournals, Run } from '../journal/runs';

const key = (id: string) => `${id}:${randomBytes(32).toString('base64')}`;
const sealedWith = (...keys: string[]) => createSealing(parsePayloadKeys(keys.join(',')));

describeEachDatabase('the keys of a journal', ({ fresh }) => {
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
});
