/**
 * Decisions of any shape to sagas that wait: the question stays as it is, the provider is
 * not called, and whoever asks is told why. `fuzz-runs.ts` says how to try more of them.
 */
import { randomUUID } from 'node:crypto';
import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import { temporal as proto } from '@temporalio/proto';
import fc from 'fast-check';
import type { SagaHandle } from '../../../src/client/handle';
import { decisionNames, type DecisionName } from '../../../src/domain/decisions';
import type { ProgressView, Waiting } from '../../../src/domain/progress';
import { itInWays } from '../../support/left-out';
import { brokenTasksOf } from '../../support/events';
import { changeRequest, firewallsRequest, provisionRequest } from '../../support/requests';
import { rigForFile } from '../../support/rig';
import { answer, untilWaiting } from '../../support/sagas';
import { fuzz, patience } from './fuzz-runs';
import { garbage } from './inputs';
import { encoded, unreadable } from '../../support/payloads';

const completed =
  proto.api.enums.v1.UpdateWorkflowExecutionLifecycleStage.UPDATE_WORKFLOW_EXECUTION_LIFECYCLE_STAGE_COMPLETED;

const updates = fuzz(60);
jest.setTimeout(patience(120_000));

const rig = rigForFile();
let waiting: SagaHandle[];
beforeAll(async () => {
  const firewalls = firewallsRequest();
  const stuck = { vmObjectId: firewalls.vmObjectId };
  rig.sandbox.faults.add({ endpoint: 'list-firewalls', kind: 'unauthorized', times: 1, match: stuck });
  const unknown = provisionRequest();
  rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'reset-after', times: 1, match: { label: unknown.label } });
  waiting = await Promise.all([
    rig.sagas.firewalls(firewalls),
    rig.sagas.change(changeRequest({ approval: 'always' })),
    rig.sagas.provision(unknown),
  ]);
  const kinds = await Promise.all(waiting.map(async (saga) => (await untilWaiting(saga)).kind));
  expect(kinds).toEqual(['stuck', 'approval', 'outcome-unknown']);
});

/** Never right, whatever stands in it: what else it holds is surplus, or it is no object. */
const wrongBody = garbage.map((body) =>
  typeof body === 'object' && body !== null && !Array.isArray(body) ? { ...body, xSurplus: body } : (body ?? false),
);
const wrongDecision = fc.tuple(
  fc.oneof(
    fc.constantFrom<string>(...decisionNames),
    fc.constantFrom('progress', '__proto__', 'cancel', 'x'.repeat(900)),
  ),
  wrongBody.map((body) => defaultPayloadConverter.toPayload(body)),
);
const known = (name: string): name is DecisionName => decisionNames.some((one) => one === name);

async function untouched(work: () => Promise<void>): Promise<ProgressView[]> {
  const questions = () => Promise.all(waiting.map(async (saga) => (await saga.progress()).waiting));
  const before: (Waiting | undefined)[] = await questions();
  const called = rig.sandbox.ledger.calls.length;
  await work();
  expect(await questions()).toEqual(before);
  expect(rig.sandbox.ledger.calls.length).toBe(called);
  for (const { workflowId } of waiting) expect(await brokenTasksOf(rig.runOf({ workflowId }))).toEqual([]);
  return Promise.all(waiting.map((saga) => saga.progress()));
}

async function update(saga: SagaHandle, name: string, payloads: Payload[]): Promise<string> {
  const { outcome } = await rig.temporal.workflowService.updateWorkflowExecution({
    namespace: rig.namespace,
    workflowExecution: { workflowId: saga.workflowId },
    waitPolicy: { lifecycleStage: completed },
    request: { meta: { updateId: randomUUID() }, input: { name, args: { payloads } } },
  });
  if (!outcome?.failure) throw new Error(`${name} was taken`);
  return outcome.failure.message ?? '';
}

/**
 * One for each saga at a time: several of a megabyte, at once and to one run, were seen to fail its task as too large a
 * message, for as long as they were under way.
 */
async function severally<T>(all: readonly T[], work: (one: T, index: number) => Promise<void>): Promise<void> {
  for (let from = 0; from < all.length; from += waiting.length)
    await Promise.all(all.slice(from, from + waiting.length).map((one, index) => work(one, from + index)));
}

test(`${updates.numRuns} updates of any shape are refused with a sentence`, async () => {
  await untouched(async () => {
    await severally(fc.sample(wrongDecision, updates), async ([name, payload], index) => {
      const message = await update(waiting[index % waiting.length]!, name, [payload]);
      expect(message.length).toBeLessThan(20_000);
      if (known(name)) expect(message).toMatch(new RegExp(`^${name}(:| does not fit)`));
    });
  });
});

const oddPayloads: [string, Payload[]][] = [
  ...unreadable,
  ['a hundred thousand levels', [encoded('json/plain', `{"correction":${'['.repeat(100_000)}${']'.repeat(100_000)}}`)]],
];

async function stopsNoSaga(_: string, payloads: Payload[]): Promise<void> {
  await untouched(async () => {
    const all = decisionNames.flatMap((name) => waiting.map((saga) => [saga, name] as const));
    await severally(all, async ([saga, name]) => {
      expect(await update(saga, name, payloads)).toMatch(/\w{3}/);
    });
  });
}
test.each(oddPayloads.slice(0, 1))('%s stops no saga', stopsNoSaga);
itInWays.each(oddPayloads.slice(1))('%s stops no saga', stopsNoSaga);

test('at the end, each still takes the decision that fits', async () => {
  const [stuck, approval, unknown] = waiting;
  await answer(stuck!, 'retry');
  await answer(approval!, 'reject', { reason: 'enough' });
  await answer(unknown!, 'confirmPlaced', { note: 'the ledger says so' });
  await stuck!.result();
  await unknown!.result();
  await expect(approval!.result()).rejects.toThrow('enough');
});
