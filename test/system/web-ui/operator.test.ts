/**
 * The work of people who are called at night, in the Web UI that they have: find, read, decide, see it go on. Driven in
 * a real browser against the dev server's own Web UI, and checked against the sandbox's ledger.
 *
 * ORDER_SAGA_PICTURES=1 also takes the pictures of `docs/operating.md`.
 */
import type { Browser } from 'playwright-core';
import { callsTo, openCartItems, noOrderPlacedTwice, ordersWithLabel } from '../../../sandbox/sentences';
import type { FaultSpec } from '../../../sandbox/faults';
import type { SagaHandle } from '../../../src/client/handle';
import { parseSpendLimits } from '../../../src/domain/spending';
import type { DecisionName } from '../../../src/domain/decisions';
import type { Waiting, WaitKind } from '../../../src/domain/progress';
import { changeRequest, provisionRequest } from '../../support/requests';
import { unlessLacking } from '../../support/left-out';
import { Rig, until } from '../../support/rig';
import { outcomeOf, untilState, untilWaiting } from '../../support/sagas';
import { launchChromium, whyNoBrowser } from './chromium';
import { OperatorPage } from './operator-page';

const whyNot = whyNoBrowser();
const here = unlessLacking(whyNot);

here('an operator in the Web UI', () => {
  let rig: Rig;
  let browser: Browser;
  let operator: OperatorPage;

  beforeAll(async () => {
    if (whyNot !== undefined) throw new Error(whyNot);
    rig = await Rig.start({ activities: { spendLimits: parseSpendLimits('ZZ-9=1 servers/1h') } });
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser.close();
    await rig.close();
  });
  beforeEach(async () => {
    rig.sandbox.faults.clear();
    operator = await OperatorPage.open(browser, process.env['ORDER_SAGA_TEST_TEMPORAL_UI'] ?? '', rig.namespace);
  });
  afterEach(() => operator.close());

  /** An order whose call to place it meets the fault. */
  async function order(reference: string, fault: Partial<FaultSpec> = {}, changes: Record<string, unknown> = {}) {
    if (fault.kind) {
      rig.sandbox.faults.add({ endpoint: 'place-order', match: { label: reference }, ...fault } as FaultSpec);
    }
    const request = provisionRequest({ reference, account: 'AB-12345678', label: reference, ...changes });
    return rig.sagas.provision(request);
  }

  async function openWaiting(saga: SagaHandle, kind: WaitKind): Promise<Waiting> {
    const waiting = await untilWaiting(saga, kind);
    await operator.openRun(saga.workflowId, saga.runId);
    return waiting;
  }

  /** As a person does it: what the details give to be pasted, with the words in quotes typed over. */
  async function typedOver(name: DecisionName, words: object): Promise<string> {
    return JSON.stringify({ ...(await operator.toPaste(name)), ...words });
  }

  it('finds a stuck order by the filter, reads why, and retries it', async () => {
    await order('PO-2026-0041');
    const saga = await order('PO-2026-0042', { kind: 'unauthorized' }, { items: [{}, {}] });
    await untilWaiting(saga, 'stuck');

    const stuck = 'ExecutionStatus="Running" AND SagaState="stuck"';
    expect(await operator.listed(stuck, saga.workflowId)).toEqual([saga.workflowId]);
    await operator.picture('list-stuck');
    await operator.openListed(saga.workflowId);

    const details = await operator.currentDetails(/Stuck/);
    expect(details).toContain('“Place the order” did not succeed');
    expect(details).toContain('The provider refuses our credentials');
    const { id } = await untilWaiting(saga, 'stuck');
    expect(await operator.toPaste('retry')).toEqual({ question: id, by: 'you' });
    expect(details).toContain(`This is question ${id}`);
    expect(details).toContain('The provider said');
    expect(await operator.detailsFit()).toBe(true);
    expect(await operator.choicesShow()).toBe(true);
    await operator.picture('details-stuck');

    await operator.prepareUpdate('retry', await typedOver('retry', { by: 'Ada', note: 'the token was renewed' }));
    await operator.picture('send-retry');
    expect(await operator.submitUpdate()).toBeUndefined();
    await operator.untilStatus('Completed');

    expect(ordersWithLabel(rig.sandbox.ledger, 'PO-2026-0042')).toHaveLength(1);
    expect(await saga.result()).toMatchObject({
      decisions: [{ decision: 'retry', kind: 'stuck', step: 'place-order', by: 'Ada', note: 'the token was renewed' }],
    });
  });

  it('settles an unknown outcome with confirmPlaced and the servers’ ids', async () => {
    const saga = await order('PO-2026-0043', { kind: 'reset-after' }, { firewalls: [143] });
    const { id } = await openWaiting(saga, 'outcome-unknown');
    const details = await operator.currentDetails(/not known whether the provider placed the order/);
    expect(details).toContain('Look now in the provider’s control panel');
    expect(await operator.detailsFit()).toBe(true);
    expect(await operator.choicesShow()).toBe(true);
    await operator.picture('details-outcome-unknown');

    const [placed] = ordersWithLabel(rig.sandbox.ledger, 'PO-2026-0043');
    const orderId = String(placed?.orderId);
    const seen = { by: 'Ada', note: 'it is in the control panel', orderId, vmObjectIds: placed?.vmObjectIds };
    expect(await operator.sendUpdate('confirmPlaced', await typedOver('confirmPlaced', seen))).toBeUndefined();
    await operator.untilStatus('Completed');

    expect(ordersWithLabel(rig.sandbox.ledger, 'PO-2026-0043')).toHaveLength(1);
    expect(await saga.result()).toMatchObject({
      servers: [{ vmObjectId: placed?.vmObjectIds[0], firewalls: [143], verified: true }],
      decisions: [{ decision: 'confirmPlaced', question: id, ...seen }],
    });
  });

  it('approves a quote', async () => {
    const reference = 'CH-2026-0007';
    const saga = await rig.sagas.change(changeRequest({ reference, subscription_id: 5512, approval: 'always' }));
    await openWaiting(saga, 'approval');
    const details = await operator.currentDetails(/Approve .*: 5 usd/);
    expect(details).toContain('reject');
    expect(await operator.detailsFit()).toBe(true);
    expect(await operator.choicesShow()).toBe(true);
    await operator.picture('details-approval');

    expect(await operator.sendUpdate('approve', await typedOver('approve', { by: 'Ada' }))).toBeUndefined();
    await operator.untilStatus('Completed');
    expect(await saga.result()).toMatchObject({ decisions: [{ decision: 'approve', by: 'Ada' }] });
  });

  it('holds new sagas, and lets them go', async () => {
    const json = JSON.stringify({ by: 'Ada', note: 'the provider works on it' });
    await operator.prepareStart({ workflowId: 'hold', type: 'hold', json });
    await operator.start();
    const { runId } = await rig.temporal.workflow.getHandle('hold').describe();
    await operator.openRun('hold', runId);
    // Until a worker has taken it up, nobody knows by whom: a saga would ask again only minutes later.
    await operator.currentDetails(/by Ada/);
    const saga = await order('PO-2026-0055');
    await untilState(saga, 'held');
    await operator.openRun(saga.workflowId, saga.runId);
    expect(await operator.currentDetails(/by Ada/)).not.toContain('the provider works on it');
    expect(ordersWithLabel(rig.sandbox.ledger, 'PO-2026-0055')).toEqual([]);
    await operator.openRun('hold', runId);
    await operator.requestCancellation();
    await operator.untilStatus('Canceled');
    await saga.result();
    expect(ordersWithLabel(rig.sandbox.ledger, 'PO-2026-0055')).toHaveLength(1);
  });

  it('is told in the dialog why a decision does not fit, and which do', async () => {
    const saga = await order('PO-2026-0045', { kind: 'reset-before' });
    const waiting = await openWaiting(saga, 'outcome-unknown');
    await operator.currentDetails(/not known whether the provider placed the order/);
    const said = await typedOver('confirmNotPlaced', { by: 'Ada', note: 'no order of today' });

    expect(await operator.sendUpdate('retry', '{"by":"Ada"}')).toMatch(
      /retry does not fit: place-order waits as outcome-unknown.*confirmPlaced, confirmNotPlaced/s,
    );
    await operator.picture('refusal');
    await operator.openRun(saga.workflowId, saga.runId);
    const another = JSON.stringify({ ...JSON.parse(said), question: 'an older one' });
    expect(await operator.sendUpdate('confirmNotPlaced', another)).toMatch(
      new RegExp(`question an older one is not the one that waits now, which is ${waiting.id}`),
    );
    await operator.openRun(saga.workflowId, saga.runId);
    expect(await operator.sendUpdate('confirmNotPlaced', '{"by":"Ada"}')).toMatch(
      /question: is required.*note: is required: say how you know/s,
    );
    expect(await saga.progress()).toMatchObject({ state: 'outcome-unknown', decisions: [] });

    // The dialog stays open, so that what is missing can be added.
    await operator.writeData(said);
    expect(await operator.submitUpdate()).toBeUndefined();
    await operator.untilStatus('Completed');
  });

  it('cancels: the cart is empty, and the report stands in the memo', async () => {
    const saga = await order('PO-2026-0046', { kind: 'unauthorized' }, { items: [{}, {}] });
    await openWaiting(saga, 'stuck');
    expect(openCartItems(rig.sandbox.ledger)).toHaveLength(2);

    await operator.requestCancellation();
    await operator.untilStatus('Canceled');
    await operator.tab('memo');
    await operator.untilShown(/"report"|report/);
    await operator.untilShown(/cancelled/);
    await operator.picture('cancelled-report');

    expect(openCartItems(rig.sandbox.ledger)).toEqual([]);
    expect(ordersWithLabel(rig.sandbox.ledger, 'PO-2026-0046')).toEqual([]);
    expect(await outcomeOf(saga)).toMatchObject({ cancelled: { outcome: 'reversed', leftovers: [] } });
  });

  /** Resets the run that is open to its beginning, and opens the one that this begins. */
  async function resetToBeginning(saga: SagaHandle, picture?: string): Promise<void> {
    await operator.prepareResetToBeginning('seen to be wrong');
    if (picture !== undefined) await operator.picture(picture);
    await operator.confirmReset();
    const { runId } = await until(async () => {
      const described = await rig.runOf(saga).describe();
      return described.runId !== saga.runId && described;
    });
    await operator.openRun(saga.workflowId, runId);
  }

  it.each([
    ['that is done', 'PO-2026-0047'],
    ['that is stuck after its order', 'PO-2026-0048'],
  ])(
    'resets a run %s to its beginning: the new run goes on with what the journal knows, and asks nobody',
    async (kind, reference) => {
      const isDone = kind === 'that is done';
      if (!isDone) rig.sandbox.faults.add({ endpoint: 'assign-firewalls', kind: 'unauthorized' });
      const saga = await order(reference, {}, { firewalls: [143] });
      if (isDone) {
        await saga.result();
        await operator.openRun(saga.workflowId, saga.runId);
        await operator.untilStatus('Completed');
      } else await openWaiting(saga, 'stuck');
      const [placed] = rig.ordersOf({ reference });
      const added = callsTo(rig.sandbox.ledger, 'add-cart-item').length;

      await resetToBeginning(saga, isDone ? undefined : 'reset-dialog');
      await operator.untilStatus('Completed');
      await operator.progress(new RegExp(`from the journal: .* UTC, run ${saga.runId}`));
      if (!isDone) await operator.picture('progress-after-reset');

      expect(await saga.result()).toMatchObject({
        servers: [{ vmObjectId: placed?.vmObjectIds[0], firewalls: [143], verified: true }],
        decisions: [],
      });
      expect(rig.ordersOf({ reference })).toEqual([placed]);
      expect(noOrderPlacedTwice(rig.sandbox.ledger)).toBe(true);
      expect(callsTo(rig.sandbox.ledger, 'add-cart-item')).toHaveLength(added);
    },
  );

  it('starts with wrong values, and reads which they are', async () => {
    const called = rig.sandbox.ledger.calls.length;
    const request = {
      reference: 'PO-2026-0049',
      account: 'AB12345678',
      lable: 'web-1',
      items: [{ billing_cycle: 2, plan_type: 'cloud_servers_standard', password: '', os_template_id: 'three' }],
    };
    await operator.prepareStart({
      workflowId: 'provision/PO-2026-0049',
      type: 'provisionServers',
      json: JSON.stringify(request),
    });
    await operator.start();
    const handle = rig.temporal.workflow.getHandle('provision/PO-2026-0049');
    await expect(handle.result()).rejects.toThrow();
    await operator.openRun(handle.workflowId, (await handle.describe()).runId);
    await operator.untilStatus('Failed');
    await operator.untilShown(/InvalidRequest|the request is wrong: account/);
    await operator.picture('invalid-request');
    const shown = await operator.runsShownOn();
    for (const field of ['account', 'lable', 'billing_cycle', 'password', 'os_template_id']) {
      expect(shown).toMatch(new RegExp(`${field}: (must|there is)`));
    }
    expect(rig.sandbox.ledger.calls).toHaveLength(called);
  });
});
