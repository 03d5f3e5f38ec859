/** `order-saga cancel` exits with 0 only where nothing is left. */
import { JournalUnavailable } from '../../../src/journal/errors';
import { Journal } from '../../../src/journal/journal';
import { runHere } from '../../support/command-line';
import { provisionRequest } from '../../support/requests';
import { Rig } from '../../support/rig';
import { answer, outcomeOf, untilWaiting } from '../../support/sagas';
import { saidThere } from '../../support/operator';

let rig: Rig;
beforeAll(async () => {
  rig = await Rig.start();
});
afterAll(() => rig.close());

it('tells of an order that may be there, where the journal could not be read', async () => {
  const request = provisionRequest({ firewalls: [143] });
  rig.sandbox.faults.add({ endpoint: 'assign-firewalls', kind: 'unauthorized', times: 'all' });
  const { workflowId } = await rig.sagas.provision(request);
  await untilWaiting(rig.latest('provisionServers', request), 'stuck');
  await rig.temporal.workflow.getHandle(workflowId).terminate('a test');
  const away = jest.spyOn(Journal.prototype, 'inTransaction').mockRejectedValue(new JournalUnavailable('a test'));
  await rig.withoutWorkers(async () => {
    await rig.temporal.workflow.start('provisionServers', { workflowId, taskQueue: 'order-saga', args: [request] });
    await rig.temporal.workflow.getHandle(workflowId).cancel();
  });
  const again = rig.latest('provisionServers', request);
  await untilWaiting(again, 'stuck');
  await answer(again, 'skip', { note: 'the journal is away' });
  expect((await outcomeOf(again)).cancelled).toMatchObject({
    outcome: 'untouched',
    leftovers: [{ kind: 'placement-unknown' }],
  });
  away.mockRestore();
  const { status, out } = await runHere(['cancel', ...saidThere, workflowId], '', {
    TEMPORAL_ADDRESS: rig.address,
    TEMPORAL_NAMESPACE: rig.namespace,
  });
  expect(out).toContain('left over: ');
  expect(status).toBe(6);
});
