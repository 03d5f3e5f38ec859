/**
 * Workers that send what stands in the outbox, to receivers on real sockets: good ones, bad ones, and ones that must
 * not be reached.
 */
import { randomUUID } from 'node:crypto';
import { noopMetricMeter } from '@temporalio/common';
import type { RetryBudget } from '../../../src/activities/settings';
import type { Message, Route } from '../../../src/domain/notifications';
import { writeNotices } from '../../../src/journal/outbox';
import { listNotices, retryNotices, type NoticeView } from '../../../src/journal/undelivered';
import type { Journal } from '../../../src/journal/journal';
import { openJournal } from '../../../src/journal/open';
import { Deliveries, type DeliveriesOptions } from '../../../src/operations/deliveries';
import { createSealing } from '../../../src/security/sealing';
import { itInWays } from '../../support/left-out';
import { WebhookReceiver, type Told } from '../../support/receiver';
import { until } from '../../support/rig';
import { describeEachDatabase, type TestDatabases } from '../journal/databases';

const quick: RetryBudget = { attemptsMax: 50, backoffMs: 10, backoffMaxMs: 50, totalMs: 3_600_000 };
const types = ['waiting', 'reminder', 'settled', 'ended'] as const;

describeEachDatabase('notifications', ({ fresh }: TestDatabases) => {
  let address: Awaited<ReturnType<typeof fresh>>;
  let journal: Journal;
  const receivers: WebhookReceiver[] = [];
  const workers: { deliveries: Deliveries; journal: Journal }[] = [];
  beforeAll(async () => {
    address = await fresh();
    journal = await openJournal(address, createSealing(undefined));
  });
  afterAll(() => journal.close());

  let namespace: string;
  beforeEach(() => {
    namespace = randomUUID();
  });
  afterEach(async () => {
    for (const receiver of receivers) expect(receiver.faults).toEqual([]);
    for (const receiver of receivers.splice(0)) await receiver.close();
    for (const worker of workers.splice(0)) {
      await worker.deliveries.stop();
      await worker.journal.close();
    }
  });

  const receiver = async (answers?: (message: Message, nth: number) => Told) => {
    const started = await WebhookReceiver.start(answers);
    receivers.push(started);
    return started;
  };
  const routeTo = (name: string, url: string): Route => ({ name, url, secret: 'ours' });

  /** A worker of its own, as far as it sends. */
  async function startSending(
    routes: Route[],
    changes: Partial<DeliveriesOptions['notifications']> = {},
  ): Promise<{ failures: string[] }> {
    const failures: string[] = [];
    const mine = await openJournal(address, createSealing(undefined));
    const log = {
      info: () => undefined,
      warn: (about: { failure?: string }) => failures.push(about.failure ?? 'the journal'),
      error: (about: { failure?: string }) => failures.push(about.failure ?? 'the journal'),
    };
    const notifications = { routes, allowed: ['127.0.0.0/8'], timeoutMs: 1_000, retry: quick, ...changes };
    const secrets = { resolve: () => Promise.resolve(receivers[0]?.secret) };
    const deliveries = new Deliveries(
      { namespace, notifications, idleMs: 20 },
      mine,
      secrets,
      noopMetricMeter,
      log as never,
    );
    workers.push({ deliveries, journal: mine });
    deliveries.start();
    return { failures };
  }

  /** The events of a saga, one after the other. @returns their ids */
  async function happen(reference: string, routes: string[], events: readonly (typeof types)[number][] = types) {
    const ids: string[] = [];
    for (const event of events) {
      const id = randomUUID();
      ids.push(id);
      const data = {
        reference,
        workflow: 'provisionServers',
        workflowId: `provision/${reference}`,
        runId: 'r',
        namespace,
      };
      const message = {
        type: `saga.${event}`,
        timestamp: new Date().toISOString(),
        data: { ...data, state: 'running' },
      };
      const body = await journal.sealing.seal(message);
      const row = {
        id,
        namespace,
        workflowId: data.workflowId,
        reference,
        event,
        kind: undefined,
        account: undefined,
        body,
      };
      await writeNotices(
        journal,
        routes.map((route) => ({ ...row, route })),
      );
    }
    return ids;
  }
  const left = (ids: readonly string[]): Promise<NoticeView[]> => listNotices(journal, { ids }, 1_000);
  const arrivedOf = (told: WebhookReceiver) => told.taken.map(({ id }) => id);
  /** What a slow machine answers too late is sent again. */
  const once = (ids: string[]) => [...new Set(ids)];

  it('arrive signed, once, in the order of their saga', async () => {
    const ops = await receiver();
    const ids = await happen('A', ['ops']);
    await startSending([routeTo('ops', ops.url)]);
    await until(async () => (await left(ids)).length === 0);
    expect(arrivedOf(ops)).toEqual(ids);
    const [{ headers, message }] = ops.deliveries as [(typeof ops.deliveries)[number]];
    expect(headers).toMatchObject({ 'content-type': 'application/json', 'webhook-id': ids[0] });
    expect(message).toMatchObject({ type: 'saga.waiting', data: { reference: 'A' } });
  });

  it('wait for a receiver that answers 500, and keep their order', async () => {
    let isUp = false;
    const ops = await receiver(() => (isUp ? 204 : 500));
    const ids = await happen('A', ['ops']);
    const { failures } = await startSending([routeTo('ops', ops.url)]);
    await until(async () => failures.length >= 3);
    // Only the first was tried.
    expect(new Set(ops.deliveries.map(({ id }) => id))).toEqual(new Set([ids[0]]));
    expect(await left(ids)).toMatchObject([
      { id: ids[0], failure: 'its receiver answered 500', state: 'open' },
      {},
      {},
      {},
    ]);
    isUp = true;
    await until(async () => (await left(ids)).length === 0);
    expect(arrivedOf(ops)).toEqual(ids);
  });

  it('are given up when their time is over, and the later ones go on; a person has them sent again', async () => {
    const ops = await receiver(({ type }) => (type === 'saga.waiting' ? 500 : 200));
    const ids = await happen('A', ['ops']);
    await startSending([routeTo('ops', ops.url)], { retry: { ...quick, attemptsMax: 3 } });
    await until(async () => (await left(ids)).length === 1);
    expect(await left(ids)).toMatchObject([{ id: ids[0], state: 'dead', attempts: 3 }]);
    expect(arrivedOf(ops)).toEqual(ids.slice(1));
    ops.answers = () => 200;
    await retryNotices(journal, { ids: [ids[0]!] });
    await until(async () => (await left(ids)).length === 0);
    expect(arrivedOf(ops)).toEqual([...ids.slice(1), ids[0]]);
  });

  itInWays('that one receiver does not answer, or keeps answering, reach the others meanwhile', async () => {
    const [hangs, drips, well] = [await receiver(() => 'hang'), await receiver(() => 'endless'), await receiver()];
    const routes = { hangs, drips, well };
    const ids: string[] = [];
    // More than are sent at once.
    for (let n = 0; n < 12; n += 1) ids.push(...(await happen(`S-${n}`, Object.keys(routes), ['waiting', 'ended'])));
    const { failures } = await startSending(
      Object.entries(routes).map(([name, { url }]) => routeTo(name, url)),
      { timeoutMs: 300 },
    );
    await until(async () => once(arrivedOf(well)).length === ids.length);
    // What was answered counts as delivered, however long the rest takes.
    await until(async () => (await left(ids)).every(({ route }) => route === 'hangs'));
    await until(async () => failures.length > 0);
    expect(new Set(failures)).toEqual(new Set(['its receiver did not answer in 300 ms']));
    expect(hangs.taken).toEqual([]);
  });

  it('are not taken elsewhere by a redirect', async () => {
    const inside = await receiver();
    const ops = await receiver(() => ({ redirectTo: inside.url }));
    const ids = await happen('A', ['ops']);
    const { failures } = await startSending([routeTo('ops', ops.url)]);
    await until(async () => failures.length > 0);
    expect(await left(ids)).toHaveLength(ids.length);
    expect(failures[0]).toBe('its receiver redirects (307), and no redirect is followed');
    expect(inside.deliveries).toEqual([]);
  });

  it.each(['127.0.0.1', 'localhost', '[::ffff:127.0.0.1]', '2130706433', '0.0.0.0'])(
    'do not go to this machine by the host %s, unless that is allowed',
    async (host) => {
      const inside = await receiver();
      const ids = await happen('A', ['ops'], ['waiting']);
      const { failures } = await startSending([routeTo('ops', `http://${host}:${inside.port}/`)], {
        allowed: ['10.0.0.0/8'],
      });
      await until(async () => failures.length > 0);
      expect(failures[0]).toBe('its receiver has an inner address, which NOTIFICATION_ALLOW does not name');
      expect(inside.deliveries).toEqual([]);
      expect(await left(ids)).toHaveLength(1);
    },
  );

  it('go to an inner host that is allowed by its name', async () => {
    const inside = await receiver();
    const ids = await happen('A', ['ops']);
    await startSending([routeTo('ops', `http://localhost:${inside.port}/`)], { allowed: ['localhost'] });
    await until(async () => (await left(ids)).length === 0);
    expect(arrivedOf(inside)).toEqual(ids);
  });

  itInWays(
    'of many sagas keep their order where several workers send to a receiver that fails now and then',
    async () => {
      const underWay = new Map<string, number>();
      let together = 0;
      const ops = await receiver(({ data: { reference } }, nth) => {
        const now = (underWay.get(reference) ?? 0) + 1;
        underWay.set(reference, now);
        together = Math.max(together, now);
        const answered = new Promise<number>((resolve) => {
          setImmediate(() => {
            underWay.set(reference, underWay.get(reference)! - 1);
            resolve(nth % 3 === 0 ? 503 : 200);
          });
        });
        return { until: answered };
      });
      const sagas = Array.from({ length: 15 }, (_, n) => `S-${n}`);
      const ids = new Map<string, string[]>();
      for (const reference of sagas) ids.set(reference, await happen(reference, ['ops']));
      const route = [routeTo('ops', ops.url)];
      await Promise.all([startSending(route), startSending(route), startSending(route)]);
      const all = [...ids.values()].flat();
      await until(async () => (await left(all)).length === 0);
      for (const reference of sagas) {
        const those = ids.get(reference) ?? [];
        expect(once(arrivedOf(ops)).filter((id) => those.includes(id))).toEqual(those);
      }
      expect(together).toBe(1);
    },
  );
});
