/**
 * Cancelled while the last call is under way, and between two attempts. Every other moment is swept:
 * `test/system/sweep`.
 */
import type { EndpointName } from '../../../sandbox/endpoints';
import type { SagaHandle } from '../../../src/client/handle';
import { Rig, until } from '../../support/rig';
import { changeRequest, provisionRequest, switchRequest } from '../../support/requests';
import { outcomeOf } from '../../support/sagas';

let rig: Rig;
beforeAll(async () => {
  rig = await Rig.start();
});
afterAll(() => rig.close());

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

it('while it waits before the next attempt, the report says what the last one came to', async () => {
  const request = provisionRequest();
  const match = { label: request.label };
  rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'rate-limit', retryAfter: 30, match });
  const saga = await rig.sagas.provision(request);
  await until(async () => {
    const { steps } = await saga.progress();
    return steps.some(({ id, detail }) => id === 'place-order' && detail !== undefined);
  });
  await saga.cancel();
  const { cancelled } = await outcomeOf(saga);
  const step = cancelled?.steps.find(({ id }) => id === 'place-order');
  expect(step).toMatchObject({ status: 'failed', attempts: 1, endedAt: expect.anything() });
  expect(step?.detail).toMatch(/429/);
});
