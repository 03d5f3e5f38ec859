/** A saga that ended without a word gives nothing back: who is queued behind it looks by itself. */
import { firewallMoments, firewallsOf } from '../../../sandbox/sentences';
import type { SagaHandle } from '../../../src/client/handle';
import { resultsOf } from '../../support/events';
import { firewallsRequest } from '../../support/requests';
import { rigForFile, until } from '../../support/rig';
import { progressOf } from '../../support/sagas';

/** Longer than the test waits for more than one look. */
const inFlightMs = 30_000;

const rig = rigForFile({ clears: true, activities: { turnLookMs: 100, inFlightMs } });

const untilQueued = (saga: SagaHandle, before: number) =>
  until(async () => (await progressOf(saga)).queued?.before === before);
const remove = async ({ workflowId }: SagaHandle) => {
  const { namespace } = rig.temporal.options;
  await rig.temporal.workflowService.deleteWorkflowExecution({ namespace, workflowExecution: { workflowId } });
};
const terminate = async ({ workflowId }: SagaHandle) => {
  await rig.temporal.workflow.getHandle(workflowId).terminate('a test');
};

/** A server whose first saga stands at a call. */
async function begin(endpoint: string, exactly: number[]) {
  const { vmObjectId } = firewallsRequest();
  rig.sandbox.addServer({ vmObjectId, firewalls: [1, 2] });
  const gate = rig.sandbox.faults.add({ endpoint, kind: 'gate', hold: 'before', match: { vmObjectId } } as never);
  const start = (changes: object) =>
    rig.sagas.firewalls(firewallsRequest({ assign: undefined, ...changes, vmObjectId }));
  const first = await start({ exactly });
  await rig.sandbox.whenStruck(gate);
  return { vmObjectId, gate, start, first };
}

const ends: [string, (saga: SagaHandle) => Promise<void>][] = [
  ['terminated', terminate],
  ['deleted', remove],
];
it.each(ends)('goes on behind a saga that was %s', async (_, end) => {
  const { vmObjectId, gate, start, first } = await begin('list-firewalls', [1]);
  const second = await start({ exactly: [2] });
  await untilQueued(second, 1);
  await end(first);
  rig.sandbox.faults.release(gate);
  await expect(second.result()).resolves.toMatchObject({ firewalls: [2] });
  expect(firewallsOf(rig.sandbox.ledger, vmObjectId)).toEqual([2]);
});

it('not before it is known what became of its last call', async () => {
  const { vmObjectId, gate, start, first } = await begin('unassign-firewalls', [1]);
  const second = await start({ exactly: [2] });
  await untilQueued(second, 1);
  await terminate(first);
  const asked = async () =>
    (await resultsOf(rig.temporal.workflow.getHandle(second.workflowId), 'takeTurn')).filter(isQueued).length;
  const before = await asked();
  await until(async () => (await asked()) > before + 1);
  // It takes effect although nobody waits for it: firewall 2 goes.
  rig.sandbox.faults.release(gate);
  await expect(second.result()).resolves.toMatchObject({ assigned: [2], unassigned: [1], firewalls: [2] });
  const moments = firewallMoments(rig.sandbox.ledger, vmObjectId).map(({ firewalls }) => firewalls);
  expect(moments).toEqual([[1, 2], [1], [1, 2], [2]]);
});

const isQueued = (answer: unknown) => (answer as { how: string }).how === 'queued';
