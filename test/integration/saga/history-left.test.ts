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
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import type { FaultSpec } from '../../../sandbox/faults';
import { callsTo, firewallsOf, ordersWithLabel } from '../../../sandbox/sentences';
import { startDevServer, type DevServer } from '../../../scripts/dev-server';
import { bundleWorkflows } from '../../../scripts/workflow-bundle';
import { DecisionRefusedError, SagaEndedError } from '../../../src/client/errors';
import type { SagaHandle } from '../../../src/client/handle';
import { searchAttributeNames } from '../../../src/domain/identity';
import { marks } from '../../../src/saga/history-marks';
import { describeInAll, itInWays, unless } from '../../support/left-out';
import { changeRequest, firewallsRequest, planIdOf, provisionRequest } from '../../support/requests';
import { Rig, until } from '../../support/rig';
import { answer, outcomeOf, untilWaiting, untilWaitingOrEnded } from '../../support/sagas';

const eventsOf = async (temporal: Client, { workflowId }: SagaHandle) =>
  (await temporal.workflow.getHandle(workflowId).describe()).historyLength;

/**
 * By the list's attribute: to ask so large a saga for its progress again and again would be most of the work. @returns
 * since when
 */
const untilAskedAfter = (temporal: Client, { workflowId }: SagaHandle, before: string | undefined): Promise<string> =>
  until(async () => {
    const { typedSearchAttributes } = await temporal.workflow.getHandle(workflowId).describe();
    const since = typedSearchAttributes.get(waitingSince)?.toISOString();
    return since !== before && since;
  });
const waitingSince = defineSearchAttributeKey(searchAttributeNames.waitingSince, SearchAttributeType.DATETIME);

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

describeInAll('at full size', () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await Rig.start();
  });
  afterAll(() => rig.close());

  it('200 items go through 50 rounds of trouble, and all are ordered', async () => {
    const request = provisionRequest({ items: times(200, () => ({})) });
    const match = { planId: planIdOf(request.reference) };
    const trouble = rig.sandbox.faults.add({ endpoint: 'add-cart-item', kind: 'rate-limit', times: 'all', match });
    const saga = await rig.sagas.provision(request);
    let since: string | undefined;
    for (let round = 1; round <= 50; round += 1) {
      since = await untilAskedAfter(rig.temporal, saga, since);
      if (round === 50) rig.sandbox.faults.lift(trouble);
      await answer(saga, 'retry', { by: 'op' });
    }
    const { outcome, cartItemIds, leftovers } = await saga.result();
    expect(cartItemIds).toHaveLength(200);
    // Where the machine is so busy that a call ends without an answer, that is told.
    expect(leftovers.filter(({ kind }) => kind !== 'cart-item-unknown')).toEqual([]);
    expect(outcome).toBe(leftovers.length === 0 ? 'done' : 'partly');
    expect(ordersWithLabel(rig.sandbox.ledger, request.reference)).toHaveLength(1);
    // It was tried side by side at first, and in the end by one call a round.
    expect(await eventsOf(rig.temporal, saga)).toBeGreaterThan(marks.forward.sideBySideTo.events);
    expect(await eventsOf(rig.temporal, saga)).toBeLessThan(marks.forward.waitsTo.events);
  }, 600_000);
});

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

  itInWays('nor put back: what is left is told, and in the journal', async () => {
    const request = provisionRequest({ items: times(8, () => ({})) });
    fault(request, { endpoint: 'add-cart-item', kind: 'rate-limit', from: 5, times: 'all' });
    rig.sandbox.faults.add({ endpoint: 'delete-cart-item', kind: 'rate-limit', times: 'all' });
    const saga = await rig.sagas.provision(request);
    await retryToTheEnd(saga);
    const { failure } = await outcomeOf(saga);
    expect(failure).toMatchObject({ type: 'HistoryFull', report: { outcome: 'reversed-with-leftovers' } });
    const left = rig.openItems(request).map(({ cartItemId }) => cartItemId);
    expect(left).toHaveLength(4);
    const told = failure?.report.leftovers.map((one) => (one.kind === 'cart-item' ? one.cartItemId : one.kind));
    expect(told?.sort()).toEqual(left.sort());
    const endings = await rig.withJournal(({ db }) =>
      db.selectFrom('ending').select('outcome').where('reference', '=', request.reference).execute(),
    );
    expect(endings).toEqual([{ outcome: 'reversed-with-leftovers' }]);
    expect(await eventsOf(rig.temporal, saga)).toBeLessThan(eventsMax);
  });

  itInWays('past the order: it ends as partly, and names the servers without firewalls', async () => {
    const request = provisionRequest({ items: [{ quantity: 8 }], firewalls: [143] });
    rig.sandbox.faults.add({ endpoint: 'assign-firewalls', kind: 'rate-limit', from: 3, times: 'all' });
    const saga = await rig.sagas.provision(request);
    await retryToTheEnd(saga);
    const { result } = (await outcomeOf(saga)) as { result: { outcome: string; leftovers: { vmObjectId: number }[] } };
    expect(result.outcome).toBe('partly');
    const [order] = ordersWithLabel(rig.sandbox.ledger, request.reference);
    const open = order?.vmObjectIds.filter((id) => firewallsOf(rig.sandbox.ledger, id).length === 0);
    expect(open).toHaveLength(6);
    expect(result.leftovers.map(({ vmObjectId }) => vmObjectId).sort()).toEqual(open?.sort());
    expect(await eventsOf(rig.temporal, saga)).toBeLessThan(eventsMax);
  });

  itInWays('one that never gets through does not keep the others back', async () => {
    const request = provisionRequest({ items: [{ quantity: 8 }], firewalls: [143] });
    const all = rig.sandbox.faults.add({ endpoint: 'assign-firewalls', kind: 'rate-limit', times: 'all' });
    const saga = await rig.sagas.provision(request);
    for (let events = 0; events < smallMarks.forward.sideBySideTo.events; events = await eventsOf(rig.temporal, saga)) {
      const { id } = await untilWaiting(saga, 'stuck');
      await saga.decide('retry', { question: id });
    }
    const { id } = await untilWaiting(saga, 'stuck');
    const [order] = ordersWithLabel(rig.sandbox.ledger, request.reference);
    const [vmObjectId] = order!.vmObjectIds;
    rig.sandbox.faults.add({ endpoint: 'assign-firewalls', kind: 'rate-limit', times: 'all', match: { vmObjectId } });
    rig.sandbox.faults.lift(all);
    await saga.decide('retry', { question: id });
    const protectedNow = () => order!.vmObjectIds.filter((id) => firewallsOf(rig.sandbox.ledger, id).length > 0);
    for (let retries = 0; protectedNow().length < 7; retries += 1) {
      const { id } = await untilWaiting(saga, 'stuck');
      if (protectedNow().length < 7) await saga.decide('retry', { question: id });
      expect(retries).toBeLessThan(3);
    }
    rig.sandbox.faults.clear();
    await retryToTheEnd(saga);
    expect(await saga.result()).toMatchObject({ outcome: 'done' });
  });

  itInWays('a pivot that is never sent: nothing is placed, and nothing left', async () => {
    const request = changeRequest();
    const match = { subscriptionId: request.subscription_id };
    rig.sandbox.faults.add({ endpoint: 'place-change-order', kind: 'rate-limit', times: 'all', match });
    const saga = await rig.sagas.change(request);
    await retryToTheEnd(saga);
    expect((await outcomeOf(saga)).failure).toMatchObject({
      type: 'HistoryFull',
      report: { outcome: 'reversed', leftovers: [] },
    });
    expect(await eventsOf(rig.temporal, saga)).toBeLessThan(eventsMax);
  });

  itInWays('firewalls: both what was assigned and what could not be unassigned are put back', async () => {
    const request = firewallsRequest({ assign: [143], unassign: [7] });
    const { vmObjectId } = request;
    rig.sandbox.addServer({ vmObjectId, firewalls: [7] });
    rig.sandbox.faults.add({ endpoint: 'unassign-firewalls', kind: 'rate-limit', times: 'all', match: { vmObjectId } });
    const saga = await rig.sagas.firewalls(request);
    await retryToTheEnd(saga);
    const { failure } = await outcomeOf(saga);
    // To unassign again fails as well: so it stays, and is told.
    expect(failure).toMatchObject({
      type: 'HistoryFull',
      report: { outcome: 'reversed-with-leftovers', leftovers: [{ kind: 'firewalls', vmObjectId, firewalls: [143] }] },
    });
    expect(await eventsOf(rig.temporal, saga)).toBeLessThan(eventsMax);
  });

  describe('what a person has done by hand while a saga undoes, and the journal takes nothing', () => {
    /** Past the mark up to which a saga waits that does not undo. */
    async function undoing() {
      const request = provisionRequest();
      fault(request, { endpoint: 'place-order', kind: 'refuse-before' });
      fault(request, { endpoint: 'delete-cart-item', kind: 'unauthorized', times: 'all' });
      const saga = await rig.sagas.provision(request);
      for (;;) {
        const { id } = await untilWaiting(saga, 'stuck');
        if ((await eventsOf(rig.temporal, saga)) > smallMarks.forward.waitsTo.events) break;
        await saga.decide('retry', { question: id });
        await until(async () => (await saga.progress()).waiting?.id !== id);
      }
      await journalIsPutBack(true);
      await saga.decide('markDone', { question: (await untilWaiting(saga)).id, note: 'deleted in the panel' });
      expect(await untilWaiting(saga)).toMatchObject({
        step: 'write-by-hand',
        choices: ['retry'],
        question: expect.stringMatching(/^Undoing: “Write into the journal what was done by hand”.*Then retry\.$/s),
      });
      return saga;
    }
    const journalIsPutBack = (is: boolean) =>
      rig.withJournal(({ db }) =>
        db
          .updateTable('journal')
          .set({ put_back_ms: is ? Date.now() : null })
          .execute(),
      );
    afterEach(() => journalIsPutBack(false));

    itInWays('is written once it does', async () => {
      const saga = await undoing();
      await journalIsPutBack(false);
      await answer(saga, 'retry');
      expect((await outcomeOf(saga)).failure?.report).toMatchObject({ outcome: 'reversed', leftovers: [] });
    });

    itInWays('is told as left behind, with who said so, where there is no room any more', async () => {
      const saga = await undoing();
      await retryToTheEnd(saga);
      expect((await outcomeOf(saga)).failure?.report).toMatchObject({
        outcome: 'reversed-with-leftovers',
        leftovers: [
          {
            kind: 'cart-item',
            why: 'done by hand, says a person: deleted in the panel; the journal could not be told',
          },
        ],
      });
      expect(await eventsOf(rig.temporal, saga)).toBeLessThan(eventsMax);
    });
  });

  it('signals that do not fit, until there is no room for more', async () => {
    const request = provisionRequest({ items: [{}, {}] });
    fault(request, { endpoint: 'place-order', kind: 'unauthorized', times: 'all' });
    const saga = await rig.sagas.provision(request);
    await untilWaiting(saga, 'stuck');
    const run = rig.temporal.workflow.getHandle(saga.workflowId);
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
