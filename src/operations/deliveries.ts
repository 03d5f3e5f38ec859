/**
 * Sends what stands in the journal's outbox: one lane for each receiver, so that one that hangs or fails keeps up no
 * other.
 *
 * Of a saga one event at a time is under way to a receiver, whichever worker sends it. One whose worker dies meanwhile
 * is sent again, with the same id, once its lease is over.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { MetricMeter } from '@temporalio/common';
import type { NotificationConfig } from '../config';
import type { RetryBudget } from '../activities/settings';
import { metrics, type NotificationFate } from '../domain/metrics';
import { receiversOf, type Receiver, type Route } from '../domain/notifications';
import type { Journal } from '../journal/journal';
import {
  countNotices,
  deleteDelivered,
  leaseDue,
  markDelivered,
  markFailed,
  type Leased,
  type RouteCounts,
} from '../journal/outbox';
import { isWebhookSecret, Sender, wrongSecret } from '../notifications/sender';
import type { SecretResolver } from '../security/secret-resolver';
import type { Log } from './logging';

/** Of one receiver, in this process. */
const atOnce = 8;

/** A person is told within a second or two; fifty workers ask fifty times a second for each receiver, by an index. */
const idleMsDefault = 1_000;

/** Looking for the secret, and writing down what came of it. */
const leaseBesideMs = 10_000;

const stopMs = 2_000;

const tidyEveryMs = 3_600_000;

const unreadableSecret = 'its secret cannot be read';

export interface DeliveriesOptions {
  namespace: string;
  notifications: Pick<NotificationConfig, 'routes' | 'allowed' | 'timeoutMs' | 'retry'>;
  /** How long a lane with nothing to do waits before it looks again, in milliseconds. @default 1_000 */
  idleMs?: number;
}

export class Deliveries {
  private readonly stopping = new AbortController();
  private readonly sender: Sender;
  private readonly seen = new Set<string>();
  private lanes: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly options: DeliveriesOptions,
    private readonly journal: Journal,
    private readonly secrets: SecretResolver,
    private readonly meter: MetricMeter,
    private readonly log: Pick<Log, 'info' | 'warn' | 'error'>,
  ) {
    this.sender = new Sender(options.notifications);
  }

  start(): void {
    const receivers = receiversOf(this.options.notifications.routes);
    if (receivers.length === 0) return;
    this.lanes = Promise.all([...receivers.map((receiver) => this.serve(receiver)), this.tidyUp()]);
  }

  /** What is open and dead, of all routes that there are, and of those that there were. @throws JournalUnavailable */
  async look(): Promise<readonly RouteCounts[]> {
    const { namespace, notifications } = this.options;
    const counted = await countNotices(this.journal, namespace);
    for (const { route } of counted) this.seen.add(route);
    for (const { route } of receiversOf(notifications.routes)) this.seen.add(route);
    // A gauge keeps its value: what there is no more has to be said.
    return [...this.seen].map(
      (route) => counted.find((one) => one.route === route) ?? { route, open: 0, oldestMs: 0, dead: 0 },
    );
  }

  /** What is under way gets a moment; what is not answered by then is sent again by another worker. */
  async stop(): Promise<void> {
    this.stopping.abort();
    const given = new AbortController();
    await Promise.race([this.lanes, pause(stopMs, undefined, { signal: given.signal }).catch(() => undefined)]);
    given.abort();
    await this.sender.close();
    await this.lanes;
  }

  private async serve(receiver: Receiver): Promise<void> {
    const { signal } = this.stopping;
    const { idleMs = idleMsDefault } = this.options;
    const underWay = new Set<Promise<void>>();
    let idle: Promise<void> | undefined;
    while (!signal.aborted) {
      for (const leased of await this.lease(receiver, atOnce - underWay.size)) {
        const delivery: Promise<void> = this.deliver(receiver, leased).finally(() => underWay.delete(delivery));
        underWay.add(delivery);
      }
      idle ??= pause(idleMs * (0.5 + Math.random()), undefined, { signal })
        .catch(() => undefined)
        .finally(() => {
          idle = undefined;
        });
      // What was just delivered may let the next event of its saga go.
      await Promise.race([...underWay, idle]);
    }
    await Promise.all(underWay);
  }

  private async lease({ route }: Receiver, limit: number): Promise<Leased[]> {
    const { namespace, notifications } = this.options;
    if (limit === 0) return [];
    const leaseMs = notifications.timeoutMs + leaseBesideMs;
    return this.kept([], () => leaseDue(this.journal, { namespace, route, limit, leaseMs }));
  }

  private async deliver(receiver: Receiver, leased: Leased): Promise<void> {
    const { route } = receiver;
    const { id, event, workflowId, attempts } = leased;
    const about = { route, id, event, workflowId, attempts };
    const failure = await this.send(receiver, leased);
    if (failure === undefined) {
      await this.kept(undefined, () => markDelivered(this.journal, leased));
      this.count(route, 'delivered');
      this.log.info(about, 'a notification was delivered');
      return;
    }
    const retryInMs = nextTry(leased, this.options.notifications.retry);
    await this.kept(undefined, () => markFailed(this.journal, leased, { failure, retryInMs }));
    this.count(route, retryInMs === undefined ? 'given-up' : 'failed');
    if (retryInMs === undefined) this.log.error({ ...about, failure }, 'a notification was given up');
    else this.log.warn({ ...about, failure, retryInMs }, 'a notification was not delivered');
  }

  private async send({ url, secret }: Receiver, { id, body }: Leased): Promise<string | undefined> {
    const value = await this.secrets.resolve(secret).catch(() => undefined);
    if (value === undefined) return unreadableSecret;
    let message: unknown;
    try {
      message = await this.journal.unseal(body, 'a notification');
    } catch {
      return 'the journal has it, but it cannot be decrypted here: a key may be missing from PAYLOAD_KEYS';
    }
    try {
      return await this.sender.send({ url, id, body: JSON.stringify(message), secret: value });
    } catch (err) {
      this.log.error({ err, id }, 'a notification could not be sent: a mistake of ours');
      return 'a mistake of ours: the worker’s log has it';
    }
  }

  private async tidyUp(): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      const more = await this.kept(false, () => deleteDelivered(this.journal));
      const inMs = more ? idleMsDefault : tidyEveryMs * (0.5 + Math.random());
      await pause(inMs, undefined, { signal }).catch(() => undefined);
    }
  }

  /** Without the journal nothing is leased; what was sent is sent again when its lease is over. */
  private async kept<T>(otherwise: T, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (err) {
      this.log.warn({ err }, 'notifications stand still: the journal does not answer');
      return otherwise;
    }
  }

  private count(route: string, result: NotificationFate): void {
    const { name, help } = metrics.notifications;
    this.meter.createCounter(name, '', help).add(1, { route, result });
  }
}

/**
 * @param random from 0 to 1
 * @returns the delay before the next attempt, in milliseconds; undefined where this one was the last
 */
export function nextTry(
  { attempts, triedMs }: Pick<Leased, 'attempts' | 'triedMs'>,
  { attemptsMax, backoffMs, backoffMaxMs, totalMs }: RetryBudget,
  random = Math.random(),
): number | undefined {
  const leftMs = totalMs - triedMs;
  if (attempts >= attemptsMax || leftMs <= 0) return undefined;
  const ceiling = Math.min(backoffMaxMs, backoffMs * 2 ** (attempts - 1));
  // Half of it at least: a receiver that is down is not asked in a row. The last one is at the end of the time.
  return Math.min(leftMs, Math.ceil(ceiling * (0.5 + random / 2)));
}

/**
 * The secrets of routes that no webhook can be signed with. What they should sign waits in the outbox, as for a
 * receiver that is down.
 */
export async function unusableSecrets(
  routes: readonly Route[],
  secrets: SecretResolver,
): Promise<(Pick<Receiver, 'route' | 'secret'> & { why: string })[]> {
  const unusable = [];
  for (const { route, secret } of receiversOf(routes)) {
    const value = await secrets.resolve(secret).catch(() => undefined);
    const why = value === undefined ? unreadableSecret : isWebhookSecret(value) ? undefined : wrongSecret;
    if (why !== undefined) unusable.push({ route, secret, why });
  }
  return unusable;
}
