/** A saga from outside: starting, and starting again; its progress as it changes, its milestones, and what is decided. */
import { setTimeout as pause } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { callsTo } from '../../../sandbox/sentences';
import { OrderSagaClient } from '../../../src/client/client';
import {
  DecisionRefusedError,
  NoConnectionError,
  NoWorkerError,
  ReferenceTakenError,
  SagaWaitsError,
  UnknownReferenceError,
} from '../../../src/client/errors';
import { changesOf } from '../../../src/client/events';
import type { SagaHandle } from '../../../src/client/handle';
import { toRow } from '../../../src/client/saga-list';
import { decisionNames, exampleFor } from '../../../src/domain/decisions';
import { workflowIdOf } from '../../../src/domain/identity';
import { createDataConverter } from '../../../src/security/data-converter';
import { parsePayloadKeys } from '../../../src/security/keys';
import { newKey } from '../../support/keys';
import { startLink, type Link } from '../../support/proxies';
import { changeRequest, firewallsRequest, provisionRequest, switchRequest } from '../../support/requests';
import { rigForFile, until } from '../../support/rig';
import { answer, untilState, untilWaiting } from '../../support/sagas';
import { resetTo, taskBefore } from '../../support/web-ui';
import { listOf } from '../../support/listed';

const rig = rigForFile({ clears: true });
/** A namespace that no worker ever comes to: what is started there stands at its first event. */
const bare = rigForFile({ worker: false, replays: () => false });

const errorOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

async function refusalOf(start: Promise<unknown>): Promise<ReferenceTakenError> {
  const error = await errorOf(start);
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

const junks: [string, string, unknown][] = [
  ['nonsense', 'switchPlan', 'nonsense'],
  ['a saga of another kind', 'changeOrder', changeRequest()],
];
it.each(junks)('a run under its id that was %s, and took no reference, is passed over', async (_what, type, input) => {
  const request = switchRequest();
  const workflowId = workflowIdOf('switchPlan', request.reference);
  const junk = await rig.temporal.workflow.start(type, { taskQueue: 'order-saga', workflowId, args: [input] });
  await expect(junk.result()).rejects.toThrow();
  const saga = await rig.sagas.switch(request);
  expect(saga).toMatchObject({ existing: false });
  expect(await saga.result()).toMatchObject({ placed: true });
  expect((await rig.sagas.switch(request)).existing).toBe(true);
});

it('a request under an id that is not its reference’s is refused before anything is sent', async () => {
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

it('starts with search attributes and a summary, on the task queue that was chosen', async () => {
  const request = { ...changeRequest(), account: 'AB-77' };
  const sagas = new OrderSagaClient(rig.temporal, { taskQueue: 'elsewhere' });
  const saga = await sagas.start('changeOrder', request);
  const description = await saga.describe();
  expect(toRow(description)).toMatchObject({ account: 'AB-77', state: 'running' });
  expect(description.memo).toEqual({ searchAttributesGiven: true });
  expect(description.taskQueue).toBe('elsewhere');
  expect(await description.staticSummary()).toContain(`vm_backup 1 (${request.reference})`);
});

describe('a first request that cannot be read', () => {
  it('is never taken for the same one', async () => {
    const request = switchRequest();
    const { namespace, temporal } = bare;
    const dataConverter = createDataConverter(parsePayloadKeys(`k1:${newKey()}`));
    const { connection } = temporal;
    const sealed = new OrderSagaClient(new Client({ connection, namespace, dataConverter }));
    await sealed.switch(request);
    // With the key it is the same; without it, nobody can tell.
    expect((await sealed.switch(request)).existing).toBe(true);
    expect((await refusalOf(sealed.switch({ ...request, plan_id: 22 }))).fields).toEqual(['plan_id']);
    const refusal = await refusalOf(bare.sagas.switch(request));
    expect(refusal.fields).toEqual([]);
    expect(refusal.message).toContain('cannot be decoded');
  });

  it('of another workflow type is refused', async () => {
    const request = switchRequest();
    const workflowId = workflowIdOf('switchPlan', request.reference);
    await bare.temporal.workflow.start('somethingElse', { taskQueue: 'order-saga', workflowId, args: [request] });
    expect((await refusalOf(bare.sagas.switch(request))).unreadable).toContain('another workflow type');
    await expect(bare.sagas.get(request.reference)).rejects.toBeInstanceOf(UnknownReferenceError);
  });
});

async function startWaiting() {
  const saga = await rig.sagas.start('switchPlan', switchRequest({ approval: 'always' }));
  await untilWaiting(saga, 'approval');
  return saga;
}

describe('events', () => {
  it('tell each change once, and end with the saga', async () => {
    const gate = rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'gate' });
    const saga = await rig.sagas.provision(provisionRequest({ firewalls: [143] }));
    const events = listOf(saga.events());
    await rig.sandbox.whenStruck(gate);
    rig.sandbox.faults.lift(gate);
    const seen = await events;
    expect(seen.at(-1)).toMatchObject({ state: 'done' });
    expect(seen.at(-1)?.reached.map(({ milestone }) => milestone)).toEqual(['placed', 'servers', 'protected']);
    const texts = seen.map((one) => JSON.stringify(one));
    expect(texts.filter((text, index) => text === texts[index - 1])).toEqual([]);
    expect(seen.length).toBeGreaterThan(1);
  });

  it('go on in the run that a reset goes on with', async () => {
    const saga = await rig.sagas.start('switchPlan', switchRequest({ approval: 'always' }));
    const events = listOf(saga.events());
    await untilWaiting(saga, 'approval');
    await resetTo(rig.temporal, saga, await taskBefore(rig.temporal, saga, 'quotePlanSwitch'));
    await untilWaiting(saga, 'approval');
    await answer(saga, 'approve');
    expect((await events).at(-1)).toMatchObject({ state: 'done' });
  });

  it.each<[string, string, (saga: SagaHandle) => Promise<unknown>]>([
    [
      'ended',
      'reversed',
      async (saga) => {
        await answer(saga, 'reject', { reason: 'a test' });
        await untilState(saga, 'reversed');
      },
    ],
    ['was terminated', 'approval', ({ workflowId }) => rig.runOf({ workflowId }).terminate('a test')],
  ])('tell the end of a saga that %s while nobody answered', async (_, last, end) => {
    const saga = await startWaiting();
    let looks = 0;
    const look = async () => {
      looks += 1;
      if (looks > 1) return saga.progress();
      await end(saga);
      throw new NoWorkerError(saga.workflowId);
    };
    const seen = await listOf(changesOf(rig.temporal, saga.workflowId, look));
    expect(seen.map(({ state }) => state)).toEqual([last]);
    expect(seen[0]?.waiting).toBeUndefined();
  });

  it('whoever reads no more leaves no call behind, also while one waits', async () => {
    const saga = await startWaiting();
    const polls = jest.spyOn(rig.temporal.connection.workflowService, 'getWorkflowExecutionHistory');
    const events = saga.events();
    expect((await events.next()).value).toMatchObject({ state: 'approval' });
    const waiting = events.next();
    await until(() => polls.mock.calls.length >= 2);
    await events.return?.();
    expect(await waiting).toEqual({ done: true, value: undefined });
    const asked = polls.mock.calls.length;
    await answer(saga, 'reject', { reason: 'a test' });
    await untilState(saga, 'reversed');
    expect(polls.mock.calls).toHaveLength(asked);
    polls.mockRestore();
  });

  it('wait while no worker answers, and say so once', async () => {
    const saga = await startWaiting();
    const silences: string[] = [];
    const events = saga.events({ onSilence: (why) => silences.push(why) });
    let first: ReturnType<typeof events.next> | undefined;
    await rig.withoutWorkers(async () => {
      first = events.next();
      await until(() => silences.length > 0);
    });
    expect((await first)?.value).toMatchObject({ state: 'approval' });
    expect(silences).toHaveLength(1);
    await events.return?.();
    await saga.cancel();
  });
});

describe('while the line to Temporal is cut', () => {
  async function overLine(act: (sagas: OrderSagaClient, line: Link, temporal: Client) => Promise<void>) {
    const line = await startLink(rig.address);
    // Without the interceptor that makes each call again for twenty seconds.
    const connection = await Connection.connect({ address: `127.0.0.1:${line.port}`, interceptors: [] });
    try {
      const temporal = new Client({ connection, namespace: rig.namespace });
      await act(new OrderSagaClient(temporal), line, temporal);
    } finally {
      await connection.close();
      await line.close();
    }
  }

  it('result, events and reached go on, and tell the end when it is back', async () => {
    const { workflowId, reference } = await startWaiting();
    await overLine(async (sagas, line) => {
      const saga = await sagas.get(reference, 'switchPlan');
      const silences: string[] = [];
      const events = saga.events({ onSilence: (why) => silences.push(why) });
      expect((await events.next()).value).toMatchObject({ state: 'approval' });
      const ends = Promise.all([saga.result(), listOf(events), saga.reached('placed', { throughWaits: true })]);
      // A rejection before it is awaited.
      ends.catch(() => undefined);
      line.cut();
      await until(() => silences.length > 0);
      await pause(2_500);
      await answer(await rig.sagas.get(reference, 'switchPlan'), 'approve');
      line.repair();
      const [result, seen, reached] = await ends;
      expect(result).toMatchObject({ outcome: 'done' });
      expect(seen.at(-1)).toMatchObject({ state: 'done' });
      expect(reached).toMatchObject({ milestone: 'placed' });
      expect(silences).toEqual([expect.stringContaining('no connection to Temporal')]);
      expect(workflowId).toBe(saga.workflowId);
    });
  });

  it('they end at the time or the signal that the caller has set', async () => {
    const { reference } = await startWaiting();
    await overLine(async (sagas, line, temporal) => {
      const saga = await sagas.get(reference, 'switchPlan');
      line.cut();
      const timely = errorOf(temporal.withDeadline(Date.now() + 1_500, () => saga.result()));
      const stopped = errorOf(temporal.withAbortSignal(AbortSignal.timeout(1_500), () => saga.result()));
      for (const error of await Promise.all([timely, stopped])) expect(error).toBeInstanceOf(NoConnectionError);
    });
    await (await rig.sagas.get(reference, 'switchPlan')).cancel();
  });
});

it('a milestone is told when it is reached, while the saga goes on', async () => {
  rig.sandbox.faults.add({ endpoint: 'assign-firewalls', kind: 'unauthorized', times: 'all' });
  const saga = await rig.sagas.provision(provisionRequest({ firewalls: [143] }));
  expect(await saga.reached('placed')).toMatchObject({ milestone: 'placed' });
  const { vmObjectIds } = await saga.reached('servers');
  expect(vmObjectIds).toHaveLength(1);
  const error = await errorOf(saga.reached('protected'));
  expect(error).toBeInstanceOf(SagaWaitsError);
  expect(error).toMatchObject({ waiting: { kind: 'stuck' } });
  rig.sandbox.faults.clear();
  const later = saga.reached('protected', { throughWaits: true });
  await answer(saga, 'retry');
  expect(await later).toMatchObject({ milestone: 'protected', vmObjectIds });
});

it('a milestone is not missed where no worker told its end, and the last that was told is older', async () => {
  const saga = await startWaiting();
  const older = await saga.progress();
  await answer(saga, 'approve');
  await saga.result();
  jest.spyOn(saga, 'events').mockImplementation(async function* () {
    yield await Promise.resolve(older);
  });
  const reached = () => saga.reached('placed', { throughWaits: true });
  const asked = saga.progress.bind(saga);
  const asking = jest.spyOn(saga, 'progress').mockImplementation(() => asked({ withinMs: 500 }));
  await rig.withoutWorkers(async () => {
    expect(await errorOf(reached())).toBeInstanceOf(NoWorkerError);
  });
  asking.mockRestore();
  expect(await reached()).toMatchObject({ milestone: 'placed' });
});

it('a decision that does not fit is refused with the ones that do, whichever it is, and changes nothing', async () => {
  const saga = await startWaiting();
  const { id } = await untilWaiting(saga);
  const others = decisionNames.filter((name) => name !== 'approve' && name !== 'reject');
  for (const name of others) {
    const example = JSON.parse(exampleFor(name, { id })) as object;
    const body = name === 'provideServers' ? { ...example, vmObjectIds: [9001] } : example;
    const error = await errorOf(saga.decide(name, body));
    expect(error).toBeInstanceOf(DecisionRefusedError);
    expect((error as Error).message).toMatch(/approve, reject/);
  }
  expect((await saga.progress()).waiting).toMatchObject({ id });
  await answer(saga, 'reject');
  expect(await errorOf(saga.result())).toMatchObject({ type: 'NotApproved' });
});
