/**
 * Runs that are started with anything, past our client: each is closed as invalid with a sentence, and the provider is
 * not called. `fuzz-runs.ts` says how to try more of them.
 */
import { ApplicationFailure, defaultPayloadConverter, type Payload } from '@temporalio/common';
import type { WorkflowFailedError } from '@temporalio/client';
import fc from 'fast-check';
import { InvalidRequestError } from '../../../src/client/errors';
import { workflowIdOf, workflowNames, type WorkflowName } from '../../../src/domain/identity';
import type { Report } from '../../../src/domain/results';
import { itInWays } from '../../support/left-out';
import { brokenTasksOf } from '../../support/events';
import { changeRequest, firewallsRequest, provisionRequest, switchRequest } from '../../support/requests';
import { rigForFile } from '../../support/rig';
import { fuzz, patience } from './fuzz-runs';
import { garbage, spoilt } from './inputs';
import { encoded, unreadable } from '../../support/payloads';

const raw = fuzz(80);
const checked = fuzz(2_000);
jest.setTimeout(patience(120_000));

const rig = rigForFile();

let started = 0;
const idFor = (workflow: WorkflowName) => workflowIdOf(workflow, `H-${(started += 1)}`);

/** How a run ends that Temporal was given these payloads for. */
async function refused(workflow: WorkflowName, workflowId: string, payloads: Payload[]): Promise<Report> {
  await rig.temporal.workflowService.startWorkflowExecution({
    namespace: rig.namespace,
    workflowId,
    workflowType: { name: workflow },
    taskQueue: { name: 'order-saga' },
    requestId: workflowId,
    input: { payloads },
  });
  const end = await rig.temporal.workflow.result(workflowId).catch((error: unknown) => error);
  const { cause } = end as WorkflowFailedError;
  if (!(cause instanceof ApplicationFailure)) throw new Error(`${workflowId} ended otherwise: ${end}`);
  expect(await brokenTasksOf(rig.runOf({ workflowId }))).toEqual([]);
  expect(cause.type).toBe('InvalidRequest');
  expect(cause.message.length).toBeLessThan(30_000);
  return cause.details?.[0] as Report;
}

const right: Record<WorkflowName, () => Record<string, unknown>> = {
  provisionServers: () => provisionRequest({ firewalls: [143] }),
  changeOrder: () => changeRequest({ guard: { maxTotal: 5 }, approval: 'always' }),
  switchPlan: () => switchRequest({ quoteOnly: true }),
  setFirewalls: () => firewallsRequest(),
  cleanCart: () => ({ reference: 'C', nothing: 1 }),
};

const wrongRequests = fc
  .constantFrom(...workflowNames)
  .chain((workflow) => fc.tuple(fc.constant(workflow), fc.oneof(garbage, spoilt(right[workflow]()))));

test(`${raw.numRuns} runs that are started with anything`, async () => {
  const cases = fc.sample(wrongRequests, raw);
  const ends = cases.map(async ([workflow, request]) => {
    const workflowId = idFor(workflow);
    const { problems = [] } = await refused(workflow, workflowId, [defaultPayloadConverter.toPayload(request)]);
    expect(problems.length).toBeGreaterThan(0);
    for (const { message } of problems) expect(message).toMatch(/\w{2}/);
  });
  await Promise.all(ends);
  expect(rig.sandbox.ledger.calls).toEqual([]);
});

const oddPayloads: [string, Payload[]][] = [
  ['no argument', []],
  ['nothing', [defaultPayloadConverter.toPayload(null)]],
  ['a text', [defaultPayloadConverter.toPayload('{"reference":"R"}')]],
  ['bytes', [defaultPayloadConverter.toPayload(new Uint8Array(100_000))]],
  ['several arguments', [defaultPayloadConverter.toPayload('one'), defaultPayloadConverter.toPayload({ two: 2 })]],
  ...unreadable,
  ['a hundred thousand levels', [encoded('json/plain', '['.repeat(100_000) + ']'.repeat(100_000))]],
  ['a million wrong items', [encoded('json/plain', `{"reference":"R","items":[${'{},'.repeat(300_000)}{}]}`)]],
  ['a field with a name of a megabyte', [encoded('json/plain', `{"${'x'.repeat(1_500_000)}":1}`)]],
  ['a reference of a megabyte', [encoded('json/plain', `{"reference":"${'x'.repeat(1_500_000)}"}`)]],
  ['the same field twice', [encoded('json/plain', '{"reference":"R","reference":"S"}')]],
];

async function isRefused(_: string, payloads: Payload[]): Promise<void> {
  // One at a time: a task reads a megabyte, and has ten seconds.
  for (const workflow of workflowNames) await refused(workflow, idFor(workflow), payloads);
  expect(rig.sandbox.ledger.calls).toEqual([]);
}
const taken = ['JSON that breaks off', 'a million wrong items'];
test.each(oddPayloads.filter(([what]) => taken.includes(what)))('a run that is started with %s', isRefused);
itInWays.each(oddPayloads.filter(([what]) => !taken.includes(what)))('a run that is started with %s', isRefused);

test(`the client refuses ${checked.numRuns} of them before it starts anything`, async () => {
  await fc.assert(
    fc.asyncProperty(wrongRequests, async ([workflow, request]) => {
      await expect(rig.sagas.start(workflow, request)).rejects.toThrow(InvalidRequestError);
    }),
    checked,
  );
});

async function atTheirLongest(): Promise<void> {
  const firewalls = Array.from({ length: 200 }, (_, index) => index + 1);
  const request = provisionRequest({ items: firewalls.map(() => ({})), firewalls });
  const saga = await rig.sagas.provision(request);
  const { servers, cartItemIds } = await saga.result();
  expect([cartItemIds.length, servers.length, servers.every(({ verified }) => verified)]).toEqual([200, 200, true]);
  expect(await brokenTasksOf(rig.runOf(saga))).toEqual([]);
}
itInWays(
  '200 items with firewalls for each of 200 servers go through: the schemas allow no more',
  atTheirLongest,
  180_000,
);
