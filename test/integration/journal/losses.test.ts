/**
 * PostgreSQL dies, or the way to it is lost, at every moment at which that makes a difference. Nothing is ever meant
 * twice.
 */
import { untilReady } from '../../../scripts/reachable';
import { migrate } from '../../../src/journal/migrate';
import type { Journal } from '../../../src/journal/journal';
import { effectsOf } from '../../../src/journal/rows';
import { describeWithPostgres } from '../../support/left-out';
import { PostgresServer } from '../../support/postgres';
import { Proxy } from './proxy';
import { letPass, openedJournals, place, rowOf, Run } from './runs';
import { unavailable } from './sentences';

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
    it('finds the row that was written, and sends', async () => {
      const lost = proxy.loseAnswerTo('commit');
      const meant = await run.mean(place(1));
      await lost;
      expect(meant).toMatchObject({ how: 'send', doubts: 0, knows: run.knows });
      expect(await effects()).toMatchObject([{ id: (meant as { knows: { row: string } }).knows.row, outcome: null }]);
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
      // By a connection that has not prepared the statement: its text is sent.
      const other = new Run(await opened({ postgres: server.url({ database, port: proxy.port }) }));
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
    it('goes on with new connections when there is a way again: the silent one is not used once more', async () => {
      proxy.swallow();
      await unavailable(run.mean(place(1)));
      proxy.heal();
      expect(await quickly(run.mean(place(1)))).toMatchObject({ how: 'send' });
    });
  });
});
