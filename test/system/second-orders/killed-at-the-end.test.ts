/** A worker is killed between the ending, which it has written and told, and the end of its task. */
import { join } from 'node:path';
import { startProcess } from '../../../scripts/processes';
import { programOf } from '../../support/programs';
import { WebhookReceiver } from '../../support/receiver';
import { changeRequest } from '../../support/requests';
import { Rig } from '../../support/rig';
import { outcomeOf } from '../../support/sagas';

const killAtTheEnd = join(__dirname, '..', '..', 'support', 'kill-at-the-end.cjs');

it('the next worker tells the end under the same id, and leaves no step running', async () => {
  const receiver = await WebhookReceiver.start();
  const rig = await Rig.start({ worker: false });
  const environment = {
    ...rig.environment,
    NOTIFICATION_ROUTES: JSON.stringify([
      { name: 'test', url: receiver.url, secret: 'webhook-test', events: ['ended'] },
    ]),
    NOTIFICATION_ALLOW: '127.0.0.1',
    NOTIFICATION_ALLOW_HTTP: 'true',
    SECRET_WEBHOOK_TEST: receiver.secret,
  };
  const killed = await startProcess(programOf('worker'), environment, ['--require', killAtTheEnd]);
  const saga = await rig.sagas.change(changeRequest());
  expect(await killed.exited).toMatchObject({ signal: 'SIGKILL' });
  const next = await startProcess(programOf('worker'), environment, []);
  expect((await outcomeOf(saga)).result).toMatchObject({ outcome: 'done' });
  // Both workers have handed it over by now; delivered twice or once, as the second one comes after the delivery or before it.
  await rig.temporal.workflow.getHandle(`notify/test/${saga.workflowId}`).result();
  expect(new Set(receiver.taken.map(({ message }) => message.type))).toEqual(new Set(['saga.ended']));
  expect(new Set(receiver.taken.map(({ id }) => id)).size).toBe(1);
  const { steps } = await saga.progress();
  expect(steps.filter(({ status }) => status === 'running')).toEqual([]);
  await next.kill('SIGTERM');
  await receiver.close();
  await rig.close();
}, 120_000);
