/**
 * Every copy of the journal: it is restored to each call of a saga that has ended, and the saga goes on. As a reset of
 * its run to each of its workflow tasks, so that the history knows less than the copy, as much, or more; and as another
 * start, after Temporal has forgotten it. A person answers what the control panel shows.
 */
import { join } from 'node:path';
import { openCartItems } from '../../../sandbox/sentences';
import { SagaHandle } from '../../../src/client/handle';
import { workflowIdOf } from '../../../src/domain/identity';
import { restored } from '../../../src/journal/restore/confirm-restore';
import { operate, said } from '../../support/operator';
import { itInWays, takesAll } from '../../support/left-out';
import { brokenByAll, brokenPromises, type Asked } from '../../support/promises';
import { changeRequest, firewallsRequest, provisionRequest, switchRequest } from '../../support/requests';
import { deleteRun, resetTo, workflowTasksOf } from '../../support/web-ui';
import { rigForEach } from '../../support/rig';
import { copyDatabase, putDatabaseBack } from '../../support/sqlite-copy';

// Effects that the copies lack have no row.
const rig = rigForEach({ witness: true, compares: false });

/** No story makes more. */
const callsMax = 9;

/** To its end, and copies of the journal: from before it, and while each of its calls was under way. */
async function copiesOf(start: () => Promise<SagaHandle>): Promise<{ saga: SagaHandle; copies: string[] }> {
  const gates = Array.from({ length: callsMax }, (_, index) =>
    rig.sandbox.faults.add({ endpoint: '*', kind: 'gate', nth: index + 1 }),
  );
  const copies: string[] = [];
  const copyNow = () => {
    const copy = join(rig.folder, `copy-${copies.length}.db`);
    copyDatabase(rig.journalFile, copy);
    copies.push(copy);
  };
  copyNow();
  const saga = await start();
  const over = saga.result().then(() => true);
  for (const gate of gates) {
    if (await Promise.race([rig.sandbox.whenStruck(gate).then(() => false), over])) break;
    copyNow();
    rig.sandbox.faults.release(gate);
  }
  rig.sandbox.faults.clear();
  await over;
  return { saga, copies };
}

async function restoreTo(copy: string): Promise<void> {
  await rig.withoutWorkers(() => putDatabaseBack(copy, rig.journalFile));
  await rig.withJournal((journal) => restored(journal, said));
}

/** With its result, and no promise broken. */
async function endsWell(saga: SagaHandle, asked: Asked): Promise<void> {
  const ended = await operate(rig, saga, asked);
  expect(ended).toMatchObject({ result: { reference: asked.request.reference } });
  const { ledger } = rig.sandbox;
  expect([...brokenPromises(ledger, asked, ended), ...brokenByAll(ledger)]).toEqual([]);
  expect(openCartItems(ledger)).toEqual([]);
}

const title = '%s: from each copy it comes to the same end, and buys nothing twice';
it.each([['provisionServers', () => provisionRequest()]] as const)(title, fromEachCopy);
// A change order with a journal that was restored, whichever way: restored.test.ts.
itInWays.each([
  ['changeOrder', () => changeRequest()],
  ['provisionServers', () => provisionRequest({ items: [{}, {}], firewalls: [143] })],
  ['switchPlan', () => switchRequest()],
  ['setFirewalls', () => firewallsRequest({ assign: [143] })],
] as const)(title, fromEachCopy);

async function fromEachCopy(workflow: Asked['workflow'], requestOf: () => { reference: string }): Promise<void> {
  const request = requestOf();
  const asked = { workflow, request } as unknown as Asked;
  const workflowId = workflowIdOf(workflow, request.reference);
  const start = async () => {
    const options = { workflowId, taskQueue: 'order-saga', args: [request] };
    const { firstExecutionRunId } = await rig.temporal.workflow.start(workflow, options);
    return new SagaHandle(rig.temporal, workflow, request.reference, firstExecutionRunId, false);
  };
  const { saga, copies } = await copiesOf(start);
  expect(copies.length).toBeGreaterThan(2);
  const run = { workflowId, runId: saga.runId };
  const tasks = await workflowTasksOf(rig.temporal, run);
  for (const copy of copies) {
    let { runId } = saga;
    for (const task of takesAll ? tasks : tasks.slice(0, 1)) {
      await restoreTo(copy);
      runId = await resetTo(rig.temporal, run, task);
      await endsWell(new SagaHandle(rig.temporal, workflow, request.reference, runId, true), asked);
    }
    await restoreTo(copy);
    await deleteRun(rig.temporal, { workflowId, runId });
    await endsWell(await start(), asked);
  }
}
