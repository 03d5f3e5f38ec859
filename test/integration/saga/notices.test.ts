/** Real sagas notify receivers: in order, whatever becomes of the saga, and without its waiting for it. */
import { WorkflowClient } from '@temporalio/client';
import type { ApplicationFailure } from '@temporalio/common';
import { messageSchema, type Notice, type Route } from '../../../src/domain/notifications';
import { check } from '../../../src/domain/validation';
import { parsePayloadKeys } from '../../../src/security/keys';
import { activitiesOf, inputsOf } from '../../support/events';
import { newKey } from '../../support/keys';
import { orderThat, stuckOrder } from '../../support/orders';
import { WebhookReceiver, type Told } from '../../support/receiver';
import { runHere } from '../../support/command-line';
import { provisionRequest } from '../../support/requests';
import { Rig, until } from '../../support/rig';
import { closeAll, serve } from '../../support/stand-in';
import { answer, outcomeOf, untilWaiting } from '../../support/sagas';

const webUiUrl = 'https://temporal.example/ui/';

let ops: WebhookReceiver;
let boss: WebhookReceiver;
let gone: WebhookReceiver;
let pager: Awaited<ReturnType<typeof serve>>;
let chat: typeof pager;
const routingKey = 'R0'.padEnd(32, 'A1B2');
let rig: Rig;
beforeAll(async () => {
  // Down at first.
  pager = await serve({ status: 503 }, { status: 500 }, { status: 202 });
  chat = await serve({ body: 'ok' });
  [ops, boss] = [await WebhookReceiver.start(), await WebhookReceiver.start()];
  gone = await WebhookReceiver.start(() => 410);
  const toOps: Route = {
    ...{ name: 'ops', url: ops.url, secret: 'ours' },
    events: ['waiting', 'reminder', 'settled', 'ended'],
  };
  const toBoss = { ...toOps, url: boss.url };
  const routes: Route[] = [
    toOps,
    { ...toBoss, name: 'boss', events: ['waiting', 'ended'], kinds: ['outcome-unknown'], outcomes: ['partly'] },
    { ...toBoss, name: 'all', accounts: ['AB-8'] },
    { ...toOps, name: 'gone', url: gone.url, accounts: ['AB-9'], events: ['waiting', 'ended'] },
    { name: 'pager', format: 'pagerduty', url: pager.url, secret: 'webhook-pagerduty', accounts: ['AB-11'] },
    { name: 'chat', format: 'slack', secret: 'webhook-slack', accounts: ['AB-11'] },
    { ...toBoss, name: 'shop', accounts: ['AB-7'], events: ['placed', 'servers', 'protected', 'ended'] },
  ];
  const notifications = { routes, webUiUrl, allowed: ['127.0.0.1'], timeoutMs: 2_000 };
  const others: Record<string, string> = {
    SECRET_WEBHOOK_PAGERDUTY: routingKey,
    SECRET_WEBHOOK_SLACK: `${chat.url}/services/T0KEN`,
  };
  const variable = (name: string) => others[name] ?? ops.secret;
  rig = await Rig.start({ secrets: { variable }, activities: { notifications } });
});
afterAll(async () => {
  await rig.close();
  await closeAll();
  for (const receiver of [ops, boss, gone]) {
    expect(receiver.faults).toEqual([]);
    await receiver.close();
  }
});

const untilEnded = (receiver: WebhookReceiver, reference: string) =>
  until(async () => {
    const messages = receiver.messagesOf(reference);
    return messages.at(-1)?.type === 'saga.ended' && messages;
  });
describe('a saga', () => {
  it('that asks, is answered and is done tells each of it, once and in order', async () => {
    const { saga, request, waiting: asked } = await stuckOrder(rig);
    const { id, since } = asked;
    await until(async () => ops.typesOf(saga.reference).length === 1);
    await answer(saga, 'retry', { by: 'ann', note: 'a confidence' });
    await saga.result();
    const [waiting, settled, ended] = await untilEnded(ops, saga.reference);
    expect(ops.typesOf(saga.reference)).toEqual(['saga.waiting', 'saga.settled', 'saga.ended']);
    const { runId } = await rig.runOf(saga).describe();
    const { reference, workflowId } = saga;
    const of = { reference, workflowId, runId, workflow: 'provisionServers', namespace: rig.namespace };
    const link = `https://temporal.example/ui/namespaces/${rig.namespace}/workflows/provision%2F${reference}/${runId}`;
    const question = { kind: 'stuck', step: 'place-order', question: id, since, failure: 'Unauthorized' };
    const always = { ...of, link, account: request.account };
    expect(waiting?.data).toEqual({ ...always, ...question, state: 'stuck', reminders: 0, choices: ['retry'] });
    expect(settled?.data).toEqual({ ...always, ...question, state: 'running', reminders: 0, decision: 'retry' });
    expect(ended?.data).toEqual({ ...always, state: 'done', outcome: 'done', ended: 'done', leftovers: [] });
    for (const message of [waiting, settled, ended])
      expect(check(messageSchema(), message)).toMatchObject({ ok: true });
    const bodies = ops.taken.map(({ body }) => body).join();
    const { password } = request.items[0]!;
    for (const secret of ['a confidence', 'ann', password as string]) expect(bodies).not.toContain(secret);
    expect(boss.typesOf(reference)).toEqual([]);
    // No other event has its id, also where a restored Temporal gives random numbers again. The end's is always the same.
    const told = ops.taken.filter(({ message }) => message.data.reference === reference);
    const ids = told.map(({ id }) => id);
    expect(ids.pop()).toBe(`${runId}/ended`);
    const times = told.slice(0, -1).map(({ message }) => Date.parse(message.timestamp));
    expect(ids.map((one) => parseInt(one.slice(-12), 16))).toEqual(times);
  });

  it('that is cancelled while it waits says that the wait is over, and how it ended', async () => {
    const { saga } = await orderThat(rig, { endpoint: 'place-order', kind: 'error-before' });
    await untilWaiting(saga, 'outcome-unknown');
    await saga.cancel();
    await outcomeOf(saga);
    const messages = await untilEnded(ops, saga.reference);
    const settled = messages.find(({ type }) => type === 'saga.settled');
    expect(settled?.data).not.toHaveProperty('decision');
    expect(settled?.data.state).toBe('undoing');
    expect(messages.at(-1)?.data).toMatchObject({ ended: 'cancelled', leftovers: ['placement-unknown', 'cart-item'] });
    // Its route takes that kind, and that outcome.
    await until(async () => boss.typesOf(saga.reference).length >= 1);
    expect(boss.typesOf(saga.reference)[0]).toBe('saga.waiting');
  });

  it('reads the journal by an ordinary activity while receivers are notified, so that it replays', async () => {
    let goOn: () => void = () => undefined;
    const held = new Promise<never>((resolve) => (goOn = resolve as () => void));
    const telling = jest.spyOn(WorkflowClient.prototype, 'signalWithStart').mockReturnValueOnce(held);
    const { saga } = await stuckOrder(rig);
    await saga.cancel();
    const run = rig.runOf(saga);
    await until(async () => (await activitiesOf(run)).includes('readState: read what was placed'));
    goOn();
    await outcomeOf(saga);
    telling.mockRestore();
    expect(await inputsOf(run, 'readState')).toHaveLength(1);
  });

  it('tells of its progress whom it may concern: placed, the servers, and that they are protected', async () => {
    const metadata = { ticket: 'OPS-7' };
    const saga = await rig.sagas.provision(provisionRequest({ account: 'AB-7', firewalls: [143], metadata }));
    const { servers } = await saga.result();
    await untilEnded(boss, saga.reference);
    const messages = boss.messagesOf(saga.reference);
    const ids = servers.map(({ vmObjectId }) => vmObjectId);
    expect(messages.map(({ type, data }) => [type, data.vmObjectIds, data.step])).toEqual([
      ['saga.placed', undefined, 'place-order'],
      ['saga.servers', ids, undefined],
      ['saga.protected', ids, undefined],
      ['saga.ended', undefined, undefined],
    ]);
    for (const { data } of messages) expect(data.metadata).toEqual(metadata);
  });

  it.each<[string, Told]>([
    ['is down', 503],
    ['redirects', { redirectTo: 'http://127.0.0.1:1/' }],
    ['hangs', 'hang'],
  ])('whose receiver %s notifies the others, and this one later with the same id', async (_how, told) => {
    const isFirst = new Set<string>();
    ops.answers = ({ data }) => {
      if (isFirst.has(data.reference)) return 200;
      isFirst.add(data.reference);
      return told;
    };
    const saga = await rig.sagas.provision(provisionRequest({ account: 'AB-8' }));
    await saga.result();
    await untilEnded(boss, saga.reference);
    await untilEnded(ops, saga.reference);
    const tries = ops.deliveries.filter(({ message }) => message.data.reference === saga.reference);
    expect(tries.length).toBeGreaterThanOrEqual(2);
    expect(new Set(tries.map(({ id }) => id)).size).toBe(1);
    ops.answers = () => 200;
  });

  it('pages by one incident, which ends with the wait, and writes into a chat; no secret of a route is in a history', async () => {
    const { saga, waiting } = await stuckOrder(rig, { account: 'AB-11' });
    await until(async () => pager.seen.length >= 3);
    await answer(saga, 'retry', { by: 'ann', note: 'a confidence' });
    await saga.result();
    const said = ({ seen }: typeof pager, text: string) => seen.at(-1)?.body.includes(text) === true;
    await until(async () => said(pager, '"resolve"') && said(chat, 'has ended'));
    const events = pager.seen.map(({ body }) => JSON.parse(body) as Record<string, string>);
    // One whose answer was late is sent again.
    expect(events.map(({ event_action }) => event_action).join(' ')).toMatch(/^(trigger ){3,}(resolve ?)+$/);
    for (const { routing_key, dedup_key } of events)
      expect([routing_key, dedup_key]).toEqual([routingKey, `${saga.workflowId}/${waiting.id}`]);
    const texts = chat.seen.map(({ body }) => (JSON.parse(body) as { text: string }).text);
    expect(texts.map((text) => text.replace(/ <.*/, ''))).toEqual(
      expect.arrayContaining([
        `${saga.workflowId} waits for a person: stuck at place-order (Unauthorized). Decisions that fit: retry.`,
        `${saga.workflowId} has ended: done, done.`,
      ]),
    );
    for (const route of ['pager', 'chat']) {
      const run = rig.temporal.workflow.getHandle(`notify/${route}/${saga.workflowId}`);
      const events = (await run.fetchHistory()).events ?? [];
      const history = JSON.stringify(events, (_, value: unknown) =>
        value instanceof Uint8Array ? Buffer.from(value).toString() : value,
      );
      for (const secret of [routingKey, 'T0KEN', chat.url]) expect(history).not.toContain(secret);
      const [{ activityTaskScheduledEventAttributes: asked } = {}] = events.filter(
        (one) => one.activityTaskScheduledEventAttributes,
      );
      // A receiver that was down for a week is told within the hour in which it is back.
      expect([
        Number(asked?.scheduleToCloseTimeout?.seconds),
        Number(asked?.retryPolicy?.maximumInterval?.seconds),
      ]).toEqual([30 * 86_400, 3_600]);
      expect(asked?.retryPolicy?.maximumAttempts).toBe(0);
    }
  });

  it('whose receiver is gone (410) ends there: it is called once, for no other saga either; and a person sends it again', async () => {
    const { saga: waits, waiting } = await stuckOrder(rig, { account: 'AB-9' });
    const { saga: answered } = await stuckOrder(rig, { account: 'AB-9' });
    const untilGivenUp = ({ workflowId }: { workflowId: string }, type: string) =>
      until(async () => {
        const run = rig.temporal.workflow.getHandle(`notify/gone/${workflowId}`);
        const error: unknown = await run.result().catch((reason: unknown) => reason);
        const { cause } = error as { cause?: ApplicationFailure };
        const [notices] = (cause?.details ?? []) as [Notice[]?];
        return notices?.some(({ message }) => message.type === type) && cause;
      });
    const message = expect.stringContaining('gone (410)') as string;
    for (const saga of [waits, answered])
      expect(await untilGivenUp(saga, 'saga.waiting')).toMatchObject({ type: 'GivenUp', message });
    await answer(answered, 'retry');
    await answered.result();
    await untilGivenUp(answered, 'saga.ended');
    expect(gone.deliveries).toHaveLength(1);
    gone.answers = () => 200;
    await rig.restartWith({});
    const again = (...only: string[]) => runHere(['notify-again', ...only], '', rig.environment);
    const none = 'nothing was given up that is not sent again already\n';
    expect((await again('--route', 'none')).out).toBe(none);
    const toldOf = `gone is told of ${answered.workflowId}: saga.ended\n`;
    await until(async () => (await again(answered.reference)).out === toldOf);
    await until(async () => (await again()).out.includes(`gone is told of ${waits.workflowId}: saga.waiting\n`));
    await until(async () => gone.deliveries.length === 3 && (await again()).out === none);
    expect(gone.messagesOf(waits.reference)[0]?.data.question).toBe(waiting.id);
    // What is answered by now is not asked again; and nothing is sent twice.
    expect(gone.typesOf(answered.reference)).toEqual(['saga.ended']);
    expect(gone.deliveries).toHaveLength(3);
    await answer(waits, 'retry');
    await waits.result();
  });

  it('whose receiver asks for time gets it, by the clock of its own answer', async () => {
    const times: number[] = [];
    const dateIn = (seconds: number) => new Date(Date.now() - 600_000 + seconds * 1_000).toUTCString();
    const busy = () => ({ status: 503, headers: { date: dateIn(0), 'retry-after': dateIn(5) } });
    const saga = await rig.sagas.provision(provisionRequest({ account: 'AB-10' }));
    ops.answers = ({ data }) => {
      if (data.reference !== saga.reference) return 200;
      return times.push(Date.now()) === 1 ? busy() : 200;
    };
    await untilEnded(ops, saga.reference);
    expect(times[1]! - times[0]!).toBeGreaterThan(3_500);
    ops.answers = () => 200;
  });
});

describe('what was given up, sent again', () => {
  const [older, newer, other] = ['older', 'newer', 'other'].map((id) => `${id}:${newKey()}`) as [
    string,
    string,
    string,
  ];
  const bothKeys = `${older},${newer}`;
  const none = 'nothing was given up that is not sent again already\n';
  let shop: WebhookReceiver;
  let rig: Rig;
  beforeAll(async () => {
    shop = await WebhookReceiver.start();
    const routes: Route[] = [
      { name: 'shop', url: shop.url, secret: 'ours', events: ['waiting', 'reminder', 'settled'] },
    ];
    rig = await Rig.start({
      payloadKeys: parsePayloadKeys(bothKeys),
      secrets: { variable: () => shop.secret },
      activities: { notifications: { routes, allowed: ['127.0.0.1'], timeoutMs: 2_000 } },
    });
  });
  afterAll(async () => {
    await rig.close();
    expect(shop.faults).toEqual([]);
    await shop.close();
  });
  const again = (keys = bothKeys) => runHere(['notify-again'], '', { ...rig.environment, PAYLOAD_KEYS: keys });
  const isNow = ({ workflowId }: { workflowId: string }, status: string) =>
    until(async () => {
      const run = rig.temporal.workflow.getHandle(`notify/shop/${workflowId}`);
      return (await run.describe().catch(() => undefined))?.status.name === status;
    });
  const givenUp = async (keys = bothKeys) => {
    shop.answers = () => 410;
    const { saga } = await stuckOrder(rig);
    await isNow(saga, 'FAILED');
    shop.answers = () => 200;
    await rig.replaceWorkers({ payloadKeys: parsePayloadKeys(keys) });
    return saga;
  };
  const told = ({ reference }: { reference: string }) =>
    shop.deliveries
      .filter(({ message }) => message.data.reference === reference)
      .map(({ status, message }) => `${message.type.replace('saga.', '')} ${status}`);

  it('is never behind what comes later, and is said to be sent once', async () => {
    const saga = await givenUp();
    shop.answers = () => ({ status: 503, headers: { 'retry-after': '3' } });
    await until(async () => (await again()).out === `shop is told of ${saga.workflowId}: saga.waiting\n`);
    await until(() => Promise.resolve(told(saga).length === 2));
    expect((await again()).out).toBe(none);
    shop.answers = () => 200;
    await answer(saga, 'retry');
    await saga.result();
    await isNow(saga, 'COMPLETED');
    const open = "WorkflowType = 'notify' AND ExecutionStatus = 'Running'";
    await until(async () => (await rig.temporal.workflow.count(open)).count === 0);
    // Not even asked any more: it was answered while it waited for its next attempt.
    expect(told(saga)).toEqual(['waiting 410', 'waiting 503', 'settled 200']);
    expect((await again()).out).toBe(none);
  });

  it('does not ask what was answered between the look and the sending', async () => {
    const saga = await givenUp();
    const signal = jest.spyOn(WorkflowClient.prototype, 'signalWithStart');
    signal.mockImplementationOnce(async function (this: WorkflowClient, ...args: unknown[]) {
      await answer(saga, 'retry');
      await saga.result();
      await until(() => Promise.resolve(told(saga).at(-1) === 'settled 200'));
      return (this.signalWithStart as (...args: unknown[]) => Promise<never>)(...args);
    });
    await until(async () => (await again()).out.includes(saga.workflowId));
    signal.mockRestore();
    await isNow(saga, 'COMPLETED');
    expect(told(saga)).toEqual(['waiting 410', 'settled 200']);
    expect((await again()).out).toBe(none);
  });

  it('is not sent with a key that no worker has; what cannot be read here is named, and stops nothing', async () => {
    const unread = await givenUp(`${newer},${older}`);
    const saga = await givenUp(`${newer},${older}`);
    const refused = await again(`${other},${bothKeys}`);
    expect([refused.status, refused.out]).toEqual([2, '']);
    expect(refused.err).toContain('other');
    const toldOf = `shop is told of ${saga.workflowId}: saga.waiting\n`;
    let sent: Awaited<ReturnType<typeof again>> | undefined;
    await until(async () => (sent = await again(newer)).out === toldOf);
    expect(sent).toMatchObject({
      status: 2,
      err: expect.stringContaining(`shop is not told of ${unread.workflowId}: `),
    });
    expect(sent?.err).toContain('older');
    await until(() => Promise.resolve(told(saga).at(-1) === 'waiting 200'));
    expect(told(unread)).toEqual(['waiting 410']);
    for (const one of [unread, saga]) await one.cancel();
    for (const one of [unread, saga]) await outcomeOf(one);
  });
});
