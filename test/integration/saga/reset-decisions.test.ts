/**
 * A reset sends the decisions of the run that it cuts short again, an update and a signal perhaps in one workflow task.
 * Which of them was taken must be the same when the history is replayed: closing the rig does.
 */
import { SagaHandle } from '../../../src/client/handle';
import { provisionRequest } from '../../support/requests';
import { resetTo, workflowTasksOf } from '../../support/reset';
import { Rig, until } from '../../support/rig';
import { answer, outcomeOf, untilWaiting } from '../../support/sagas';

it('replays after a reset that sent an update and a signal again', async () => {
  const rig = await Rig.start();
  const request = provisionRequest();
  rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'unauthorized', times: 'all' });
  const saga = await rig.sagas.provision(request);
  const run = rig.temporal.workflow.getHandle(saga.workflowId);
  const waitsAfter = (decisions: number) =>
    until(async () => {
      const view = await saga.progress();
      return view.waiting !== undefined && view.decisions.length === decisions;
    });
  const tasks = () => workflowTasksOf(rig.temporal, run);
  await waitsAfter(0);
  const before = (await tasks()).length;
  await answer(saga, 'retry', { by: 'an update' });
  await waitsAfter(1);
  const { waiting } = await saga.progress();
  await run.signal('retry', { question: waiting?.id, by: 'a signal' });
  await waitsAfter(2);
  // To the task that took the update: both are sent again while the saga waits.
  await resetTo(rig.temporal, run, (await tasks())[before] ?? 0);
  const again = new SagaHandle(rig.temporal, 'provisionServers', request.reference, '', true);
  await untilWaiting(again, 'stuck');
  expect(await again.progress()).toMatchObject({ decisions: [{ by: 'an update' }], ignored: [{ by: 'a signal' }] });
  await again.cancel();
  await outcomeOf(again);
  await rig.close();
});
