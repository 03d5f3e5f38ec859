/** Real sagas notify receivers: in order, whatever becomes of the saga, and without its waiting for it. */
import { WorkflowClient } from '@temporalio/client';
import { messageSchema, type Route } from '../../../src/domain/notifications';
import { check } from '../../../src/domain/validation';
import { activitiesOf, inputsOf } from '../../support/events';
import { orderThat, stuckOrder } from '../../support/orders';
import { WebhookReceiver, type Told } from '../../support/receiver';
import { provisionRequest } from '../../support/requests';
import { Rig, until } from '../../support/rig';
import { answer, outcomeOf, untilWaiting } from '../../support/sagas';

const webUiUrl = 'https://temporal.example/ui/';

let ops: WebhookReceiver;
let boss: WebhookReceiver;
let gone: WebhookReceiver;
let rig: Rig;
beforeAll(async () => {
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
    { ...toOps, name: 'gone', url: gone.url, accounts: ['AB-9'], events: ['ended'] },
    { ...toBoss, name: 'shop', accounts: ['AB-7'], events: ['placed', 'servers', 'protected', 'ended'] },
  ];
  const notifications = { routes, webUiUrl, allowed: ['127.0.0.1'], timeoutMs: 2_000 };
  rig = await Rig.start({ secrets: { variable: () => ops.secret }, activities: { notifications } });
});
afterAll(async () => {
  await rig.close();
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

  it('whose receiver is gone (410) ends there: it is called once, for no other saga either', async () => {
    for (const _ of [1, 2]) {
      const saga = await rig.sagas.provision(provisionRequest({ account: 'AB-9' }));
      await saga.result();
      const run = rig.temporal.workflow.getHandle(`notify/gone/${saga.workflowId}`);
      const error: unknown = await run.result().catch((reason: unknown) => reason);
      expect(error).toMatchObject({
        cause: { cause: { type: 'ReceiverGone', message: expect.stringContaining('gone (410)') as unknown } },
      });
    }
    expect(gone.deliveries).toHaveLength(1);
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
