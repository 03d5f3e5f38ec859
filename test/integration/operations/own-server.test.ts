/** Cases that only a server with other limits shows soon: a run that it terminates, and a version that nobody polls for. */
import { NativeConnection } from '@temporalio/worker';
import { startDevServer, type DevServer } from '../../../scripts/dev-server';
import type { SagaWorkerConfig } from '../../../src/operations/saga-worker';
import { LostSagas, noneLost } from '../../../src/operations/lost-sagas';
import { countUnserved } from '../../../src/operations/gauges';
import { unless } from '../../support/left-out';
import { orderThat } from '../../support/orders';
import { changeRequest } from '../../support/requests';
import { Rig, until } from '../../support/rig';
import { answer, untilWaiting } from '../../support/sagas';

const cli = process.env['ORDER_SAGA_TEST_TEMPORAL_CLI'];
const here = unless(cli === undefined ? 'TEMPORAL_ADDRESS names a server, and no CLI is here' : undefined);

/** Before a saga's own mark, and after what a change order needs. */
const eventsMax = 80;

here('a server of its own', () => {
  let server: DevServer;
  let rig: Rig;
  beforeAll(async () => {
    // A poll that waits is not seen again: longer than the test takes from a worker's poll to a look.
    const dynamicConfig = { 'limit.historyCount.error': eventsMax, 'matching.PollerHistoryTTL': '15s' };
    server = await startDevServer({ cli: cli ?? '', ui: false, dynamicConfig });
    rig = await Rig.start({ address: server.address });
  });
  afterAll(async () => {
    await rig.close();
    await server.stop();
  });

  it('a saga that the server has terminated is lost in a way of its own', async () => {
    const look = () => rig.withJournal((journal) => new LostSagas(rig.temporal, journal).look());
    const endless = { endpoint: 'add-cart-item', kind: 'rate-limit', times: 'all' } as const;
    const { saga: byServer } = await orderThat(rig, endless);
    await until(async () => {
      if ((await rig.runOf(byServer).describe()).status.name !== 'RUNNING') return true;
      const { waiting } = await byServer.progress();
      // It may be terminated meanwhile.
      if (waiting) await answer(byServer, 'retry', { note: 'a test' }).catch(() => undefined);
      return false;
    });
    const byPerson = await rig.sagas.change(changeRequest({ approval: 'always' }));
    await untilWaiting(byPerson, 'approval');
    await rig.runOf(byPerson).terminate('a test');
    const expected = { ...noneLost(), terminated: 1, 'terminated-by-server': 1 };
    await until(async () => JSON.stringify(await look()) === JSON.stringify(expected));
  });

  it('sagas that are pinned to a version are counted while nobody polls for it', async () => {
    const { namespace } = rig;
    const deploymentName = 'orders';
    const version = (buildId: string): Partial<SagaWorkerConfig> => ({
      version: { deploymentName, buildId, behavior: 'PINNED' },
    });
    const native = await NativeConnection.connect({ address: server.address });
    const unserved = () => countUnserved(native, { namespace, taskQueue: 'order-saga', ...version('two') } as never);
    expect(await unserved()).toBe(0);

    const first = await rig.replaceWorkers(version('one'));
    await rig.makeCurrent(deploymentName, 'one');
    const saga = await rig.sagas.change(changeRequest({ approval: 'always' }));
    await untilWaiting(saga, 'approval');
    expect(await unserved()).toBe(0);

    await rig.startWorker(version('two'));
    await rig.makeCurrent(deploymentName, 'two');
    await first.stop();
    // On a busy machine the server may let a look wait for longer than the look does; the next one counts.
    const untilUnserved = (sagas: number) => until(async () => (await unserved().catch(() => NaN)) === sagas);
    await untilUnserved(1);
    await rig.startWorker(version('one'));
    await untilUnserved(0);
    await answer(saga, 'approve');
    await saga.result();
    await native.close();
  });
});
