/**
 * Names that stand in histories, dashboards and other people's code, spelt out once more: a change of one breaks
 * somebody, and must not look like a change of a word.
 */
import { decisionHints, decisionNames, decisionSchemas, exampleFor } from '../../../src/domain/decisions';
import { holdWorkflow } from '../../../src/domain/hold';
import { effectKinds, effectOutcomes } from '../../../src/domain/effects';
import { callFailureNames, describeFailure, sagaFailureNames } from '../../../src/domain/failures';
import {
  defaultTaskQueue,
  readWorkflowId,
  searchAttributeNames,
  workflowIdOf,
  workflowNames,
} from '../../../src/domain/identity';
import { leftoverSchema } from '../../../src/domain/leftovers';
import { cloudServerPlanTypes, documentedPlanTypes } from '../../../src/domain/plan-types';
import { sagaStates, stepStatuses, waitKinds } from '../../../src/domain/progress';
import { requestSchemas } from '../../../src/domain/requests';
import { plaintextMark, redactedMark, secretFields, secretReferenceSchema } from '../../../src/domain/secrets';
import { check } from '../../../src/domain/validation';
import { provisionRequest } from '../../support/requests';

it('are these', () => {
  expect(workflowNames.map((name) => workflowIdOf(name, 'R'))).toEqual([
    'provision/R',
    'change/R',
    'switch/R',
    'firewalls/R',
    'clean/R',
  ]);
  expect(workflowNames).toEqual(['provisionServers', 'changeOrder', 'switchPlan', 'setFirewalls', 'cleanCart']);
  expect(holdWorkflow).toBe('hold');
  expect(defaultTaskQueue).toBe('order-saga');
  expect(searchAttributeNames).toEqual({
    state: 'SagaState',
    step: 'SagaStep',
    reference: 'OrderReference',
    account: 'ProviderAccount',
    subscription: 'SubscriptionId',
    servers: 'ServerIds',
    question: 'SagaQuestion',
    failure: 'SagaFailure',
    waitingSince: 'SagaWaitingSince',
  });
  expect(waitKinds).toEqual(['stuck', 'refused', 'outcome-unknown', 'approval', 'duplicate', 'over-limit', 'servers']);
  expect(sagaStates).toEqual([
    'running',
    'held',
    'queued',
    'settling',
    ...waitKinds,
    'undoing',
    'done',
    'partly',
    'reversed',
    'reversed-with-leftovers',
    'untouched',
  ]);
  expect(stepStatuses).toEqual(['pending', 'running', 'done', 'stuck', 'skipped', 'undoing', 'undone', 'failed']);
  expect(callFailureNames).toEqual([
    'NotSent',
    'TokenUnreadable',
    'RateLimited',
    'Unauthorized',
    'NotYet',
    'Rejected',
    'UnknownOutcome',
    'UnexpectedResponse',
    'NotVisibleYet',
    'SecretMissing',
    'WorkerLost',
    'StoodStill',
    'JournalUnavailable',
    'JournalUnreadable',
    'JournalPutBack',
    'TemporalUnavailable',
    'UnderWay',
    'StateChanged',
    'Ordered',
    'DeadlinePassed',
    'QuoteAged',
    'NeedsApproval',
    'OrderCancelled',
  ]);
  expect(effectKinds).toEqual(['mutate', 'compensate', 'pivot']);
  expect(effectOutcomes).toEqual(['done', 'not-done', 'unknown', 'undone', 'denied']);
  expect(sagaFailureNames).toEqual([
    'InvalidRequest',
    'ReferenceTaken',
    'OrderRejected',
    'OrderCancelled',
    'CancelledBefore',
    'ChangeNotAvailable',
    'SwitchNotAvailable',
    'GuardViolated',
    'NotApproved',
    'DeadlinePassed',
    'FirewallsRejected',
    'FirewallListUnreadable',
    'HistoryFull',
  ]);
  expect(decisionNames).toEqual([
    'retry',
    'skip',
    'markDone',
    'confirmPlaced',
    'confirmNotPlaced',
    'markCancelled',
    'approve',
    'reject',
    'provideServers',
  ]);
  expect(secretFields).toEqual(['password', 'custom_ssh_key', 'custom_script']);
  expect([plaintextMark, redactedMark]).toEqual(['order-saga-clear', '[redacted]']);
  const standard = ['cloud_servers_standard', 'cloud_servers_highmemory'];
  expect(documentedPlanTypes).toEqual([...standard, 'cloud_servers_dedicatedcpu', 'cloud_servers_highstorage_sas']);
  expect(cloudServerPlanTypes).toEqual([
    ...standard,
    'cloud_servers_highstorage',
    'cloud_servers_highfrequency',
    'cloud_servers_dedicatedcpu',
    'cloud_servers_highstorage_sas',
  ]);
});

it.each([
  { kind: 'cart-item', cartItemId: 1, why: 'w' },
  { kind: 'cart-item-unknown', why: 'w' },
  { kind: 'cart-item-unknown', item: 2, why: 'w' },
  { kind: 'firewalls', vmObjectId: 1, firewalls: [2], why: 'w' },
  { kind: 'placement-unknown', step: 's', why: 'w' },
])('a leftover is told as %j, and with nothing beside it', (leftover) => {
  expect(leftoverSchema.parse(leftover)).toEqual(leftover);
  expect(leftoverSchema.safeParse({ ...leftover, more: 1 }).success).toBe(false);
  expect(leftoverSchema.safeParse({ kind: leftover.kind }).success).toBe(false);
});

describe('a workflow id', () => {
  it.each(workflowNames)('of %s leads back to its reference', (workflow) => {
    expect(readWorkflowId(workflowIdOf(workflow, 'PO-2026:1'))).toEqual({ workflow, reference: 'PO-2026:1' });
  });

  it.each(['PO-1', 'order/PO-1', 'provision', 'provision/', 'provision/a/b', '/PO-1', 'Xprovision/PO-1', 'provision1'])(
    'that is not ours is none: %s',
    (workflowId) => {
      expect(readWorkflowId(workflowId)).toBeUndefined();
    },
  );
});

it.each(['-x', 'a b', ' ax', 'ax ', '', 'x'.repeat(129)])('the name of a secret is not %j', (secret) => {
  expect(check(secretReferenceSchema(), { secret })).toMatchObject({
    problems: [{ message: 'must be 1 to 128 of the characters A-Z a-z 0-9 . _ -, a letter or digit first' }],
  });
});

it.each(['webhook-ops', 'webhook_ops', 'WEBHOOK.ops', 'Webhook-'])(
  'a request cannot name %s: it may be a webhook’s',
  (secret) => {
    const request = provisionRequest({ items: [{ custom_script: { secret } }] });
    expect(check(requestSchemas().provisionServers(), request)).toMatchObject({
      problems: [{ field: 'items[0].custom_script.secret', message: expect.stringContaining('webhook-') as string }],
    });
  },
);

it.each(['webhook', 'webhooks-password', 'my-webhook-ops'])('a request may name %s', (secret) => {
  expect(check(secretReferenceSchema(), { secret })).toMatchObject({ ok: true });
});

it('the name of a secret is a string', () => {
  expect(check(secretReferenceSchema(), { secret: 7 })).toMatchObject({
    problems: [{ message: 'must be the name of a secret' }],
  });
});

it('a failure is described with what the provider said, and cut', () => {
  const failure = { failure: 'Rejected', message: 'said no' } as const;
  expect(describeFailure(failure)).toBe('said no');
  expect(describeFailure({ ...failure, body: 'sold out' })).toBe('said no: sold out');
  expect(describeFailure({ ...failure, body: 'x'.repeat(1_000) })).toHaveLength(600);
});

describe('what the Web UI shows of a decision', () => {
  it.each(decisionNames)('%s is explained, with an example that is taken', (name) => {
    const { does, example } = decisionHints[name];
    expect(does).toMatch(/^[A-Z][^.]{15,}$/);
    expect(decisionSchemas[name]().safeParse(JSON.parse(example)).error).toBeUndefined();
    expect(JSON.parse(example)).toMatchObject({ by: 'you' });
  });

  it.each(decisionNames)('%s has the id of the question filled in where it waits for one', (name) => {
    const filled = JSON.parse(exampleFor(name, '7f3a90c1')) as Record<string, unknown>;
    expect(filled).toEqual({ ...JSON.parse(decisionHints[name].example), question: '7f3a90c1' });
    expect(Object.keys(filled)[0]).toBe('question');
    expect(decisionSchemas[name]().safeParse(filled).error).toBeUndefined();
  });
});
