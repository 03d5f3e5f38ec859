/** How coming to terms ends where there is nothing to come to. */
import { changeOrdersOf } from '../../../sandbox/sentences';
import { SagaHandle } from '../../../src/client/handle';
import type { WorkflowName } from '../../../src/domain/identity';
import { describeInWays } from '../../support/left-out';
import { changeRequest, planIdOf, provisionRequest, switchRequest } from '../../support/requests';
import { resetTo, workflowTasksOf } from '../../support/reset';
import { Rig, until } from '../../support/rig';
import { answer, outcomeOf, untilWaiting } from '../../support/sagas';

let rig: Rig;
beforeAll(async () => {
  rig = await Rig.start();
});
afterAll(() => rig.close());

it.each(['changeOrder', 'switchPlan'] as const)('%s whose quote is refused', async (workflow) => {
  const request = workflow === 'changeOrder' ? changeRequest() : switchRequest();
  const match = { subscriptionId: request.subscription_id };
  rig.sandbox.faults.add({ endpoint: '*', kind: 'refuse-before', match });
  const { failure } = await outcomeOf(await rig.sagas.start(workflow, request));
  expect(failure?.type).toBe('OrderRejected');
  expect(failure?.report.why).toMatch(/^Quote the .*: .*422/);
  expect(failure?.report).toMatchObject({ outcome: 'reversed', leftovers: [] });
});

it('what is not available is said to be so', async () => {
  const request = changeRequest();
  rig.sandbox.configure({ unavailableSubscriptions: [request.subscription_id] });
  const { failure } = await outcomeOf(await rig.sagas.change(request));
  expect(failure?.report.why).toBe('the provider says that it is not available');
});

it('all that breaks the guard is told', async () => {
  const { failure } = await outcomeOf(
    await rig.sagas.change(changeRequest({ guard: { maxTotal: 1, currency: 'EUR' } })),
  );
  expect(failure?.report.why).toBe(
    'the total is 5 and the guard allows 1; the quote is in usd and the guard asks for eur',
  );
});

it('one that a person rejects without a word is rejected', async () => {
  const saga = await rig.sagas.switch(switchRequest({ approval: 'always' }));
  await untilWaiting(saga);
  await answer(saga, 'reject');
  expect((await outcomeOf(saga)).failure).toMatchObject({ type: 'NotApproved', report: { why: 'rejected' } });
});

describeInWays('a run that waits, because it may be placed, comes to terms again once it is surely not placed', () => {
  /** It waits for an answer in the first run; in the second one it is in doubt, and settles that first. */
  async function skippedTerms(workflow: WorkflowName, saga: SagaHandle, reference: string) {
    await untilWaiting(saga, 'approval');
    await answer(saga, 'approve');
    await untilWaiting(saga, 'outcome-unknown');
    const { workflowId } = saga;
    const [first] = await workflowTasksOf(rig.temporal, { workflowId });
    await resetTo(rig.temporal, { workflowId }, first ?? 0);
    const again = new SagaHandle(rig.temporal, workflow, reference, '', true);
    await until(async () => (await again.progress()).state === 'settling');
    await writeNotSent(workflow, reference);
    return again;
  }

  /** As a worker does that stood still and goes on only now. */
  const writeNotSent = (workflow: WorkflowName, reference: string) =>
    rig.withJournal(async (journal) => {
      const pivots = journal.db.selectFrom('effect').selectAll().where('kind', '=', 'pivot');
      const row = await pivots.where('reference', '=', reference).executeTakeFirstOrThrow();
      const { id } = await journal.db.selectFrom('journal').select('id').executeTakeFirstOrThrow();
      const call = {
        step: row.step,
        kind: 'pivot' as const,
        activity: row.activity,
        about: JSON.parse(row.about) as object,
      };
      const meant = {
        call,
        run: row.run,
        inAirMs: row.in_air_ms,
        knows: { journal: id, epoch: row.epoch, row: row.id },
      };
      const notSent = { outcome: 'not-done' as const, failure: 'StoodStill', answer: null };
      expect(await journal.answered({ workflow, reference }, meant, notSent)).toBe('written');
    });

  it('a change order is quoted and approved first', async () => {
    const request = changeRequest({ approval: 'always', guard: { maxTotal: 50 } });
    const match = { subscriptionId: request.subscription_id };
    rig.sandbox.faults.add({ endpoint: 'place-change-order', kind: 'error-before', match });
    const again = await skippedTerms('changeOrder', await rig.sagas.change(request), request.reference);
    await untilWaiting(again, 'approval');
    expect(changeOrdersOf(rig.sandbox.ledger, request.subscription_id)).toEqual([]);
    await answer(again, 'approve');
    expect(await again.result()).toMatchObject({ outcome: 'done', quote: { total: 5 } });
    expect(changeOrdersOf(rig.sandbox.ledger, request.subscription_id)).toHaveLength(1);
  });

  it('an order is approved first', async () => {
    const request = provisionRequest({ approval: 'always' });
    rig.sandbox.faults.add({
      ...{ endpoint: 'place-order', kind: 'error-before', match: { planId: planIdOf(request.reference) } },
    });
    const again = await skippedTerms('provisionServers', await rig.sagas.provision(request), request.reference);
    await untilWaiting(again, 'approval');
    await answer(again, 'reject');
    const { failure } = await outcomeOf(again);
    expect(failure).toMatchObject({ type: 'NotApproved', report: { outcome: 'reversed', leftovers: [] } });
  });
});
