/** What the activities are asked, beyond what the provider is told. */
import { activitiesOf, inputsOf } from '../../support/events';
import { changeRequest, firewallsRequest, provisionRequest, switchRequest } from '../../support/requests';
import { Rig } from '../../support/rig';
import { outcomeOf } from '../../support/sagas';

let rig: Rig;
beforeAll(async () => {
  rig = await Rig.start();
});
afterAll(() => rig.close());

it.each([
  ['provisionServers', provisionRequest()],
  ['changeOrder', changeRequest()],
  ['switchPlan', switchRequest()],
  ['switchPlan', switchRequest({ quoteOnly: true })],
  ['setFirewalls', firewallsRequest()],
] as const)(
  '%s takes its reference before anything else, and writes its ending last (%#)',
  async (workflow, request) => {
    if ('vmObjectId' in request) rig.sandbox.addServer({ vmObjectId: request.vmObjectId, firewalls: [] });
    const saga = await rig.sagas.start(workflow, request);
    await saga.result();
    const run = rig.temporal.workflow.getHandle(saga.workflowId);
    const asked = (await activitiesOf(run)).map((line) => line.split(':')[0]);
    expect([asked[0], asked.at(-1)]).toEqual(['takeReference', 'writeEnding']);
    // Calls in place: what they are given stands in no history.
    expect([...(await inputsOf(run, 'takeReference')), ...(await inputsOf(run, 'writeEnding'))]).toEqual([]);
  },
);

it('each call with an effect names its step, and what the run knows of the journal', async () => {
  const saga = await rig.sagas.provision(provisionRequest());
  await saga.result();
  const run = rig.temporal.workflow.getHandle(saga.workflowId);
  const knows = { journal: expect.any(String) as string, epoch: expect.any(Number) as number };
  expect(await inputsOf(run, 'addCartItem')).toMatchObject([{ step: 'add-cart-item-1', number: 1, knows }]);
  // The row of the item is what the history knows by then.
  expect(await inputsOf(run, 'placeOrder')).toMatchObject([
    { step: 'place-order', knows: { ...knows, row: expect.any(String) as string } },
  ]);
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
