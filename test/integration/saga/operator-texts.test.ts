/**
 * What a person reads of each saga, from its first line to its last: titles in the progress, summaries in the event
 * list.
 */
import type { SagaHandle } from '../../../src/client/handle';
import { activitiesOf } from '../../support/events';
import { changeRequest, firewallsRequest, provisionRequest, switchRequest } from '../../support/requests';
import { Rig } from '../../support/rig';
import { answer, untilWaiting } from '../../support/sagas';

let rig: Rig;
beforeAll(async () => {
  rig = await Rig.start();
});
afterAll(() => rig.close());
afterEach(() => {
  rig.sandbox.faults.clear();
});

const linesOf = async (saga: SagaHandle) => (await saga.progress()).steps.map(({ id, title }) => `${id}: ${title}`);

/** Of every call, in the order in which they were made. */
const summariesOf = async ({ workflowId }: SagaHandle) =>
  (await activitiesOf(rig.temporal.workflow.getHandle(workflowId))).map((asked) => asked.replace(/^\w+: /, ''));

/** Of a pivot: what, since when, where to look, and from when on "not placed" is taken. */
function unknownOutcome(noun: string, foundBy: string): RegExp {
  const time = '\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d UTC';
  const found = foundBy.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return expect.stringMatching(
    new RegExp(
      `^It is not known whether the provider placed ${noun}, which was sent on ${time}\\. ` +
        `Look now in the provider’s control panel \\(${found}\\): is it there\\?$`,
    ),
  ) as RegExp;
}

it('a provisioning', async () => {
  const saga = await rig.sagas.provision(provisionRequest({ items: [{}, {}], firewalls: [143] }));
  const { servers, cartItemIds } = await saga.result();
  const [one, other] = servers.map(({ vmObjectId }) => String(vmObjectId));
  expect(cartItemIds).toHaveLength(2);
  expect(await linesOf(saga)).toEqual([
    'add-cart-item-1: Add cart item 1',
    'add-cart-item-2: Add cart item 2',
    'place-order: Place the order',
    `assign-firewalls-${one!}: Assign firewalls to server ${one!}`,
    `verify-firewalls-${one!}: Verify firewalls of server ${one!}`,
    `assign-firewalls-${other!}: Assign firewalls to server ${other!}`,
    `verify-firewalls-${other!}: Verify firewalls of server ${other!}`,
  ]);
  expect(await summariesOf(saga)).toEqual([
    'write the request into the journal',
    'add cart item 1',
    'add cart item 2',
    'place the order',
    `assign firewalls to ${one!}`,
    `assign firewalls to ${other!}`,
    'write the ending into the journal',
  ]);
});

it('a provisioning that is undone', async () => {
  const request = provisionRequest();
  rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'refuse-before', match: { label: request.label } });
  rig.sandbox.faults.add({ endpoint: 'delete-cart-item', kind: 'unauthorized' });
  const saga = await rig.sagas.provision(request);
  const { question } = await untilWaiting(saga);
  expect(question).toMatch(/^Undoing: “Delete cart item \d+” did not succeed\. The provider refuses our credentials/);
  await answer(saga, 'retry');
  await expect(saga.result()).rejects.toThrow(/Place the order: POST \/order was answered/);
  expect((await summariesOf(saga)).slice(-4)).toEqual([
    'read what was placed',
    expect.stringMatching(/^delete cart item \d+$/),
    expect.stringMatching(/^delete cart item \d+$/),
    'write the ending into the journal',
  ]);
});

it('a provisioning of unknown outcome', async () => {
  const request = provisionRequest({ account: 'AB-77' });
  rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'reset-before', match: { label: request.label } });
  const saga = await rig.sagas.provision(request);
  expect(await untilWaiting(saga)).toMatchObject({
    question: unknownOutcome('the order', `account AB-77, label “${request.label}”`),
  });
  await answer(saga, 'confirmNotPlaced', { note: 'looked' });
  await saga.result();
});

it('a change order', async () => {
  const request = changeRequest({ approval: 'always' });
  const saga = await rig.sagas.change(request);
  const waiting = await untilWaiting(saga);
  expect(waiting.question).toMatch(/^Approve 5 usd, \S+ to \S+\?$/);
  expect(waiting).toMatchObject({ step: 'quote', choices: ['approve', 'reject'] });
  rig.sandbox.faults.add({ endpoint: 'place-change-order', kind: 'reset-after' });
  await answer(saga, 'approve');
  expect(await untilWaiting(saga, 'outcome-unknown')).toMatchObject({
    question: unknownOutcome('the change order', `subscription ${request.subscription_id}`),
  });
  await answer(saga, 'confirmPlaced', { note: 'seen' });
  await saga.result();
  expect(await linesOf(saga)).toEqual(['quote: Quote the change order', 'place-change-order: Place the change order']);
  const { steps } = await saga.progress();
  expect(steps.map(({ detail }) => detail)).toEqual([
    expect.stringMatching(/^5 usd, \S+ to \S+$/),
    'confirmed by a person',
  ]);
  expect(await summariesOf(saga)).toEqual([
    'write the request into the journal',
    'quote the change order',
    'read what was placed',
    'quote the change order',
    'place the change order',
    'write “placed” into the journal',
    'write the ending into the journal',
  ]);
});

it('a switch', async () => {
  const request = switchRequest();
  rig.sandbox.faults.add({ endpoint: 'switch-plan', kind: 'reset-after' });
  const saga = await rig.sagas.switch(request);
  expect(await untilWaiting(saga)).toMatchObject({
    question: unknownOutcome('the plan switch', `subscription ${request.subscription_id}, plan 21`),
  });
  await answer(saga, 'confirmPlaced', { note: 'seen' });
  await saga.result();
  expect(await linesOf(saga)).toEqual(['quote: Quote the plan switch', 'switch-plan: Switch the plan']);
  expect(await summariesOf(saga)).toEqual([
    'write the request into the journal',
    'quote the plan switch',
    'switch the plan',
    'write “placed” into the journal',
    'write the ending into the journal',
  ]);
});

it('a switch that is only quoted', async () => {
  const saga = await rig.sagas.switch(switchRequest({ quoteOnly: true }));
  await saga.result();
  expect(await linesOf(saga)).toEqual(['quote: Quote the plan switch']);
  expect(await summariesOf(saga)).toEqual([
    'write the request into the journal',
    'quote the plan switch',
    'write the ending into the journal',
  ]);
});

it('a change of firewalls', async () => {
  const request = firewallsRequest({ assign: [143], unassign: [150] });
  rig.sandbox.addServer({ vmObjectId: request.vmObjectId, firewalls: [150] });
  const saga = await rig.sagas.firewalls(request);
  await saga.result();
  expect(await linesOf(saga)).toEqual([
    'list-firewalls: List the firewalls that are assigned',
    'assign-firewalls: Assign firewalls',
    'unassign-firewalls: Unassign firewalls',
    'verify-firewalls: Verify the firewalls',
  ]);
  expect(await summariesOf(saga)).toEqual([
    'write the request into the journal',
    'list firewalls',
    'assign firewalls',
    'unassign firewalls',
    'write the ending into the journal',
  ]);
});

it('a change of firewalls that changes nothing', async () => {
  const request = firewallsRequest({ assign: undefined, exactly: [5] });
  rig.sandbox.addServer({ vmObjectId: request.vmObjectId, firewalls: [5] });
  const saga = await rig.sagas.firewalls(request);
  await saga.result();
  const { steps } = await saga.progress();
  expect(steps.map(({ status, detail }) => [status, detail])).toEqual([
    ['done', undefined],
    ['skipped', 'nothing to assign'],
    ['skipped', 'nothing to unassign'],
    ['done', undefined],
  ]);
});

it('a change of firewalls that is undone', async () => {
  const request = firewallsRequest({ assign: [143], unassign: [150] });
  rig.sandbox.addServer({ vmObjectId: request.vmObjectId, firewalls: [150] });
  const about = { match: { vmObjectId: request.vmObjectId } };
  const gate = rig.sandbox.faults.add({ endpoint: 'unassign-firewalls', kind: 'gate', hold: 'after', ...about });
  const saga = await rig.sagas.firewalls(request);
  await rig.sandbox.whenStruck(gate);
  rig.sandbox.faults.add({ endpoint: 'assign-firewalls', kind: 'unauthorized', ...about });
  rig.sandbox.faults.add({ endpoint: 'unassign-firewalls', kind: 'unauthorized', ...about });
  await saga.cancel();
  rig.sandbox.faults.release(gate);
  expect((await untilWaiting(saga)).question).toMatch(/^Undoing: “Assign the unassigned firewalls again” did not/);
  await answer(saga, 'skip', { note: 'not needed' });
  expect((await untilWaiting(saga)).question).toMatch(/^Undoing: “Unassign the assigned firewalls again” did not/);
  await answer(saga, 'skip', { note: 'let it stay' });
  await expect(saga.result()).rejects.toMatchObject({
    report: {
      outcome: 'reversed-with-leftovers',
      why: 'cancelled; nobody said who or why',
      leftovers: [
        { kind: 'firewalls', vmObjectId: request.vmObjectId, firewalls: [150], why: 'unassigned: not needed' },
        { kind: 'firewalls', vmObjectId: request.vmObjectId, firewalls: [143], why: 'assigned: let it stay' },
      ],
    },
  });
  expect(await summariesOf(saga)).toEqual([
    'write the request into the journal',
    'list firewalls',
    'assign firewalls',
    'unassign firewalls',
    'go on under the reference',
    'assign firewalls again',
    'list firewalls',
    'unassign firewalls again',
    'read what was changed',
    'write the ending into the journal',
  ]);
});
