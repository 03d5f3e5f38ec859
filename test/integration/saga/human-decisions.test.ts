/**
 * Where a saga waits for a person: what they read, and what they say of a cancellation. What becomes of a decision that
 * does not fit: human-decisions-grid.test.ts; of one about another question: test/system/second-orders/forgotten.test.ts.
 */
import type { temporal } from '@temporalio/proto';
import { decisionHints, decisionNames } from '../../../src/domain/decisions';
import { planIdOf, provisionRequest } from '../../support/requests';
import { InvalidRequestError } from '../../../src/client/errors';
import { reminderDelaysMs } from '../../../src/saga/reminders';
import { rigForFile, until } from '../../support/rig';
import { answer, outcomeOf, untilAnother, untilWaiting } from '../../support/sagas';

const rig = rigForFile({ clears: true });

/** A saga that waits at its order. */
async function stuck() {
  const request = provisionRequest();
  rig.sandbox.faults.add({
    endpoint: 'place-order',
    kind: 'unauthorized',
    times: 'all',
    match: { label: request.label },
  });
  const saga = await rig.sagas.provision(request);
  await untilWaiting(saga, 'stuck');
  return saga;
}

type Metadata = temporal.api.sdk.v1.IWorkflowMetadata;
const metadataOf = (saga: { workflowId: string }) => rig.runOf(saga).query<Metadata>('__temporal_workflow_metadata');

it('says of each decision what it does and what to paste, and of the query what it answers', async () => {
  const saga = await stuck();
  const { definition } = await metadataOf(saga);
  type Definitions = { name?: string | null; description?: string | null }[] | null | undefined;
  const described = (list: Definitions): Record<string, unknown> =>
    Object.fromEntries((list ?? []).map(({ name, description }) => [name ?? '', description]));
  const hints = Object.fromEntries(
    decisionNames.map((name) => [name, `${decisionHints[name].does}. ${decisionHints[name].example}`]),
  );
  expect(described(definition?.updateDefinitions)).toEqual(hints);
  const others = {
    cancelledBy: 'Who cancels the saga, and why. Sent by the command line before the cancellation',
  };
  expect(described(definition?.signalDefinitions)).toEqual({ ...hints, ...others });
  expect(described(definition?.queryDefinitions)).toMatchObject({
    progress: 'State, steps, what it waits for, decisions',
  });
  await saga.cancel();
});

const said = { by: 'ann', note: 'the customer has changed their mind' };

describe('a cancellation', () => {
  it('has a person and a reason, which stay in the report and in the journal', async () => {
    const saga = await stuck();
    await saga.cancel(said);
    const { cancelled } = await outcomeOf(saga);
    const record = { decision: 'cancel', kind: 'stuck', step: 'place-order', ...said };
    expect(cancelled).toMatchObject({ why: `cancelled, says ann: ${said.note}`, decisions: [record] });
    expect((await rig.recordOf(saga))?.decisions).toMatchObject([record]);
    expect((await saga.progress()).decisions).toMatchObject([record]);
  });

  it('is not taken with half of them, nor from a signal that cannot be read', async () => {
    const saga = await stuck();
    for (const less of [{ by: 'ann' }, { note: 'why' }, { by: '', note: 'why' }, { by: 'ann', note: ' ' }]) {
      await expect(saga.cancel(less as never)).rejects.toThrow(InvalidRequestError);
    }
    await rig.runOf(saga).signal('cancelledBy', { by: 7 });
    await until(async () => (await saga.progress()).ignored.length === 1);
    expect(await saga.progress()).toMatchObject({ state: 'stuck', ignored: [{ decision: 'cancel' }] });
    await saga.cancel();
    expect((await outcomeOf(saga)).cancelled).toMatchObject({ why: 'cancelled; nobody said who or why' });
  });
});

const dayMs = 24 * 60 * 60 * 1000;

function remindersWithin(totalMs: number): number[] {
  const delays: number[] = [];
  let sum = 0;
  for (const delayMs of reminderDelaysMs()) {
    sum += delayMs;
    if (sum > totalMs) return delays;
    delays.push(delayMs);
  }
  throw new Error('reminders never end');
}

it('a wait is reminded of after an hour, then ever more seldom, and never stops', () => {
  const [first, second, third] = remindersWithin(10 * dayMs);
  expect([first, second, third]).toEqual([1, 4, 16].map((hours) => hours * 60 * 60 * 1000));
  expect(remindersWithin(365 * dayMs)).toHaveLength(7);
  expect(remindersWithin(3650 * dayMs).length).toBeGreaterThan(20);
});

it('who has cancelled a saga stays in its report, whoever cancels it again while it undoes', async () => {
  const request = provisionRequest();
  const match = { planId: planIdOf(request.reference) };
  rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'unauthorized', match: { label: request.label } });
  rig.sandbox.faults.add({ endpoint: 'delete-cart-item', kind: 'unauthorized', match, times: 1 });
  const saga = await rig.sagas.provision(request);
  const { id } = await untilWaiting(saga, 'stuck');
  await saga.cancel(said);
  const { id: question } = await untilAnother(saga, id);
  const decisions = [{ saga: saga.workflowId, decision: 'cancel', question }];
  await (await rig.sagas.decideMany({ by: 'bob', note: 'all that wait', decisions })).report();
  expect((await saga.progress()).ignored).toMatchObject([{ decision: 'cancel', by: 'bob' }]);
  await answer(saga, 'retry');
  expect((await outcomeOf(saga)).cancelled).toMatchObject({
    why: `cancelled, says ann: ${said.note}`,
    decisions: [{ decision: 'retry' }, { decision: 'cancel', by: 'ann' }],
  });
});
