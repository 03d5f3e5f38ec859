/**
 * Trouble that goes on for as long as people try: no history grows so long that Temporal ends the run, and the saga ends
 * in order. It is the same code with lower marks, on a server that ends a run at 2,000 events.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startDevServer, type DevServer } from '../../../scripts/dev-server';
import { bundleWorkflows } from '../../../scripts/workflow-bundle';
import { unless } from '../../support/left-out';
import { provisionRequest } from '../../support/requests';
import { Rig } from '../../support/rig';
import { outcomeOf, untilWaiting } from '../../support/sagas';

const cli = process.env['ORDER_SAGA_TEST_TEMPORAL_CLI'];
const here = unless(cli === undefined ? 'TEMPORAL_ADDRESS names a server, and no CLI is here' : undefined);
const eventsMax = 2_000;
const small = (events: number) => ({ events, bytes: 10 * 1024 * 1024 });
const smallMarks = {
  forward: { sideBySideTo: small(400), waitsTo: small(800) },
  undoing: { sideBySideTo: small(600), waitsTo: small(1_000) },
};

here(`on a server that ends a run at ${eventsMax} events`, () => {
  const folder = mkdtempSync(join(tmpdir(), 'order-saga-'));
  let server: DevServer;
  let rig: Rig;
  beforeAll(async () => {
    const lowered = join(folder, 'history-marks.js');
    const bundle = join(folder, 'bundle.js');
    writeFileSync(lowered, `exports.marks = ${JSON.stringify(smallMarks)};`);
    writeFileSync(
      bundle,
      await bundleWorkflows({ instead: { [require.resolve('../../../src/saga/history-marks')]: lowered } }),
    );
    const dynamicConfig = { 'limit.historyCount.error': eventsMax };
    server = await startDevServer({ cli: cli ?? '', ui: false, dynamicConfig });
    rig = await Rig.start({ address: server.address, bundle });
  });
  afterAll(async () => {
    await rig.close();
    await server.stop();
    rmSync(folder, { recursive: true });
  });

  it('signals that do not fit, until there is no room for more', async () => {
    const request = provisionRequest({ items: [{}, {}] });
    rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'unauthorized', times: 'all' });
    const saga = await rig.sagas.provision(request);
    await untilWaiting(saga, 'stuck');
    const run = rig.runOf(saga);
    for (;;) {
      // Each in a workflow task of its own, as people send them.
      const events = (await run.describe()).historyLength;
      const isTold = await run.signal('skip', { question: 'none', note: 'no' }).then(
        () => true,
        () => false,
      );
      if (!isTold || events >= smallMarks.forward.waitsTo.events) break;
      await saga.progress();
    }
    const { failure } = await outcomeOf(saga);
    expect(failure).toMatchObject({ type: 'HistoryFull', report: { outcome: 'reversed', leftovers: [] } });
    expect(rig.openItems(request)).toEqual([]);
  });
});
