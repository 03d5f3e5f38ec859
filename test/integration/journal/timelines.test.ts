/** On another timeline, after a restore or a failover, nothing is sent before a person has said what it means. */
import { untilReady } from '../../../scripts/reachable';
import { nothingLost } from '../../../src/journal/restore/confirm-restore';
import { healthOf, isSilent } from '../../../src/journal/open';
import type { Journal } from '../../../src/journal/journal';
import { effectsOf } from '../../../src/journal/rows';
import { readState } from '../../../src/journal/read-state';
import { describeWithPostgres } from '../../support/left-out';
import { inPostgres } from './databases';
import { inFlightMs, journalRow, openedJournals, place, Run } from './runs';
import { said } from '../../support/operator';

/** As docs/deploying.md gives them to a worker. */
const rightsOfWorker = `
  grant select, insert, update on journal, reference, effect, ending, correction, purchase, wait, deed to worker;
  grant select, insert on confirmation to worker;
  grant select, insert, update, delete on turn, server to worker;
  grant select on kysely_migration to worker`;

const newTimeline =
  /^the journal’s database was restored or failed over: it is on timeline (\d+) of cluster (\d+), and was on (\d+)$/;

describeWithPostgres('the timeline of the journal’s database', () => {
  const { server, freshDatabase } = inPostgres();
  let database: string;
  const opened = openedJournals();
  beforeAll(async () => {
    await server().ask(`create role worker login password 'canary-of-a-worker'`);
  });
  beforeEach(async () => {
    database = await freshDatabase();
    await server().ask(rightsOfWorker, { database });
  });

  const asWorker = (how: 'ask' | 'lossless' = 'ask', warn: (message: string) => void = () => undefined) => {
    const postgres = server().url({ database, user: 'worker', password: 'canary-of-a-worker' });
    return opened({ postgres }, undefined, { how, warn });
  };

  const promote = () => server().promote();

  /** Connections that were lost say so once. */
  const reached = (journal: Journal) => untilReady('the journal', () => journalRow(journal));

  it('is known from the start, and stays what it was after a crash', async () => {
    const journal = await asWorker();
    const { identity } = await journalRow(journal);
    expect(identity).toMatch(/^\d+\/[0-9A-F]{8}$/);
    const run = await Run.begin(journal);
    await server().part.kill();
    await server().part.restart();
    await reached(journal);
    expect(await run.intend(place(1))).toMatchObject({ how: 'send' });
    expect(await isSilent(journal)).toBe(false);
    expect((await journalRow(journal)).identity).toBe(identity);
  });

  it('is another one after a promotion: nothing is sent until a person says that nothing was lost', async () => {
    const journal = await asWorker();
    const run = await Run.begin(journal);
    const { identity, epoch } = await journalRow(journal);
    await promote();
    await reached(journal);
    expect(await run.intend(place(1))).toMatchObject({ how: 'restored', why: expect.stringMatching(newTimeline) });
    // Also one that knows nothing, and one that has not begun.
    expect(await run.again().intend(place(1), { cursor: undefined })).toMatchObject({ how: 'restored' });
    const late = await Run.begin(journal);
    expect(await late.intend(place(2))).toMatchObject({ how: 'restored' });
    expect(await readState(journal, run.key, { inFlightMs })).toMatchObject({ placement: { how: 'restored' } });
    expect(await effectsOf(journal.db, run.key)).toEqual([]);
    expect(await healthOf(journal)).toMatchObject({ restored: true });
    // The mark is for what a history knows.
    expect(await journalRow(journal)).toMatchObject({ restored_ms: null, identity });

    expect(await nothingLost(journal, said)).toMatchObject({ how: 'accepted' });
    expect(await journalRow(journal)).toMatchObject({ epoch, raised_ms: 0 });
    expect(await healthOf(journal)).toMatchObject({ restored: false });
    expect(await run.intend(place(1))).toMatchObject({ how: 'send' });
    expect(await nothingLost(journal, said)).toEqual({ how: 'nothing-to-say' });
  });

  it('is nothing to ask about where a failover loses nothing, and is told once', async () => {
    const said: string[] = [];
    const journal = await asWorker('lossless', (message) => said.push(message));
    const runs = [await Run.begin(journal), await Run.begin(journal), await Run.begin(journal)];
    await promote();
    await reached(journal);
    expect(await healthOf(journal)).toMatchObject({ restored: false });
    const ways = await Promise.all(runs.map((run) => run.intend(place(1))));
    expect(ways.map(({ how }) => how)).toEqual(['send', 'send', 'send']);
    expect(said).toEqual([expect.stringMatching(/failed over to timeline \d+ of cluster/)]);
    // Workers with the rule `ask` go on, too.
    expect(await (await Run.begin(await asWorker())).intend(place(1))).toMatchObject({ how: 'send' });
  });

  const execute = 'execute on function pg_control_system()';
  const [known, gone] = ['pg_current_wal_lsn', 'pg_gone'];
  it.each([
    ['may not be asked', `revoke ${execute} from public`, `grant ${execute} to public`],
    ['does not exist', `alter function ${known}() rename to ${gone}`, `alter function ${gone}() rename to ${known}`],
  ])('is asked about once where it %s any more, and then is none', async (_, forbid, allow) => {
    await server().ask(forbid, { database });
    const journal = await asWorker('lossless');
    expect(await isSilent(journal)).toBe(true);
    const run = await Run.begin(journal);
    expect(await run.intend(place(1))).toMatchObject({
      how: 'restored',
      why: expect.stringMatching(/does not say any more which one it is/),
    });
    expect(await nothingLost(journal, said)).toMatchObject({ how: 'accepted' });
    expect(await journalRow(journal)).toMatchObject({ identity: null });
    expect(await run.intend(place(1))).toMatchObject({ how: 'send' });
    expect(await nothingLost(journal, said)).toEqual({ how: 'nothing-to-say' });
    await server().ask(allow, { database });
    expect(await run.intend(place(1))).toMatchObject({ how: 'under-way' });
    // From now on it is known.
    expect((await journalRow(journal)).identity).toMatch(/^\d+\//);
  });
});
