/**
 * Trouble that goes on for as long as people retry: no history grows so long that Temporal ends the run, and each saga
 * ends in order.
 *
 * Once at full size. Every other way at a small one: the same code with lower marks, on a server that ends a run at
 * 2,000 events.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import type { FaultSpec } from '../../../sandbox/faults';
import { callsTo } from '../../../sandbox/sentences';
import { startDevServer, type DevServer } from '../../../scripts/dev-server';
import { bundleWorkflows } from '../../../scripts/workflow-bundle';
import { DecisionRefusedError, SagaEndedError } from '../../../src/client/errors';
import type { SagaHandle } from '../../../src/client/handle';
import { itInWays } from '../../support/left-out';
import { unless } from '../../support/left-out';
import { planIdOf, provisionRequest } from '../../support/requests';
import { Rig } from '../../support/rig';
import { outcomeOf, untilWaiting, untilWaitingOrEnded } from '../../support/sagas';

const eventsOf = async (temporal: Client, { workflowId }: SagaHandle) =>
  (await temporal.workflow.getHandle(workflowId).describe()).historyLength;

const times = <T>(length: number, make: () => T): T[] => Array.from({ length }, make);

/** Retries what it waits for, whatever that is. @returns how often */
async function retryToTheEnd(saga: SagaHandle): Promise<number> {
  for (let count = 0; ; count += 1) {
    const waiting = await untilWaitingOrEnded(saga);
    if (waiting === undefined) return count;
    await saga.decide('retry', { by: 'op', question: waiting.id }).catch((error: unknown) => {
      // It has decided by itself meanwhile.
      if (!(error instanceof DecisionRefusedError) && !(error instanceof SagaEndedError)) throw error;
    });
  }
}

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

  const fault = (request: { reference: string }, spec: Omit<FaultSpec, 'match'>) =>
    rig.sandbox.faults.add({ ...spec, match: { planId: planIdOf(request.reference) } });
  afterEach(() => {
    rig.sandbox.faults.clear();
  });

  itInWays('an item that can never be added: it fails as HistoryFull, and puts all back', async () => {
    const request = provisionRequest({ items: times(8, () => ({})) });
    fault(request, { endpoint: 'add-cart-item', kind: 'rate-limit', from: 5, times: 'all' });
    const saga = await rig.sagas.provision(request);
    // More than its automatic retries would leave room for.
    expect(await retryToTheEnd(saga)).toBeGreaterThan(12);
    const { failure } = await outcomeOf(saga);
    expect(failure).toMatchObject({ type: 'HistoryFull', report: { outcome: 'reversed', leftovers: [] } });
    expect(failure?.report.why).toMatch(/^add-cart-item-\d: the history of this run is full/);
    expect(callsTo(rig.sandbox.ledger, 'delete-cart-item').length).toBeGreaterThanOrEqual(4);
    expect(rig.openItems(request)).toEqual([]);
    expect(await eventsOf(rig.temporal, saga)).toBeLessThan(eventsMax);
  });

  it('signals that do not fit, until there is no room for more', async () => {
    const request = provisionRequest({ items: [{}, {}] });
    fault(request, { endpoint: 'place-order', kind: 'unauthorized', times: 'all' });
    const saga = await rig.sagas.provision(request);
    await untilWaiting(saga, 'stuck');
    const run = rig.runOf(saga);
    for (;;) {
      // Each in a workflow task of its own, as people send them.
      const events = await eventsOf(rig.temporal, saga);
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
