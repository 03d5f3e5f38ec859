/** What the activities are asked, beyond what the provider is told. */
import { inputsOf } from '../support/events';
import { changeRequest, firewallsRequest, provisionRequest, switchRequest } from '../support/requests';
import { Rig } from '../support/rig';
import { answer, outcomeOf, untilWaiting } from '../support/sagas';

let rig: Rig;
beforeAll(async () => {
  rig = await Rig.start();
});
afterAll(() => rig.close());

describe('the first call may be held with all new sagas, and no other', () => {
  const opens = (input: unknown) => (input as { opening?: boolean }).opening ?? false;

  it.each([
    ['provisionServers', provisionRequest(), 'addCartItem', [true]],
    ['changeOrder', changeRequest(), 'quoteChangeOrder', [true]],
    ['switchPlan', switchRequest(), 'quotePlanSwitch', [true]],
    ['switchPlan', switchRequest({ quoteOnly: true }), 'quotePlanSwitch', [true]],
    ['setFirewalls', firewallsRequest(), 'listFirewalls', [true, false]],
  ] as const)('%s (%#)', async (workflow, request, activity, opening) => {
    if ('vmObjectId' in request) rig.sandbox.addServer({ vmObjectId: request.vmObjectId, firewalls: [] });
    const saga = await rig.sagas.start(workflow, request);
    await saga.result();
    const run = rig.temporal.workflow.getHandle(saga.workflowId);
    expect((await inputsOf(run, activity)).map(opens)).toEqual(opening);
  });
});

describe.each([
  ['changeOrder', changeRequest, 'quoteChangeOrder'],
  ['switchPlan', switchRequest, 'quotePlanSwitch'],
] as const)('%s asks how long an approval holds', (workflow, requestOf, activity) => {
  it.each([
    ['where nobody is asked', undefined, undefined],
    ['where nobody is asked, as is said', 'never', undefined],
    ['where somebody may be asked', { above: 1_000_000 }, true],
    ['where somebody is asked', 'always', true],
  ] as const)('%s', async (_, approval, approvable) => {
    const saga = await rig.sagas.start(workflow, requestOf(approval === undefined ? {} : { approval }));
    if (approval === 'always') {
      await untilWaiting(saga);
      await answer(saga, 'approve');
    }
    await saga.result();
    const run = rig.temporal.workflow.getHandle(saga.workflowId);
    const asked = (await inputsOf(run, activity)) as { approvable?: boolean }[];
    expect(new Set(asked.map((input) => input.approvable))).toEqual(new Set([approvable]));
  });
});

it('what puts firewalls back says so', async () => {
  const request = firewallsRequest({ assign: [143], unassign: [1] });
  const { vmObjectId } = request;
  rig.sandbox.addServer({ vmObjectId, firewalls: [1] });
  rig.sandbox.faults.add({ endpoint: 'unassign-firewalls', kind: 'refuse-before', match: { vmObjectId }, nth: 1 });
  const saga = await rig.sagas.firewalls(request);
  expect((await outcomeOf(saga)).failure?.type).toBe('FirewallsRejected');
  const run = rig.temporal.workflow.getHandle(saga.workflowId);
  const asked = [...(await inputsOf(run, 'unassignFirewalls')), ...(await inputsOf(run, 'assignFirewalls'))];
  const seen = (asked as { firewalls: number[]; undoing?: boolean }[]).map(({ firewalls, undoing }) => [
    firewalls,
    undoing,
  ]);
  expect(seen).toEqual([
    [[1], undefined],
    [[143], true],
    [[143], undefined],
    [[1], true],
  ]);
});
