/**
 * The hold where payloads are encrypted: who and why are read all the same; and a hold that came in the clear holds.
 */
import { Client } from '@temporalio/client';
import { parsePayloadKeys } from '../../../src/security/keys';
import { newKey } from '../../support/codec-calls';
import { provisionRequest } from '../../support/requests';
import { Rig, until } from '../../support/rig';
import { untilState } from '../../support/sagas';

let rig: Rig;
beforeAll(async () => {
  rig = await Rig.start({ payloadKeys: parsePayloadKeys(`k1:${newKey()}`) });
});
afterAll(() => rig.close());

const inTheClear = () => new Client({ connection: rig.temporal.connection, namespace: rig.namespace });

it.each([
  ['the client', () => rig.sagas.hold({ by: 'ann', note: 'a move' })],
  [
    'the Web UI, in the clear',
    () =>
      inTheClear().workflow.start('hold', {
        workflowId: 'hold',
        taskQueue: 'order-saga',
        args: [{ by: 'ann', note: 'a move' }],
      }),
  ],
])('holds, set by %s, and releases', async (_by, start) => {
  await start();
  await until(async () => (await rig.sagas.holding())?.by === 'ann');
  const saga = await rig.sagas.provision(provisionRequest());
  const { steps } = await untilState(saga, 'held');
  expect(steps[0]?.detail).toContain(' by ann; nothing was sent');
  await rig.sagas.release({ by: 'bob' });
  await saga.result();
});
