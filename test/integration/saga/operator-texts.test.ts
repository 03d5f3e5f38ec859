/**
 * What a person reads of each saga, from its first line to its last: titles in the progress, summaries in the event
 * list.
 */
import type { SagaHandle } from '../../../src/client/handle';
import { activitiesOf } from '../../support/events';
import { firewallsRequest, provisionRequest } from '../../support/requests';
import { rigForFile } from '../../support/rig';
import { answer, untilWaiting } from '../../support/sagas';

const rig = rigForFile({ clears: true });

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
