/**
 * An order that the provider takes and later cancels: a person says so, before or after the end of its saga. It counts
 * for nothing any more, nothing of it is reported as left, and nothing is placed under its reference again.
 */
import type { EndpointName } from '../../../sandbox/endpoints';
import type { FaultSpec } from '../../../sandbox/faults';
import { changeOrdersOf, ordersWithLabel, switchesOf } from '../../../sandbox/sentences';
import type { WorkflowName } from '../../../src/domain/identity';
import type { WaitKind } from '../../../src/domain/progress';
import { parseSpendLimits } from '../../../src/domain/spending';
import { runHere } from '../../support/command-line';
import { deleteRun } from '../../support/web-ui';
import { changeRequest, provisionRequest, switchRequest } from '../../support/requests';
import { rigForFile, until } from '../../support/rig';
import { answer, outcomeOf, untilWaiting, untilWaitingOrEnded } from '../../support/sagas';

const hourMs = 3_600_000;
const account = 'ZZ-1';

const rig = rigForFile({
  clears: true,
  activities: { duplicateWithinMs: hourMs, spendLimits: parseSpendLimits(`${account}=1 servers/1h`) },
});

const said = { by: 'ann', note: 'the panel says: cancelled by the fraud check' };
const plan = { items: [{ plan_id: 17 }] };

const order = (changes: object = {}) => provisionRequest({ account, ...plan, ...changes });
const guarded = () => order({ firewalls: [143] });
const change = () => changeRequest({ account: 'YY-1' });
const aSwitch = () => switchRequest({ account: 'YY-3' });
const isLost = (endpoint: EndpointName) => ({ endpoint, kind: 'reset-after' as const });
const isNameless = { endpoint: 'place-order', kind: 'empty' } as const;
const isRefused = { endpoint: 'assign-firewalls', kind: 'refuse-before', status: 402 } as const;
const isUnseen = { endpoint: 'list-firewalls', kind: 'unauthorized', times: 2 } as const;

const cases: [string, WorkflowName, () => { reference: string }, FaultSpec | undefined, WaitKind | 'ended'][] = [
  ['an order of unknown outcome', 'provisionServers', order, isLost('place-order'), 'outcome-unknown'],
  ['an order whose servers nobody names', 'provisionServers', guarded, isNameless, 'servers'],
  ['an order whose firewalls are refused', 'provisionServers', guarded, isRefused, 'stuck'],
  ['an order whose list of firewalls cannot be read', 'provisionServers', guarded, isUnseen, 'stuck'],
  ['an order whose saga has ended', 'provisionServers', guarded, undefined, 'ended'],
  ['a change order of unknown outcome', 'changeOrder', change, isLost('place-change-order'), 'outcome-unknown'],
  ['a change order whose saga has ended', 'changeOrder', change, undefined, 'ended'],
  ['a switch of unknown outcome', 'switchPlan', aSwitch, isLost('switch-plan'), 'outcome-unknown'],
  ['a switch whose saga has ended', 'switchPlan', aSwitch, undefined, 'ended'],
];

const commandLine = (args: readonly string[]) => runHere(args, '', rig.environment);
const placedUnder = ({ workflow, request }: { workflow: WorkflowName; request: { reference: string } }) => {
  const { subscription_id: id = 0 } = request as { subscription_id?: number };
  const { ledger } = rig.sandbox;
  if (workflow === 'provisionServers') return ordersWithLabel(ledger, request.reference).length;
  return (workflow === 'changeOrder' ? changeOrdersOf(ledger, id) : switchesOf(ledger, id)).length;
};

it.each(cases)('%s', async (_what, workflow, make, fault, kind) => {
  const request = make();
  if (fault) rig.sandbox.faults.add(fault);
  const saga = await rig.sagas.start(workflow, request);
  if (kind === 'ended') {
    await saga.result();
    const { status, err } = await commandLine(['cancelled', saga.workflowId, '--by', said.by, '--note', said.note]);
    expect({ status, err }).toEqual({ status: 0, err: '' });
    expect((await commandLine(['cancelled', saga.workflowId, '--by', 'bob', '--note', 'again'])).out).toMatch(/before/);
  } else {
    expect((await untilWaiting(saga, kind)).choices).toContain('markCancelled');
    await expect(saga.decide('markCancelled', { question: 'x', by: 'ann' })).rejects.toThrow(/note: is required/);
    const early = await commandLine(['cancelled', saga.workflowId, '--by', said.by, '--note', said.note]);
    expect(early).toMatchObject({ status: 2, err: expect.stringContaining('has not ended') as string });
    const since = rig.sandbox.ledger.calls.length;
    await answer(saga, 'markCancelled', said);
    const { failure } = await outcomeOf(saga);
    expect(failure).toMatchObject({
      type: 'OrderCancelled',
      report: { outcome: 'reversed', leftovers: [], decisions: [{ decision: 'markCancelled', ...said }] },
    });
    expect(rig.sandbox.ledger.calls.length).toBe(since);
  }
  const record = await rig.recordOf(saga);
  expect(record).toMatchObject({ placement: 'cancelled', leftovers: [] });
  expect(record?.effects.find((effect) => effect.kind === 'pivot')).toMatchObject({ outcome: 'done', cancelled: said });
  const { out } = await commandLine(['record', saga.workflowId, '--timeline']);
  expect(out).toMatch(/was placed, and the provider has cancelled it/);
  expect(out).toMatch(/cancelled .*by the provider, says ann: the panel says: cancelled by the fraud check/);

  // Sent again when Temporal has forgotten it, it places nothing.
  rig.sandbox.faults.clear();
  await deleteRun(rig.temporal, saga);
  const again = await rig.sagas.start(workflow, request);
  const { failure } = await outcomeOf(again);
  expect(failure).toMatchObject({ type: 'OrderCancelled', report: { outcome: 'reversed', leftovers: [] } });
  expect(placedUnder({ workflow, request })).toBe(1);

  // The same under another reference is no duplicate of it, and fits the limit.
  const next = {
    ...request,
    ...(workflow === 'provisionServers' ? { label: 'x' } : {}),
    reference: `next-${request.reference}`,
  };
  const bought = await rig.sagas.start(workflow, next);
  expect(await untilWaitingOrEnded(bought)).toBeUndefined();
  await until(async () => (await rig.recordOf(bought))?.state === 'done' || undefined);
  await commandLine(['cancelled', bought.workflowId, '--by', said.by, '--note', 'so that it counts for no other test']);
});

it('of which nothing was placed, or nobody says who or why, is not taken', async () => {
  const quote = await rig.sagas.change(changeRequest({ quoteOnly: true }));
  await quote.result();
  const none = await commandLine(['cancelled', quote.workflowId, '--by', 'ann', '--note', 'seen']);
  expect(none).toMatchObject({ status: 2, err: expect.stringContaining('nothing was placed') as string });
  for (const args of [
    ['--by', 'ann'],
    ['--note', 'seen'],
    ['--by', ' ', '--note', 'seen'],
  ]) {
    expect((await commandLine(['cancelled', quote.workflowId, ...args])).status).toBe(2);
  }
});
