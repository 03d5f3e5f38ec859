/** PostgreSQL, or the way to it, is lost at each moment at which that matters: nothing is ever intended twice. */
import { untilReady } from '../../../scripts/reachable';
import { JournalUnavailable } from '../../../src/journal/database/errors';
import type { Journal } from '../../../src/journal/journal';
import { effectsOf } from '../../../src/journal/rows';
import { describeWithPostgres } from '../../support/left-out';
import { inPostgres } from './databases';
import { startProxy, type Proxy } from './proxy';
import { add, openedJournals, place, rowOf, Run } from './runs';
import { unavailable } from './sentences';

/** A call of the journal gives up well before the activity that waits for it: after five seconds on a quiet machine. */
const patienceMs = 10_000;

describeWithPostgres('the journal loses its database', () => {
  const opened = openedJournals();
  const { server, freshDatabase } = inPostgres();
  let proxy: Proxy;
  let database: string;
  /** By way of the proxy. */
  let journal: Journal;
  /** Not by way of the proxy. */
  let witness: Journal;
  let run: Run;

  beforeEach(async () => {
    database = await freshDatabase();
    proxy = await startProxy(server().port);
    journal = await opened({ postgres: server().url({ database, port: proxy.port }) });
    witness = await opened({ postgres: server().url({ database }) });
    run = await Run.begin(journal);
  });
  afterEach(() => proxy.close());

  const quickly = async <T>(call: Promise<T>): Promise<T> => {
    const startedMs = performance.now();
    try {
      return await call;
    } finally {
      expect(performance.now() - startedMs).toBeLessThan(patienceMs);
    }
  };
  const effects = () => effectsOf(witness.db, run.key);
  /** The server goes on with a commit that nobody waits for any more. */
  const untilWritten = async (row: string, outcome: string) => {
    await untilReady(`an outcome ${outcome}`, async () => expect(await rowOf(witness, row)).toMatchObject({ outcome }));
    return rowOf(witness, row);
  };

  describe('between a commit and its answer', () => {
    it.each([
      ['a pivot', 'commit', place(1)],
      ['a step, at once', 'returning *', add()],
    ])(
      'names the row that was written, and sends once that is known not to be done: %s',
      async (_, statement, call) => {
        const lost = proxy.loseAnswerTo(statement);
        const intent = unavailable(run.intend(call));
        await lost;
        const { row = '' } = await quickly(intent);
        await untilReady('the row', async () => expect(await effects()).toMatchObject([{ id: row, outcome: null }]));
        const cursor = { journal: '', epoch: 0, ...run.cursor, row };
        await run.answer(call, { how: 'send', doubts: 0, cursor }, 'not-done', { failure: 'JournalUnavailable' });
        expect(await run.intend(call)).toMatchObject({ how: 'send', doubts: 0 });
        expect(await effects()).toMatchObject([{ outcome: 'not-done' }, { outcome: null }]);
      },
    );

    it('does not intend it when the commit never got there', async () => {
      const lost = proxy.loseOnItsWay('commit');
      const intent = unavailable(run.intend(place(1)));
      await lost;
      await proxy.close();
      const { row } = await quickly(intent);
      expect(row).toBeDefined();
      expect(await effects()).toEqual([]);
      proxy = await startProxy(server().port);
    });

    const answers = (['done', 'not-done', 'unknown'] as const).flatMap((outcome) => [
      { outcome, what: 'a pivot', statement: 'commit', call: place(1) },
      { outcome, what: 'a step, at once', statement: 'and "outcome" is null', call: add() },
    ]);
    it.each(answers)('writes $outcome again, which changes nothing: $what', async ({ outcome, statement, call }) => {
      const intended = await run.send(call);
      const lost = proxy.loseAnswerTo(statement);
      await unavailable(run.answer(call, intended, outcome, { answer: { order: 5 } }));
      await lost;
      const written = await untilWritten(intended.cursor.row, outcome);
      await expect(run.answer(call, intended, outcome, { answer: { order: 5 } })).resolves.toBe('written');
      expect(await rowOf(witness, intended.cursor.row)).toEqual(written);
    });
  });

  it('without a word, and goes on with new connections when there is a way again: no silent one is used', async () => {
    proxy.swallow();
    await unavailable(run.intend(place(1)));
    proxy.heal();
    expect(await quickly(run.intend(place(1)))).toMatchObject({ how: 'send' });
  });

  /** It did not wait for its synchronous standby. The server’s own settings keep warnings to itself. */
  describe('a commit that is answered with a warning only', () => {
    const settings = async (change: string) => {
      await server().ask(`alter system ${change}`);
      await server().ask('select pg_reload_conf()');
    };
    afterEach(() => settings('reset synchronous_standby_names'));

    it.each([
      ['an undo, in a transaction', 'compensate', 'unassignFirewalls'],
      ['a pivot, in a transaction', 'pivot', 'placeChangeOrder'],
      ['a step, in one statement', 'mutate', 'assignFirewalls'],
    ] as const)('counts as lost, and nothing is sent: %s', async (_, kind, activity) => {
      await server().ask(`alter database ${database} set client_min_messages = 'error'`);
      const address = { postgres: server().url({ database }) };
      const lossless = await opened(address, undefined, { how: 'lossless', warn: () => undefined });
      const key = { workflow: 'changeOrder', reference: 'PO-1' } as const;
      const { cursor } = await lossless.take(key, { account: undefined, request: {}, run: 'r' });
      // From here on every commit waits for a standby that is down.
      await settings(`set synchronous_standby_names = 'standby1'`);
      const isSet = `select 1 from pg_settings where name = 'synchronous_standby_names' and setting = 'standby1'`;
      await untilReady('the setting', async () => expect(await server().ask(isSet)).toHaveLength(1));
      const call = { step: 'a-step', kind, activity, about: {} };
      const intended = lossless
        .intend({ ...key, call, run: 'r', inFlightMs: 1_000, cursor })
        .catch((error: unknown) => error);
      const waiting = `from pg_stat_activity where wait_event = 'SyncRep' and application_name = 'order-saga'`;
      await untilReady('its wait', async () => expect(await server().ask(`select pid ${waiting}`)).toHaveLength(1));
      await server().ask(`select pg_cancel_backend(pid) ${waiting}`);
      expect(await intended).toBeInstanceOf(JournalUnavailable);
    });
  });
});
