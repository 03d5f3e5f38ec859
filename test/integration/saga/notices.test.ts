/** What receivers are told of real sagas: in order, whatever becomes of the saga, and without its waiting for it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { noopMetricMeter } from '@temporalio/common';
import { sql } from 'kysely';
import type { FaultSpec } from '../../../sandbox/faults';
import { bundleWorkflows } from '../../../scripts/workflow-bundle';
import { check } from '../../../src/domain/validation';
import { messageSchema, type Message, type Route } from '../../../src/domain/notifications';
import { Deliveries } from '../../../src/operations/deliveries';
import { quickRetries } from '../../support/activity-settings';
import { inputsOf, leftUnderWay } from '../../support/events';
import { describeInWays, itInWays } from '../../support/left-out';
import { WebhookReceiver } from '../../support/receiver';
import { firewallsRequest, planIdOf, provisionRequest } from '../../support/requests';
import { Rig, until, type RigOptions } from '../../support/rig';
import { answer, outcomeOf, untilWaiting } from '../../support/sagas';

const day = 24 * 60 * 60 * 1000;
const webUiUrl = 'https://temporal.example/ui/';

/** A rig whose events go to receivers on real sockets. */
async function tell(routes: (ops: WebhookReceiver, boss: WebhookReceiver) => Route[], options: RigOptions = {}) {
  const [ops, boss] = [await WebhookReceiver.start(), await WebhookReceiver.start()];
  const notifications = { routes: routes(ops, boss), webUiUrl };
  const rig = await Rig.start({ ...options, activities: { notifications } });
  let deliveries: Deliveries;
  // Opened beside the workers, as another process does.
  const sending = rig.withJournal(async (journal) => {
    const sent = { ...notifications, allowed: ['127.0.0.1'], timeoutMs: 5_000, retry: quickRetries };
    const log = { info: () => undefined, warn: () => undefined, error: () => undefined } as never;
    const secrets = { resolve: () => Promise.resolve(ops.secret) };
    const settings = { namespace: rig.namespace, notifications: sent, idleMs: 20 };
    deliveries = new Deliveries(settings, journal, secrets, noopMetricMeter, log);
    deliveries.start();
    await stopped;
    await deliveries.stop();
  });
  let stop: () => void = () => undefined;
  const stopped = new Promise<void>((resolve) => (stop = resolve));
  const close = async () => {
    stop();
    await sending;
    await rig.close();
    for (const receiver of [ops, boss]) {
      expect(receiver.faults).toEqual([]);
      await receiver.close();
    }
  };
  return { rig, ops, boss, close };
}

type World = Awaited<ReturnType<typeof tell>>;

const messagesOf = ({ taken }: WebhookReceiver, reference: string): Message[] =>
  taken.map(({ message }) => message).filter(({ data }) => data.reference === reference);
const untilEnded = (receiver: WebhookReceiver, reference: string) =>
  until(async () => {
    const messages = messagesOf(receiver, reference);
    return messages.at(-1)?.type === 'saga.ended' && messages;
  });
const toOps = (ops: WebhookReceiver): Route => ({ name: 'ops', url: ops.url, secret: 'ours' });

async function provision({ rig }: World, fault?: Omit<FaultSpec, 'match'>) {
  const request = provisionRequest();
  const match = { planId: planIdOf(request.reference) };
  if (fault) rig.sandbox.faults.add({ ...fault, match });
  return { saga: await rig.sagas.provision(request), request };
}

describe('a saga', () => {
  let world: World;
  beforeAll(async () => {
    world = await tell((ops, boss) => [
      toOps(ops),
      { ...toOps(boss), name: 'boss', events: ['waiting', 'ended'], kinds: ['outcome-unknown'], outcomes: ['partly'] },
    ]);
  });
  afterAll(() => world.close());

  it('that asks, is answered and is done tells each of it, once and in order', async () => {
    const { ops, boss, rig } = world;
    const { saga, request } = await provision(world, { endpoint: 'place-order', kind: 'unauthorized' });
    const { id, since } = await untilWaiting(saga, 'stuck');
    await until(async () => ops.typesOf(saga.reference).length === 1);
    await answer(saga, 'retry', { by: 'ann', note: 'a confidence' });
    await saga.result();
    const [waiting, settled, ended] = await untilEnded(ops, saga.reference);
    expect(ops.typesOf(saga.reference)).toEqual(['saga.waiting', 'saga.settled', 'saga.ended']);
    const { runId } = await rig.temporal.workflow.getHandle(saga.workflowId).describe();
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
  });

  itInWays('that meets no trouble costs no call for it', async () => {
    const { saga } = await provision(world);
    await saga.result();
    const [only, ...more] = await untilEnded(world.ops, saga.reference);
    expect([only?.data.outcome, more]).toEqual(['done', []]);
    expect(await inputsOf(world.rig.temporal.workflow.getHandle(saga.workflowId), 'writeNotifications')).toEqual([]);
  });

  it('that is cancelled while it waits says that the wait is over, and how it ended', async () => {
    const { saga } = await provision(world, { endpoint: 'place-order', kind: 'error-before' });
    await untilWaiting(saga, 'outcome-unknown');
    await saga.cancel();
    await outcomeOf(saga);
    const messages = await untilEnded(world.ops, saga.reference);
    const settled = messages.find(({ type }) => type === 'saga.settled');
    expect(settled?.data).not.toHaveProperty('decision');
    expect(settled?.data.state).toBe('undoing');
    expect(messages.at(-1)?.data).toMatchObject({ ended: 'cancelled', leftovers: ['placement-unknown', 'cart-item'] });
    // Its route takes that kind, and that outcome.
    await until(async () => world.boss.typesOf(saga.reference).length >= 1);
    expect(world.boss.typesOf(saga.reference)[0]).toBe('saga.waiting');
  });

  itInWays('that was held before it took its reference and is cancelled closes what it opened', async () => {
    const { rig, ops } = world;
    await rig.sagas.hold({ note: 'a test' });
    const saga = await rig.sagas.firewalls(firewallsRequest());
    await untilWaiting(saga, 'held');
    await saga.cancel();
    await outcomeOf(saga);
    await rig.sagas.release();
    await untilEnded(ops, saga.reference);
    expect(ops.typesOf(saga.reference)).toEqual(['saga.waiting', 'saga.settled', 'saga.ended']);
    expect(messagesOf(ops, saga.reference).at(-1)?.data.outcome).toBe('untouched');
  });

  itInWays('that was refused as a whole tells nothing', async () => {
    const { saga, request } = await provision(world);
    await saga.result();
    const options = { workflowId: saga.workflowId, taskQueue: 'order-saga', args: [{ ...request, label: 'another' }] };
    const taken = await world.rig.temporal.workflow.start('provisionServers', options);
    await expect(taken.result()).rejects.toThrow();
    await untilEnded(world.ops, saga.reference);
    const { saga: later } = await provision(world);
    await later.result();
    await untilEnded(world.ops, later.reference);
    expect(world.ops.typesOf(saga.reference)).toEqual(['saga.ended']);
  });

  describeInWays('whose events cannot be written', () => {
    const rename = (from: string, to: string) =>
      world.rig.withJournal(({ db }) => sql`alter table ${sql.table(from)} rename to ${sql.table(to)}`.execute(db));

    it('takes a decision and goes on at once; they are told later, in order', async () => {
      const { rig, ops } = world;
      const { saga } = await provision(world, { endpoint: 'place-order', kind: 'unauthorized' });
      const match = { planId: planIdOf(saga.reference) };
      await rename('outbox', 'elsewhere');
      try {
        await untilWaiting(saga, 'stuck');
        const gate = rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'gate', hold: 'before', match });
        await answer(saga, 'retry');
        await rig.sandbox.whenStruck(gate);
        await rename('elsewhere', 'outbox');
        rig.sandbox.faults.release(gate);
      } catch (error) {
        await rename('elsewhere', 'outbox').catch(() => undefined);
        throw error;
      }
      await saga.result();
      await untilEnded(ops, saga.reference);
      expect(ops.typesOf(saga.reference)).toEqual(['saga.waiting', 'saga.settled', 'saga.ended']);
      // What came back then would make the server refuse the run's last task.
      expect(await leftUnderWay(rig.temporal.workflow.getHandle(saga.workflowId))).toEqual([]);
    });

    it('ends all the same, within a minute', async () => {
      const { rig, ops } = world;
      await rig.sagas.hold({ note: 'a test' });
      const saga = await rig.sagas.firewalls(firewallsRequest());
      await untilWaiting(saga, 'held');
      await until(async () => ops.typesOf(saga.reference).length === 1);
      await rename('outbox', 'elsewhere');
      try {
        await saga.cancel();
        expect(await outcomeOf(saga)).toHaveProperty('cancelled');
      } finally {
        await rename('elsewhere', 'outbox');
        await rig.sagas.release();
      }
      expect(ops.typesOf(saga.reference)).not.toContain('saga.ended');
    });
  });
});

it('reminders go to the second route from the second one on, and then so does the end of the wait', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'order-saga-'));
  const [bundle, hasty] = [join(folder, 'bundle.js'), join(folder, 'reminders.js')];
  writeFileSync(
    hasty,
    `exports.reminderDelaysMs = function* () { for (const ms of [10, 10, 10]) yield ms; for (;;) yield ${day}; };`,
  );
  const instead = { [require.resolve('../../../src/saga/reminders')]: hasty };
  writeFileSync(bundle, await bundleWorkflows({ instead }));
  const world = await tell(
    (ops, boss) => [{ ...toOps(ops), escalation: { url: boss.url, secret: 'ours', fromReminder: 2 } }],
    { bundle },
  );
  try {
    const { ops, boss } = world;
    const { saga } = await provision(world, { endpoint: 'place-order', kind: 'unauthorized' });
    await until(async () => ops.typesOf(saga.reference).length === 4);
    await answer(saga, 'retry');
    await saga.result();
    await untilEnded(ops, saga.reference);
    const numbered = (receiver: WebhookReceiver) =>
      messagesOf(receiver, saga.reference).map(({ type, data }) => `${type} ${data.reminders ?? ''}`);
    expect(numbered(ops)).toEqual([
      ...['saga.waiting 0', 'saga.reminder 1', 'saga.reminder 2', 'saga.reminder 3', 'saga.settled 3', 'saga.ended '],
    ]);
    await until(async () => numbered(boss).length === 3);
    expect(numbered(boss)).toEqual(['saga.reminder 2', 'saga.reminder 3', 'saga.settled 3']);
  } finally {
    await world.close();
    rmSync(folder, { recursive: true });
  }
});
