/**
 * How a saga ended: one word for it, the same wherever it is read; and ended stays ended. A second start tells the
 * recorded ending and sends nothing, also where the provider has cancelled the order later.
 */
import { Writable } from 'node:stream';
import type { EndpointName } from '../../../sandbox/endpoints';
import type { FaultSpec } from '../../../sandbox/faults';
import { changeOrdersOf, ordersWithLabel, switchesOf } from '../../../sandbox/sentences';
import { followToEnd } from '../../../src/cli/commands';
import { Printer } from '../../../src/cli/print';
import type { SagaHandle } from '../../../src/client/handle';
import type { WorkflowName } from '../../../src/domain/identity';
import type { SagaOutcome } from '../../../src/domain/outcomes';
import type { WaitKind } from '../../../src/domain/progress';
import { parseSpendLimits } from '../../../src/domain/spending';
import { runHere } from '../../support/command-line';
import { changeRequest, firewallsRequest, provisionRequest, switchRequest } from '../../support/requests';
import { rigForFile, until } from '../../support/rig';
import { answer, outcomeOf, stepOf, untilState, untilWaiting, untilWaitingOrEnded } from '../../support/sagas';
import { deleteRun } from '../../support/web-ui';
import { idsListed } from '../../support/listed';

const limited = 'ZZ-1';
const rig = rigForFile({
  clears: true,
  activities: { duplicateWithinMs: 3_600_000, spendLimits: parseSpendLimits(`${limited}=1 servers/1h`) },
});

const lost = (endpoint: EndpointName) => ({ endpoint, kind: 'reset-after' as const });
const refused = { endpoint: 'place-order', kind: 'refuse-before' } as const;
const refusedFirewalls = { endpoint: 'assign-firewalls', kind: 'refuse-before', status: 402 } as const;

/** Temporal forgets it; then the same request comes again. */
async function againWhenForgotten(saga: SagaHandle, request: object) {
  await deleteRun(rig.temporal, saga);
  const calls = rig.sandbox.ledger.calls.length;
  const again = await rig.sagas.start<WorkflowName>(saga.workflow, request);
  return { again, outcome: await outcomeOf(again), sent: rig.sandbox.ledger.calls.slice(calls) };
}

const exits: Record<SagaOutcome, { status: number; says: RegExp }> = {
  done: { status: 0, says: /done|partly/ },
  partly: { status: 5, says: /done|partly/ },
  reversed: { status: 1, says: /^ {2}reversed: /m },
  'reversed-with-leftovers': { status: 6, says: /^ {2}reversed-with-leftovers: /m },
  untouched: { status: 1, says: /^ {2}untouched: /m },
};

/** It meets the faults, waits, and somebody does this. */
async function after(
  faults: FaultSpec[],
  start: () => Promise<SagaHandle>,
  then: (saga: SagaHandle) => Promise<unknown>,
) {
  for (const fault of faults) rig.sandbox.faults.add(fault);
  const saga = await start();
  await untilWaiting(saga);
  await then(saga);
  return saga;
}
const order = (changes: Record<string, unknown> = {}) => rig.sagas.provision(provisionRequest(changes));
const guarded = () => order({ firewalls: [143] });
const change = (changes: Record<string, unknown> = {}) => rig.sagas.change(changeRequest(changes));
const skip = (saga: SagaHandle) => answer(saga, 'skip', { note: 'not needed' });
const cancel = (saga: SagaHandle) => saga.cancel();
const undeleted = { endpoint: 'delete-cart-item', kind: 'unauthorized' } as const;

async function cancelledAtItsLastCall(): Promise<SagaHandle> {
  const gate = rig.sandbox.faults.add({ endpoint: 'place-change-order', kind: 'gate', hold: 'after' });
  const saga = await change();
  await rig.sandbox.whenStruck(gate);
  await saga.cancel();
  rig.sandbox.faults.release(gate);
  return saga;
}

it.each<[what: string, word: SagaOutcome, start: () => Promise<SagaHandle>]>([
  ['a saga that is done', 'done', guarded],
  ['one of which a person left a step out', 'partly', () => after([refusedFirewalls], guarded, skip)],
  ['one that was cancelled after its order', 'partly', () => after([refusedFirewalls], guarded, cancel)],
  ['one that was cancelled as its last call placed all of it', 'done', cancelledAtItsLastCall],
  ['one that fails', 'reversed', () => change({ guard: { maxTotal: 0 } })],
  [
    'one of which something could not be undone',
    'reversed-with-leftovers',
    () => after([refused, undeleted], order, skip),
  ],
  [
    'one of which nobody knows whether it was placed',
    'reversed-with-leftovers',
    () => after([lost('place-change-order')], change, cancel),
  ],
])('%s is %s', async (_, word, start) => {
  const saga = await start();
  const { result, failure, cancelled } = await outcomeOf(saga);
  const { outcome } = (result ?? failure?.report ?? cancelled) as { outcome: SagaOutcome };
  expect(outcome).toBe(word);
  expect((await saga.progress()).state).toBe(word);
  const isListed = async (state: SagaOutcome) => (await idsListed(rig.sagas, { state })).includes(saga.workflowId);
  await until(() => isListed(word));
  for (const other of Object.keys(exits) as SagaOutcome[]) expect(await isListed(other)).toBe(other === word);
  const said: string[] = [];
  const out = new Writable({ write: (chunk: Buffer, _encoding, done) => (said.push(chunk.toString()), done()) });
  const { status } = await followToEnd({ printer: new Printer({ out, err: out }, false) }, saga);
  expect(status).toBe(exits[word].status);
  expect(said.join('')).toMatch(exits[word].says);
});

describe('sent again when Temporal has forgotten it', () => {
  // An order that is done: test/system/second-orders/forgotten.test.ts.
  it.each<[string, WorkflowName, () => object]>([
    ['a mere quote', 'changeOrder', () => changeRequest({ quoteOnly: true })],
    ['a switch', 'switchPlan', () => switchRequest()],
    ['a change of firewalls', 'setFirewalls', () => firewallsRequest()],
  ])('%s that is done is told again, with the same result', async (_, workflow, make) => {
    const request = make();
    const saga = await rig.sagas.start<WorkflowName>(workflow, request);
    const result = await saga.result();
    const { outcome, sent, again } = await againWhenForgotten(saga, request);
    expect({ outcome, sent }).toEqual({ outcome: { result }, sent: [] });
    expect((await stepOf(again, 'take-reference'))?.detail).toMatch(/^ended on .*: nothing is done any more$/);
  });

  it('one that was cancelled while it was held, and had not begun, says so, too', async () => {
    const request = provisionRequest();
    await rig.sagas.hold({ note: 'a test' });
    const saga = await rig.sagas.provision(request);
    await untilState(saga, 'held');
    await saga.cancel();
    const { cancelled: report } = await outcomeOf(saga);
    expect(report).toMatchObject({ outcome: 'reversed', leftovers: [] });
    await rig.sagas.release();
    const { outcome, sent } = await againWhenForgotten(saga, request);
    expect({ outcome, sent }).toEqual({ outcome: { failure: { type: 'CancelledBefore', report } }, sent: [] });
  });
});

describe('an order that the provider cancels later, as a person says before or after the end of its saga', () => {
  const said = { by: 'ann', note: 'the panel says: cancelled by the fraud check' };
  const saidThere = ['--by', said.by, '--note', said.note];
  const commandLine = (...args: string[]) => runHere(args, '', rig.environment);
  const limitedOrder = (changes: object = {}) =>
    provisionRequest({ account: limited, items: [{ plan_id: 17 }], ...changes });
  const limitedGuarded = () => limitedOrder({ firewalls: [143] });
  const aChange = () => changeRequest({ account: 'YY-1' });
  const aSwitch = () => switchRequest({ account: 'YY-3' });
  const nameless = { endpoint: 'place-order', kind: 'other-body' } as const;

  const placedUnder = (workflow: WorkflowName, request: { reference: string; subscription_id?: number }) => {
    const { ledger } = rig.sandbox;
    const { reference, subscription_id: id = 0 } = request;
    if (workflow === 'provisionServers') return ordersWithLabel(ledger, reference);
    return workflow === 'changeOrder' ? changeOrdersOf(ledger, id) : switchesOf(ledger, id);
  };

  it.each<[string, WorkflowName, () => { reference: string }, FaultSpec | undefined, WaitKind | 'ended']>([
    ['of unknown outcome', 'provisionServers', limitedOrder, lost('place-order'), 'outcome-unknown'],
    ['whose servers nobody names', 'provisionServers', limitedGuarded, nameless, 'servers'],
    ['whose firewalls are refused', 'provisionServers', limitedGuarded, refusedFirewalls, 'stuck'],
    ['whose saga has ended', 'provisionServers', limitedGuarded, undefined, 'ended'],
    ['a change order of unknown outcome', 'changeOrder', aChange, lost('place-change-order'), 'outcome-unknown'],
    ['a switch whose saga has ended', 'switchPlan', aSwitch, undefined, 'ended'],
  ])('%s: nothing of it is left, and nothing is placed again', async (_what, workflow, make, fault, kind) => {
    const request = make();
    if (fault) rig.sandbox.faults.add(fault);
    const saga = await rig.sagas.start(workflow, request);
    if (kind === 'ended') {
      await saga.result();
      expect(await commandLine('cancelled', saga.workflowId, ...saidThere)).toMatchObject({ status: 0, err: '' });
      expect((await commandLine('cancelled', saga.workflowId, '--by', 'bob', '--note', 'again')).out).toMatch(/before/);
    } else {
      expect((await untilWaiting(saga, kind)).choices).toContain('markCancelled');
      await expect(saga.decide('markCancelled', { question: 'x', by: 'ann' })).rejects.toThrow(/note: is required/);
      const early = await commandLine('cancelled', saga.workflowId, ...saidThere);
      expect(early).toMatchObject({ status: 2, err: expect.stringContaining('has not ended') as string });
      const since = rig.sandbox.ledger.calls.length;
      await answer(saga, 'markCancelled', said);
      const decisions = [{ decision: 'markCancelled', ...said }];
      const report = { outcome: 'reversed', leftovers: [], decisions };
      expect((await outcomeOf(saga)).failure).toMatchObject({ type: 'OrderCancelled', report });
      expect(rig.sandbox.ledger.calls).toHaveLength(since);
    }
    const record = await rig.recordOf(saga);
    expect(record).toMatchObject({ placement: 'cancelled', leftovers: [] });
    expect(record?.effects.find((effect) => effect.kind === 'pivot')).toMatchObject({
      ...{ outcome: 'done', cancelled: said },
    });
    const { out } = await commandLine('record', saga.workflowId, '--timeline');
    expect(out).toMatch(/was placed, and the provider has cancelled it/);
    expect(out).toMatch(/cancelled .*by the provider, says ann: the panel says: cancelled by the fraud check/);

    rig.sandbox.faults.clear();
    const { failure } = (await againWhenForgotten(saga, request)).outcome;
    expect(failure).toMatchObject({ type: 'OrderCancelled', report: { outcome: 'reversed', leftovers: [] } });
    expect(placedUnder(workflow, request)).toHaveLength(1);

    // The same under another reference is no duplicate of it, and fits the limit.
    const label = workflow === 'provisionServers' ? { label: 'x' } : {};
    const bought = await rig.sagas.start(workflow, { ...request, ...label, reference: `next-${request.reference}` });
    expect(await untilWaitingOrEnded(bought)).toBeUndefined();
    await until(async () => (await rig.recordOf(bought))?.state === 'done' || undefined);
    await commandLine('cancelled', bought.workflowId, '--by', 'ann', '--note', 'so that it counts for no other test');
  });

  it('of which nothing was placed is not taken', async () => {
    const quote = await change({ quoteOnly: true });
    await quote.result();
    const none = await commandLine('cancelled', quote.workflowId, ...saidThere);
    expect(none).toMatchObject({ status: 2, err: expect.stringContaining('nothing was placed') as string });
  });
});
