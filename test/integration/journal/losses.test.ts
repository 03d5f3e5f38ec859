/**
 * PostgreSQL dies, or the way to it is lost, at every moment at which that makes a difference. Nothing is ever meant
 * twice.
 */
import { untilReady } from '../../../scripts/reachable';
import { migrate } from '../../../src/journal/migrate';
import type { Journal } from '../../../src/journal/journal';
import { effectsOf } from '../../../src/journal/standing';
import { describeWithPostgres, PostgresServer } from './postgres';
import { Proxy } from './proxy';
import { letPass, openedJournals, place, rowOf, Run } from './runs';
import { unavailable } from './sentences';
import { describeInWays, itInWays } from '../../support/left-out';

/**
 * A call of the journal gives up well before the activity that waits for it. On a quiet machine it takes about five
 * seconds.
 */
const patienceMs = 10_000;

describeWithPostgres('the journal loses its database', () => {
  const opened = openedJournals();
  let server: PostgresServer;
  let proxy: Proxy;
  let database: string;
  /** By way of the proxy. */
  let journal: Journal;
  /** Not by way of the proxy. */
  let witness: Journal;
  let run: Run;

  beforeAll(async () => {
    server = await PostgresServer.start();
  });
  afterAll(async () => {
    await server.stop();
  });

  beforeEach(async () => {
    database = await server.createDatabase();
    await migrate({ postgres: server.url({ database }) });
    proxy = await Proxy.start(server.port);
    journal = await opened({ postgres: server.url({ database, port: proxy.port }) });
    witness = await opened({ postgres: server.url({ database }) });
    run = await Run.begin(journal);
  });
  afterEach(async () => {
    await proxy.close();
  });

  const crash = async () => {
    await server.part.kill();
  };
  const comeBack = async () => {
    await server.part.restart();
  };
  /** A session of this journal waits for a lock. */
  const untilOneWaits = () =>
    untilReady('a session that waits', async () => {
      const waiting = `select 1 from pg_stat_activity where datname = '${database}' and wait_event_type = 'Lock'`;
      if ((await server.ask(waiting)).length === 0) throw new Error('nobody waits');
    });
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

  // `npm test` has it with a worker: test/system/second-orders/journal-lost.
  describeInWays('by SIGKILL of the server', () => {
    it('before a pivot is meant: nothing is written, and it is meant when the server is there again', async () => {
      await crash();
      const { row } = await quickly(unavailable(run.mean(place(1))));
      await comeBack();
      expect(await effects()).toEqual([]);
      // What may have been written is written off, and was not: the journal goes on.
      const never = { how: 'send', knows: { ...run.knows!, row: row! }, doubts: 0 } as const;
      await run.answer(place(1), never, 'not-done', { failure: 'JournalUnavailable' });
      const { knows } = await run.send(place(1));
      expect(await effects()).toMatchObject([{ id: knows.row, outcome: null }]);
    });

    it('after a pivot was meant: its row is there, and is what is asked about', async () => {
      const { knows } = await run.send(place(1));
      await crash();
      await comeBack();
      expect(await run.again().mean(place(1))).toMatchObject({ how: 'under-way', row: knows.row });
      await letPass(witness);
      expect(await run.again().mean(place(1))).toMatchObject({ how: 'unknown', row: knows.row });
    });
  });

  describe('between a commit and its answer', () => {
    it('finds the row that was written, and sends', async () => {
      const lost = proxy.loseAnswerTo('commit');
      const meant = await run.mean(place(1));
      await lost;
      expect(meant).toMatchObject({ how: 'send', doubts: 0, knows: run.knows });
      expect(await effects()).toMatchObject([{ id: (meant as { knows: { row: string } }).knows.row, outcome: null }]);
    });

    itInWays('finds it also while the server is still at the commit', async () => {
      const { lost, deliver } = proxy.delay('commit');
      const meaning = run.mean(place(1));
      await lost;
      await untilOneWaits();
      deliver();
      expect(await meaning).toMatchObject({ how: 'send' });
      expect(await effects()).toHaveLength(1);
    });

    it('does not mean it when the commit never got there', async () => {
      const { lost } = proxy.delay('commit');
      const meaning = unavailable(run.mean(place(1)));
      await lost;
      await proxy.close();
      const { row } = await quickly(meaning);
      expect(row).toBeDefined();
      expect(await effects()).toEqual([]);
      proxy = await Proxy.start(server.port);
    });

    it.each(['done', 'not-done', 'unknown'] as const)('writes %s again, which changes nothing', async (outcome) => {
      const meant = await run.send(place(1));
      // What only completes its row is one statement.
      const lost = proxy.loseAnswerTo(outcome === 'done' ? 'commit' : '"outcome" is null');
      await unavailable(run.answer(place(1), meant, outcome, { answer: { order: 5 } }));
      await lost;
      const written = await untilWritten(meant.knows.row, outcome);
      await expect(run.answer(place(1), meant, outcome, { answer: { order: 5 } })).resolves.toBe('written');
      expect(await rowOf(witness, meant.knows.row)).toEqual(written);
    });

    it('says a decision again, which changes nothing', async () => {
      const { knows } = await run.do(place(1), 'unknown');
      await letPass(witness);
      const lost = proxy.loseAnswerTo('commit');
      await unavailable(run.deny(knows.row));
      await lost;
      const written = await untilWritten(knows.row, 'denied');
      await expect(run.deny(knows.row)).resolves.toEqual({ how: 'denied' });
      expect(await rowOf(witness, knows.row)).toEqual(written);
    });

    it('takes a reference that it took already', async () => {
      const other = new Run(journal);
      const lost = proxy.loseAnswerTo('(select epoch from journal) as epoch');
      await unavailable(other.take({ label: 'web-9' }));
      await lost;
      expect((await other.take({ label: 'web-9' })).first).toMatchObject({
        run: other.run,
        request: { label: 'web-9' },
      });
    });
  });

  describe('without a word', () => {
    itInWays(
      'goes on with new connections when there is a way again: the silent one is not used once more',
      async () => {
        proxy.swallow();
        await unavailable(run.mean(place(1)));
        proxy.heal();
        expect(await quickly(run.mean(place(1)))).toMatchObject({ how: 'send' });
      },
    );
  });
});
