/**
 * Whoever reaches Temporal's API, without a key, answers for the provider, signals runs and starts them. Where there are
 * keys, nothing of that is believed but what people may send so.
 */
import { Client } from '@temporalio/client';
import type { Payload } from '@temporalio/common';
import type { History } from '@temporalio/common/lib/proto-utils';
import { msToTs } from '@temporalio/common/lib/time';
import { temporal } from '@temporalio/proto';
import { createDataConverter } from '../../../src/security/data-converter';
import { parsePayloadKeys } from '../../../src/security/keys';
import { EncryptionCodec } from '../../../src/security/payload-codec';
import { newKey } from '../../support/keys';
import { stuckOrder } from '../../support/orders';
import { payloadOf as clear } from '../../support/payloads';
import { bundleOf } from '../../support/programs';
import { WebhookReceiver } from '../../support/receiver';
import { replayAll } from '../../support/replay';
import { changeRequest, provisionRequest } from '../../support/requests';
import { Rig, until } from '../../support/rig';
import { answer, outcomeOf } from '../../support/sagas';

const payloadKeys = parsePayloadKeys(`k1:${newKey()}`);
const ofAnotherKey = (id: string) => new EncryptionCodec(parsePayloadKeys(`${id}:${newKey()}`));

let receiver: WebhookReceiver;
let rig: Rig;
let stranger: Client;
beforeAll(async () => {
  receiver = await WebhookReceiver.start();
  const routes = [{ name: 'shop', url: receiver.url, secret: 'webhook-shop', events: ['ended' as const] }];
  rig = await Rig.start({
    payloadKeys,
    replays: ({ workflowId }) => workflowId !== 'notify/shop/stranger',
    secrets: { variable: () => receiver.secret },
    activities: { notifications: { routes, allowed: ['127.0.0.1'], timeoutMs: 5_000 } },
  });
  stranger = new Client({ connection: rig.temporal.connection, namespace: rig.namespace });
});
afterAll(async () => {
  await rig.close();
  await receiver.close();
});

/** The call of this activity that is under way ends with this, whatever its worker answers later. */
async function forge(workflowId: string, type: string, said: { result?: Payload } | { failure: object }) {
  const { namespace } = rig;
  const service = rig.temporal.workflowService;
  const describe = () => service.describeWorkflowExecution({ namespace, execution: { workflowId } });
  const activityId = await until(
    async () =>
      (await describe()).pendingActivities.find(({ activityType }) => activityType?.name === type)?.activityId,
  );
  const of = { namespace, workflowId, activityId, identity: 'stranger' };
  if ('failure' in said) await service.respondActivityTaskFailedById({ ...of, failure: said.failure });
  else
    await service.respondActivityTaskCompletedById({ ...of, result: said.result ? { payloads: [said.result] } : null });
}

/** What is sealed in a history, where everybody can copy it. */
async function sealedIn(workflowId: string, type: string): Promise<{ input?: Payload; answer?: Payload }> {
  const { events } = await rig.runOf({ workflowId }).fetchHistory();
  const asked = events?.find((one) => one.activityTaskScheduledEventAttributes?.activityType?.name === type);
  const answers = (events ?? []).flatMap(({ activityTaskCompletedEventAttributes: one }) =>
    one?.scheduledEventId && asked?.eventId?.eq(one.scheduledEventId) ? (one.result?.payloads ?? []) : [],
  );
  const [input] = asked?.activityTaskScheduledEventAttributes?.input?.payloads ?? [];
  return { input, answer: answers[0] };
}

/** Of another saga, with what it bought for 1. */
async function sealedElsewhere(type: string) {
  rig.sandbox.configure({ resourcePrices: { vm_backup: 1 } });
  const cheap = await rig.sagas.change(changeRequest());
  await cheap.result();
  rig.sandbox.configure({ resourcePrices: { vm_backup: 5_000 } });
  return sealedIn(cheap.workflowId, type);
}

const quote = {
  quote: { available: true, total: 1, currency: 'usd', date_from: '2026-01-01', date_to: '2026-02-01' },
  ...{ id: 'x'.repeat(36), quotedMs: Date.now(), approvalMaxAgeMs: 1e9, quoteMaxAgeMs: 1e9 },
};
const refused = { failure: 'Rejected', message: 'no' };

it.each<[string, () => Promise<{ result?: Payload } | { failure: object }>]>([
  ['in the clear', async () => ({ result: clear(quote) })],
  ['of a bare word', async () => ({ result: clear('yes') })],
  ['of nothing', async () => ({})],
  ['by another key of the same id', async () => ({ result: (await ofAnotherKey('k1').encode([clear(quote)]))[0]! })],
  ['of another saga', async () => ({ result: (await sealedElsewhere('quoteChangeOrder')).answer! })],
  [
    'that is a failure in the clear',
    async () => ({
      failure: { message: 'no', applicationFailureInfo: { type: 'Rejected', details: { payloads: [clear(refused)] } } },
    }),
  ],
])('an answer %s is no quote: the provider is asked again, and its own one counts', async (_, said) => {
  rig.sandbox.configure({ resourcePrices: { vm_backup: 5_000 } });
  const gate = rig.sandbox.faults.add({ endpoint: 'quote-change-order', kind: 'gate', hold: 'before', nth: 1 });
  const saga = await rig.sagas.change(changeRequest({ guard: { maxTotal: 10 } }));
  await rig.sandbox.whenStruck(gate);
  await forge(saga.workflowId, 'quoteChangeOrder', await said());
  rig.sandbox.faults.release(gate);
  expect(await outcomeOf(saga)).toMatchObject({ failure: { type: 'GuardViolated' } });
});

it('an order that is said to be placed, in the clear, is placed once, and its servers are the provider’s', async () => {
  const request = provisionRequest({ firewalls: [143] });
  const gate = rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'gate', hold: 'before', nth: 1 });
  const saga = await rig.sagas.provision(request);
  await rig.sandbox.whenStruck(gate);
  const value = { how: 'answered', value: { order: {}, vmObjectIds: [4242] } };
  await forge(saga.workflowId, 'placeOrder', { result: clear({ value, cursor: {} }) });
  rig.sandbox.faults.release(gate);
  const { servers } = await saga.result();
  expect(servers).not.toContainEqual(expect.objectContaining({ vmObjectId: 4242 }));
  expect(rig.ordersOf(request)).toHaveLength(1);
});

it.each<[string, (workflowId: string) => Promise<Payload>]>([
  ['another saga’s answer', async () => (await sealedElsewhere('placeChangeOrder')).answer!],
  ['the call’s own arguments', async (workflowId) => (await sealedIn(workflowId, 'placeChangeOrder')).input!],
])('a change that is said to be placed, by %s, is not: its call is made again', async (_, said) => {
  const gate = rig.sandbox.faults.add({ endpoint: 'place-change-order', kind: 'gate', hold: 'before', nth: 1 });
  const saga = await rig.sagas.change(changeRequest());
  await rig.sandbox.whenStruck(gate);
  await forge(saga.workflowId, 'placeChangeOrder', { result: await said(saga.workflowId) });
  rig.sandbox.faults.release(gate);
  expect(await outcomeOf(saga)).toMatchObject({ result: { outcome: 'done', order: { status: 'accepted' } } });
  const { events } = await rig.runOf(saga).fetchHistory();
  const calls = (events ?? []).filter(
    ({ activityTaskScheduledEventAttributes: one }) => one?.activityType?.name === 'placeChangeOrder',
  );
  expect(calls.length).toBeGreaterThan(1);
});

const about = { reference: 'forged', workflow: 'provisionServers', workflowId: 'provision/forged', runId: 'x' };
const data = { ...about, namespace: 'x', state: 'done', outcome: 'done' };
const notice = { id: 'forged', message: { type: 'saga.ended', timestamp: new Date().toISOString(), data } };

it('a notice in the clear is delivered to nobody, and those of workers are', async () => {
  const request = provisionRequest();
  const workflowId = `notify/shop/provision/${request.reference}`;
  await stranger.workflow.signalWithStart('notify', {
    ...{ workflowId, taskQueue: 'order-saga', signal: 'deliver', signalArgs: [[notice]] },
  });
  await (await rig.sagas.provision(request)).result();
  await until(() => receiver.typesOf(request.reference).at(-1) === 'saga.ended');
  expect(receiver.typesOf('forged')).toEqual([]);
});

it('a check in the clear is refused as its saga would be', async () => {
  const args = [{ workflow: 'provisionServers', request: provisionRequest() }];
  const started = stranger.workflow.start('check', { workflowId: 'check/stranger', taskQueue: 'order-saga', args });
  expect(await rig.runOf(await started).result()).toMatchObject({
    problems: [{ message: expect.stringContaining('came unencrypted') as string }],
  });
});

it('a sweep goes on with what a sweep has handed over, and with nothing that came in the clear', async () => {
  const args = [{}, { at: { phase: 'servers' }, servers: [{ vmObjectId: 1 }] }];
  const started = stranger.workflow.start('reconcile', { workflowId: 'reconcile', taskQueue: 'order-saga', args });
  await expect(rig.runOf(await started).result()).rejects.toMatchObject({
    cause: { type: 'InvalidRequest', message: expect.stringContaining('not believed') as string },
  });
});

it.each<[string, string, () => Promise<Payload>]>([
  ['in the clear', 'deliver', () => Promise.resolve(clear({ route: 'shop', notice }))],
  ['of another run', 'placeChangeOrder', async () => (await sealedElsewhere('placeChangeOrder')).input!],
])('an activity that a stranger schedules, with what it is to do %s, does nothing', async (_, name, input) => {
  const { namespace } = rig;
  const service = rig.temporal.workflowService;
  const taskQueue = { name: 'of-a-stranger' };
  const { workflowId } = await stranger.workflow.start('notify', {
    ...{ workflowId: 'notify/shop/stranger', taskQueue: taskQueue.name },
  });
  const { taskToken } = await rig.temporal.withDeadline(Date.now() + 60_000, () =>
    service.pollWorkflowTaskQueue({ namespace, taskQueue, identity: 'stranger' }),
  );
  const scheduleActivityTaskCommandAttributes = {
    ...{ activityId: '1', activityType: { name }, taskQueue: { name: 'order-saga' } },
    input: { payloads: [await input()] },
    ...{ startToCloseTimeout: msToTs('30 seconds'), retryPolicy: { maximumAttempts: 1 } },
  };
  const commandType = temporal.api.enums.v1.CommandType.COMMAND_TYPE_SCHEDULE_ACTIVITY_TASK;
  const commands = [{ commandType, scheduleActivityTaskCommandAttributes }];
  await service.respondWorkflowTaskCompleted({ namespace, taskToken, commands, identity: 'stranger' });
  const failed = await until(async () => {
    const { events } = await rig.runOf({ workflowId }).fetchHistory();
    return events?.find(({ activityTaskFailedEventAttributes: one }) => one)?.activityTaskFailedEventAttributes;
  });
  expect(failed?.failure?.applicationFailureInfo?.type).toBe('NotBelieved');
  expect(receiver.typesOf('forged')).toEqual([]);
  await rig.runOf({ workflowId }).terminate();
});

describe('every payload of an order, and of a run that tells a receiver of it', () => {
  const codec = createDataConverter(payloadKeys).payloadCodecs!.at(-1)!;
  interface Place {
    history: History;
    workflowId: string;
    path: string[];
    payload: Payload;
  }
  const copyOf = (history: History) =>
    temporal.api.history.v1.History.decode(temporal.api.history.v1.History.encode(history).finish());

  function* payloadsIn(value: unknown, path: string[] = []): Generator<{ path: string[]; payload: Payload }> {
    if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return;
    const { metadata } = value as Payload;
    if (metadata?.['encryption-key-id']) yield { path, payload: value };
    else for (const [name, inner] of Object.entries(value)) yield* payloadsIn(inner, [...path, name]);
  }

  const nameOf = ({ path }: Place) =>
    path.filter((part) => !/^\d+$|^(events|payloads|fields|applicationFailureInfo)$/.test(part)).join('.');
  /** No run reads these at a replay; an activity reads its input. */
  const isRead = (place: Place) =>
    !/^activityTaskScheduled|^userMetadata|^workflowExecution(Update)?Completed/.test(nameOf(place));

  let places: Place[];
  beforeAll(async () => {
    const { saga } = await stuckOrder(rig, { firewalls: [7] });
    await rig.runOf(saga).signal('cancelledBy', { by: 'ann', note: 'lost', token: 'none' });
    await answer(saga, 'retry', { note: 'again' });
    await saga.result();
    const told = { workflowId: `notify/shop/${saga.workflowId}` };
    await rig.runOf(told).result();
    places = [];
    for (const { workflowId } of [saga, told]) {
      const history = copyOf(await rig.runOf({ workflowId }).fetchHistory());
      for (const found of payloadsIn(history)) places.push({ workflowId, history, ...found });
    }
    places = places.filter(isRead);
  });

  /** @returns the kinds of places where a payload can be exchanged, and the run replays all the same */
  async function takes(change: (payload: Payload) => Promise<Payload[]>): Promise<string[]> {
    const histories = await Promise.all(
      places.map(async ({ workflowId, history: whole, path, payload }) => {
        const history = copyOf(whole);
        const parent = path.slice(0, -1).reduce((at: object, name) => Reflect.get(at, name) as object, history);
        Reflect.set(parent, path.at(-1)!, (await change(payload))[0]);
        return { workflowId, history };
      }),
    );
    const replayed = await replayAll({ bundle: bundleOf({ encrypted: true }), payloadKeys }, histories);
    const taken = places.filter((_, index) => replayed[index]?.error === undefined).map(nameOf);
    return [...new Set(taken)].sort();
  }

  const memo = 'workflowExecutionStartedEventAttributes.memo.searchAttributesGiven';
  const signal = 'workflowExecutionSignaledEventAttributes.input';
  const update = 'workflowExecutionUpdateAcceptedEventAttributes.acceptedRequest.input.args';

  it('is there', () => {
    expect(new Set(places.map(nameOf)).size).toBe(8);
  });

  it('is believed in the clear only where it is a decision; that a memo is there, whatever it says', async () => {
    expect(await takes((payload) => codec.decode([payload]))).toEqual([signal, memo, update]);
  });

  it('is believed by no other key of the same id: a signal is passed over', async () => {
    const other = ofAnotherKey('k1');
    expect(await takes(async (payload) => other.encode(await codec.decode([payload])))).toEqual([signal, memo]);
  });

  it('is waited for by a worker that lacks its key', async () => {
    const other = ofAnotherKey('k9');
    expect(await takes(async (payload) => other.encode(await codec.decode([payload])))).toEqual([]);
  });
});
