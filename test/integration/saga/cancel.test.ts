/**
 * Cancelled while the last call is under way, and between two attempts. Every other moment is swept:
 * `test/system/sweep`.
 */
import type { EndpointName } from '../../../sandbox/endpoints';
import type { SagaHandle } from '../../../src/client/handle';
import { InvalidRequestError } from '../../../src/client/errors';
import { recordOf } from '../../../src/journal/record';
import { rigForFile, until } from '../../support/rig';
import { changeRequest, provisionRequest, switchRequest } from '../../support/requests';
import { outcomeOf, untilWaiting } from '../../support/sagas';

const rig = rigForFile();

const stories: [string, EndpointName, string, () => Promise<SagaHandle>][] = [
  ['an order', 'place-order', 'order', () => rig.sagas.provision(provisionRequest())],
  ['a change order', 'place-change-order', 'order', () => rig.sagas.change(changeRequest())],
  ['a switch', 'switch-plan', 'finalQuote', () => rig.sagas.switch(switchRequest())],
];

it.each(stories)('%s that was placed all the same ends as cancelled, and the report shows it', async (...story) => {
  const [, endpoint, known, start] = story;
  const gate = rig.sandbox.faults.add({ endpoint, kind: 'gate' });
  const saga = await start();
  await rig.sandbox.whenStruck(gate);
  await saga.cancel();
  rig.sandbox.faults.release(gate);
  const { cancelled } = await outcomeOf(saga);
  expect(cancelled).toMatchObject({ outcome: 'done', leftovers: [], known: { [known]: expect.anything() } });
  expect(cancelled?.steps.find(({ id }) => id === endpoint)).toMatchObject({ status: 'done' });
});

const said = { by: 'ann', note: 'the customer has changed their mind' };

async function stuck() {
  const request = provisionRequest();
  const match = { label: request.label };
  rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'unauthorized', times: 'all', match });
  const saga = await rig.sagas.provision(request);
  await untilWaiting(saga, 'stuck');
  return saga;
}

it('has a person and a reason, which stay in the report and in the journal', async () => {
  const saga = await stuck();
  await saga.cancel(said);
  const { cancelled } = await outcomeOf(saga);
  const record = { decision: 'cancel', kind: 'stuck', step: 'place-order', ...said };
  expect(cancelled).toMatchObject({ why: `cancelled, says ann: ${said.note}`, decisions: [record] });
  const { reference, workflow } = saga;
  const found = await rig.withJournal((journal) => recordOf(journal, { workflow, reference }));
  expect(found?.decisions).toMatchObject([record]);
  expect((await saga.progress()).decisions).toMatchObject([record]);
});

it('is not taken with half of them, nor from a signal that cannot be read', async () => {
  const saga = await stuck();
  for (const less of [{ by: 'ann' }, { note: 'why' }, { by: '', note: 'why' }, { by: 'ann', note: ' ' }]) {
    await expect(saga.cancel(less as never)).rejects.toThrow(InvalidRequestError);
  }
  await rig.temporal.workflow.getHandle(saga.workflowId).signal('cancelledBy', { by: 7 });
  await until(async () => (await saga.progress()).ignored.length === 1);
  expect(await saga.progress()).toMatchObject({ state: 'stuck', ignored: [{ decision: 'cancel' }] });
  await saga.cancel();
  expect((await outcomeOf(saga)).cancelled).toMatchObject({ why: 'cancelled; nobody said who or why' });
});
