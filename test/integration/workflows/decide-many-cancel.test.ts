/**
 * A job's `cancel` goes by the question that somebody read, like each of its other decisions: a saga that has moved on
 * since is left alone (“movedOn: somebody was faster”).
 */
import { provisionRequest } from '../../support/requests';
import { Rig } from '../../support/rig';
import { answer, outcomeOf, untilWaiting } from '../../support/sagas';
import { untilListed } from '../../support/bad-night';

let rig: Rig;
beforeEach(async () => {
  rig = await Rig.start();
});
afterEach(() => rig.close());

const words = { by: 'ann', note: 'nobody approved these in time' };

it('by lines: a saga that asks another question by now is not cancelled', async () => {
  const request = provisionRequest({ firewalls: [143], approval: 'always' });
  const saga = await rig.sagas.provision(request);
  const { id: question } = await untilWaiting(saga, 'approval');
  // Somebody is faster: the order is placed, and its firewalls are about to be assigned.
  rig.sandbox.faults.add({ endpoint: 'assign-firewalls', kind: 'unauthorized', times: 'all' });
  await answer(saga, 'approve', { by: 'bob' });
  await untilWaiting(saga, 'stuck');
  rig.sandbox.faults.clear();
  const lines = [{ saga: saga.workflowId, question, decision: 'cancel' }];
  const report = await (await rig.sagas.decideMany({ ...words, decisions: lines, perSecond: 50 })).report();
  expect(report.counts).toMatchObject({ movedOn: 1, taken: 0 });
});

it('by a filter: a saga that does not wait any more when its turn comes is not cancelled', async () => {
  const sagas = [];
  for (let n = 0; n < 2; n += 1) {
    const saga = await rig.sagas.provision(provisionRequest({ firewalls: [143], approval: 'always' }));
    await untilWaiting(saga, 'approval');
    sagas.push(saga);
  }
  await untilListed(rig, sagas, 'approval');
  // One each four seconds: the second saga is approved meanwhile, and its order is placed.
  const job = await rig.sagas.decideMany({
    ...words,
    decision: 'cancel',
    where: 'SagaState="approval"',
    perSecond: 0.25,
  });
  await outcomeOf(sagas[0]!);
  rig.sandbox.faults.add({ endpoint: 'assign-firewalls', kind: 'unauthorized', times: 'all' });
  await answer(sagas[1]!, 'approve', { by: 'bob' });
  await untilWaiting(sagas[1]!, 'stuck');
  const report = await job.report();
  expect(report.counts).toMatchObject({ taken: 1, movedOn: 1 });
});
