/**
 * The journal's database dies while an order is on its way: before it is intended, between intent and sending, and
 * between the answer and its writing. The worker stands still at that point until the database is dead; the database
 * comes back after it.
 */
import { changeOrdersOf, callsTo } from '../../../sandbox/sentences';
import { startProcess, type RunningProcess } from '../../../scripts/processes';
import { migrate } from '../../../src/journal/open';
import { PostgresServer } from '../../support/postgres';
import { describeWithPostgres, itInWays } from '../../support/left-out';
import { isStopped } from '../../support/is-running';
import { programOf, stopPoints } from '../../support/programs';
import { changeRequest } from '../../support/requests';
import { Rig, until } from '../../support/rig';
import { stepOf } from '../../support/sagas';

describeWithPostgres('PostgreSQL is killed', () => {
  let server: PostgresServer;
  let rig: Rig;
  let worker: RunningProcess | undefined;

  beforeEach(async () => {
    server = await PostgresServer.start();
    const postgres = server.url({ database: await server.createDatabase() });
    await migrate({ postgres });
    rig = await Rig.start({ worker: false, journal: { postgres } });
  });
  afterEach(async () => {
    await worker?.kill('SIGKILL');
    await rig.close();
    await server.stop();
  });

  itInWays.each([
    ['before-intend', 'nothing is sent, and it is tried again'],
    ['before-answered', 'its answer is written down when the journal is back'],
  ])('%s: %s', goesOn);
  it.each([['after-intend', 'it is sent, and written down when the journal is back']])('%s: %s', goesOn);

  async function goesOn(at: string): Promise<void> {
    const environment = {
      ...rig.environment,
      STOP_AT: at,
      RETRY_BUDGET: '10,1000,15000,120000',
    };
    worker = await startProcess(programOf('worker'), environment, ['--require', stopPoints]);
    const { pid } = worker;
    const request = changeRequest();
    const saga = await rig.sagas.change(request);
    await until(() => isStopped(pid));
    await server.part.kill();
    process.kill(pid, 'SIGCONT');
    const sent = () => callsTo(rig.sandbox.ledger, 'place-change-order').length;
    if (at === 'before-intend') {
      await until(async () =>
        (await stepOf(saga, 'place-change-order'))?.detail?.includes('the journal cannot be used'),
      );
      expect(sent()).toBe(0);
    } else await until(async () => sent() === 1);
    await server.part.restart();
    // Nobody is asked: what became of it is known.
    expect(await saga.result()).toMatchObject({ order: expect.anything() as unknown, decisions: [] });
    expect(changeOrdersOf(rig.sandbox.ledger, request.subscription_id)).toHaveLength(1);
    expect(sent()).toBe(1);
    const rows = await rig.withJournal(({ db }) =>
      db.selectFrom('effect').select('outcome').where('kind', '=', 'pivot').orderBy('seq').execute(),
    );
    expect(rows.at(-1)?.outcome).toBe('done');
    expect(rows.filter(({ outcome }) => outcome !== 'done' && outcome !== 'not-done')).toEqual([]);
  }
});
