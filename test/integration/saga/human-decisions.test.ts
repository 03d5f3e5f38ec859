/**
 * Where a saga waits for a person: what they read, what they get back, and what becomes of a decision that does not
 * fit.
 */
import type { temporal } from '@temporalio/proto';
import { decisionHints, decisionNames } from '../../../src/domain/decisions';
import { provisionRequest } from '../../support/requests';
import { rigForFile, until } from '../../support/rig';
import { answer, untilWaiting } from '../../support/sagas';

const rig = rigForFile({ clears: true });

const runOf = ({ workflowId }: { workflowId: string }) => rig.temporal.workflow.getHandle(workflowId);

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
  return { saga, waiting: await untilWaiting(saga, 'stuck') };
}

type Metadata = temporal.api.sdk.v1.IWorkflowMetadata;
const metadataOf = (saga: { workflowId: string }) => runOf(saga).query<Metadata>('__temporal_workflow_metadata');

it('says of each decision what it does and what to paste, and of the query what it answers', async () => {
  const { saga } = await stuck();
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

describe('a decision is about the question that it names', () => {
  it.each(['update', 'signal'])(
    'a late skip of the step before does not leave out the next one, as %s',
    async (how) => {
      const request = provisionRequest({ firewalls: [143], items: [{ quantity: 1 }] });
      rig.sandbox.faults.add({ endpoint: 'assign-firewalls', kind: 'unauthorized' });
      rig.sandbox.faults.add({ endpoint: 'list-firewalls', kind: 'unauthorized', times: 2 });
      const saga = await rig.sagas.provision(request);
      const first = await untilWaiting(saga, 'stuck');
      await answer(saga, 'retry', { by: 'ann' });
      const second = await until(async () => {
        const { waiting } = await saga.progress();
        return waiting !== undefined && waiting.id !== first.id && waiting;
      });
      expect(second.choices).toContain('skip');
      const late = { question: first.id, by: 'bob', note: 'leave these out' };
      if (how === 'update') await expect(saga.decide('skip', late)).rejects.toThrow(/is not the one that waits now/);
      else await runOf(saga).signal('skip', late);
      const { waiting, decisions } = await until(async () => {
        const view = await saga.progress();
        return (how === 'update' || view.ignored.length === 1) && view;
      });
      expect(waiting?.id).toBe(second.id);
      expect(decisions).toMatchObject([{ decision: 'retry', by: 'ann' }]);
      await answer(saga, 'retry');
      await expect(saga.result()).resolves.toMatchObject({ outcome: 'done', servers: [{ firewalls: [143] }] });
    },
  );
});
