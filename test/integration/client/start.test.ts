/** Starting, and starting again: the same request gives the saga that there is, another one is refused. */
import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time';
import { callsTo } from '../../../sandbox/sentences';
import { OrderSagaClient } from '../../../src/client/client';
import { NoWorkerError, ReferenceTakenError, UnknownReferenceError } from '../../../src/client/errors';
import { toRow } from '../../../src/client/saga-list';
import { workflowIdOf } from '../../../src/domain/identity';
import { createDataConverter } from '../../../src/security/data-converter';
import { parsePayloadKeys } from '../../../src/security/keys';
import { newKey } from '../../support/codec-calls';
import { changeRequest, firewallsRequest, provisionRequest, switchRequest } from '../../support/requests';
import { Rig, until } from '../../support/rig';

let rig: Rig;
/** A namespace that no worker ever comes to: what is started there stands at its first event. */
let bare: Client;
beforeAll(async () => {
  [rig, bare] = await Promise.all([Rig.start(), bareNamespace()]);
});
afterAll(async () => {
  await rig.close();
  await bare.connection.close();
});

const waiting = (changes: Record<string, unknown> = {}) =>
  switchRequest({ approval: 'always', ...changes }) as ReturnType<typeof switchRequest> & { approval: 'always' };

async function refusalOf(start: Promise<unknown>): Promise<ReferenceTakenError> {
  const error = await start.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ReferenceTakenError);
  return error as ReferenceTakenError;
}

describe('the same request again', () => {
  it('finds it, also when several start it at once', async () => {
    const request = firewallsRequest();
    const handles = await Promise.all(Array.from({ length: 5 }, () => rig.sagas.firewalls(request)));
    expect(new Set(handles.map(({ runId }) => runId)).size).toBe(1);
    expect(handles.filter(({ existing }) => !existing)).toHaveLength(1);
    await handles[0]?.result();
  });

  it('is the same where only the writing differs: a number for a numeric string, the order of fields', async () => {
    const { reference, subscription_id } = changeRequest();
    const resource = { resource_name: 'vm_backup', delta_value: 1 };
    await rig.sagas.start('changeOrder', { reference, subscription_id, resources: [resource] });
    const again = await rig.sagas.start('changeOrder', {
      resources: [{ delta_value: '1', resource_name: 'vm_backup' }],
      subscription_id,
      reference,
      approval: undefined,
    });
    expect(again.existing).toBe(true);
    await again.result();
  });
});

describe('another request under the same reference', () => {
  it('is refused, naming every field that differs and no value', async () => {
    const request = provisionRequest({ items: [{ password: 'first-secret' }] });
    const first = await rig.sagas.provision(request);
    const [item] = request.items;
    const other = {
      ...request,
      account: 'ZZ-99',
      items: [{ ...item, plan_id: 999_999, password: 'second-secret' }, item],
    };
    const { fields, message } = await refusalOf(rig.sagas.start('provisionServers', other));
    expect([...fields].sort()).toEqual(['account', 'items[0].password', 'items[0].plan_id', 'items[1]']);
    expect(message).toContain(first.workflowId);
    for (const field of fields) expect(message).toContain(field);
    expect(message).not.toMatch(/secret|ZZ-99|999999/);
    await first.result();
    expect(rig.sandbox.ledger.calls.some(({ names }) => names.account?.includes('ZZ-99'))).toBe(false);
  });

  it('is refused after the run was terminated: a reference is used once', async () => {
    const request = waiting();
    const first = await rig.sagas.switch(request);
    await rig.temporal.workflow.getHandle(first.workflowId).terminate();
    expect((await refusalOf(rig.sagas.switch({ ...request, plan_id: 22 }))).fields).toEqual(['plan_id']);
    expect((await rig.sagas.switch(request)).existing).toBe(true);
  });

  const junks: [string, string, unknown][] = [
    ['nonsense', 'switchPlan', 'nonsense'],
    ['a saga of another kind', 'changeOrder', changeRequest()],
  ];
  it.each(junks)('is passed over where it was %s, and took no reference', async (_what, type, input) => {
    const request = switchRequest();
    const workflowId = workflowIdOf('switchPlan', request.reference);
    const junk = await rig.temporal.workflow.start(type, { taskQueue: 'order-saga', workflowId, args: [input] });
    await expect(junk.result()).rejects.toThrow();
    const saga = await rig.sagas.switch(request);
    expect(saga).toMatchObject({ existing: false });
    expect(await saga.result()).toMatchObject({ placed: true });
    expect((await rig.sagas.switch(request)).existing).toBe(true);
  });

  it('does not take a reference from whoever has it: the first request is answered from the journal', async () => {
    const request = switchRequest();
    await (await rig.sagas.switch(request)).result();
    const options = { taskQueue: 'order-saga', workflowId: workflowIdOf('switchPlan', request.reference) };
    const other = { ...request, plan_id: 22 };
    const thief = await rig.temporal.workflow.start('switchPlan', { ...options, args: [other] });
    await expect(thief.result()).rejects.toThrow();
    const saga = await rig.sagas.switch(request);
    expect(await saga.result()).toMatchObject({ placed: true });
    const switches = callsTo(rig.sandbox.ledger, 'switch-plan');
    expect(switches.filter(({ path }) => path.endsWith(`/${request.subscription_id}`))).toHaveLength(1);
    const refused = await rig.sagas.switch(other).catch((reason: unknown) => reason);
    expect(refused).toBeInstanceOf(ReferenceTakenError);
  });
});

it('a request past the client, under an id that is not its reference’s, is refused before anything is sent', async () => {
  const request = switchRequest();
  const options = { workflowId: 'switch/another', taskQueue: 'order-saga', args: [request] };
  const run = await rig.temporal.workflow.start('switchPlan', options);
  await expect(run.result()).rejects.toMatchObject({
    cause: {
      type: 'InvalidRequest',
      message: expect.stringMatching(/belongs to the workflow id switch\//) as string,
    },
  });
  expect(callsTo(rig.sandbox.ledger, 'quote-plan-switch').flatMap(({ names }) => names.subscriptionId)).not.toContain(
    request.subscription_id,
  );
});

it('no change of firewalls has the name of one that a sweep has made', async () => {
  const request = { ...firewallsRequest(), reference: 'reconcile-20261127120000-9001' };
  await expect(rig.sagas.start('setFirewalls', request)).rejects.toThrow(/reference: is how a sweep names/);
});

it('starts with search attributes and a note, on the task queue that was chosen', async () => {
  const request = { ...changeRequest(), account: 'AB-77' };
  const sagas = new OrderSagaClient(rig.temporal, { taskQueue: 'elsewhere' });
  const saga = await sagas.start('changeOrder', request);
  const description = await saga.describe();
  expect(toRow(description)).toMatchObject({ account: 'AB-77', state: 'running' });
  expect(description.memo).toEqual({ searchAttributesGiven: true });
  expect(description.taskQueue).toBe('elsewhere');
  expect(await description.staticSummary()).toContain(request.reference);
  expect(await description.staticDetails()).toContain('vm_backup 1');
});

it('says that no worker answers, and loses nothing', async () => {
  const saga = await new OrderSagaClient(bare).start('switchPlan', switchRequest());
  await expect(saga.progress({ withinMs: 200 })).rejects.toBeInstanceOf(NoWorkerError);
  expect((await saga.describe()).status.name).toBe('RUNNING');
});

describe('a first request that cannot be read', () => {
  it('is never taken for the same one', async () => {
    const request = switchRequest();
    const { connection, options } = bare;
    const dataConverter = createDataConverter(parsePayloadKeys(`k1:${newKey()}`));
    const sealed = new OrderSagaClient(new Client({ connection, namespace: options.namespace, dataConverter }));
    await sealed.switch(request);
    // With the key it is the same; without it, nobody can tell.
    expect((await sealed.switch(request)).existing).toBe(true);
    expect((await refusalOf(sealed.switch({ ...request, plan_id: 22 }))).fields).toEqual(['plan_id']);
    const refusal = await refusalOf(new OrderSagaClient(bare).switch(request));
    expect(refusal.fields).toEqual([]);
    expect(refusal.message).toContain('cannot be decoded');
  });

  it('of another workflow type is refused', async () => {
    const request = switchRequest();
    const workflowId = workflowIdOf('switchPlan', request.reference);
    await bare.workflow.start('somethingElse', { taskQueue: 'order-saga', workflowId, args: [request] });
    expect((await refusalOf(new OrderSagaClient(bare).switch(request))).unreadable).toContain('another workflow type');
    await expect(new OrderSagaClient(bare).get(request.reference)).rejects.toBeInstanceOf(UnknownReferenceError);
  });
});

async function bareNamespace(): Promise<Client> {
  const connection = await Connection.connect({ address: process.env['ORDER_SAGA_TEST_TEMPORAL_ADDRESS'] ?? '' });
  const namespace = `bare-${randomUUID()}`;
  const { workflowService } = connection;
  await workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod: msToTs('24 hours') });
  await until(() =>
    workflowService.listWorkflowExecutions({ namespace }).then(
      () => true,
      () => false,
    ),
  );
  return new Client({ connection, namespace });
}
