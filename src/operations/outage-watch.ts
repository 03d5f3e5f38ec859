/**
 * Holds new sagas when the provider is down, as this worker sees it, so that they do not wait for a person one by one.
 * The hold is the namespace's: it stays when this worker dies (docs/decisions/0032). The circuit breaker only counts:
 * it holds no call back, because a saga under way knows best when to try again.
 */
import type { Client } from '@temporalio/client';
import type { Logger, MetricMeter } from '@temporalio/common';
import CircuitBreaker from 'opossum';
import { sagaOfCall } from '../activities/call';
import { startHold } from '../client/runs';
import type { OutageConfig } from '../config';
import { readHoldStart } from '../domain/hold';
import { metrics, type OutageFate } from '../domain/metrics';
import { reconcileWorkflow } from '../domain/reconcile';
import type { CallEvent } from '../provider/client';
import { describeLastHold } from '../temporal/service';

export interface OutageSurroundings {
  temporal: Client;
  taskQueue: string;
  /** The worker's process and host. */
  identity: string;
  meter: MetricMeter;
  log: Pick<Logger, 'warn' | 'error'>;
}

/** Fewer unanswered calls in a hundred are a bad hour; with fewer people look at what each saga asks. */
const unansweredPercent = 80;

/** A person who has released a hold has seen something that a share of calls does not show. */
const quietMs = 15 * 60_000;

/** An outage that goes on costs a few more sagas each time; this often. */
const holdMaxMs = 60 * 60_000;

export class OutageWatch {
  private readonly breaker: CircuitBreaker<[boolean], void>;
  private counting: Promise<void> = Promise.resolve();
  private holding: Promise<void> = Promise.resolve();

  constructor(
    private readonly config: OutageConfig,
    private readonly around: OutageSurroundings,
    private readonly sagaOf: () => string | undefined = sagaOfCall,
  ) {
    const answered = (isAnswered: boolean) =>
      isAnswered ? Promise.resolve() : Promise.reject(new Error('the provider has not answered'));
    this.breaker = new CircuitBreaker(answered, {
      timeout: false,
      // It opens above this, and not at it.
      errorThresholdPercentage: unansweredPercent - 0.001,
      rollingCountTimeout: config.windowMs,
      volumeThreshold: config.callsMin,
      resetTimeout: config.windowMs,
    });
    this.breaker.on('open', () => {
      const { failures, successes } = this.breaker.stats;
      const seen = `${failures} of ${failures + successes} calls within ${Math.ceil(config.windowMs / 1_000)} s got no answer`;
      this.holding = this.hold(seen).catch((err: unknown) => {
        around.log.error('the provider is down, and new sagas could not be held', { seen, err });
      });
    });
  }

  /** To be called in the activity that made the call. */
  onCall(event: CallEvent): void {
    const isAnswered = readCall(event);
    // A sweep reads much, and its answers would hide that nobody's orders are answered.
    if (isAnswered === undefined || this.sagaOf()?.startsWith(reconcileWorkflow)) return;
    // It rejects calls while it is open, and hands on each rejection.
    this.counting = this.breaker.fire(isAnswered).catch(() => undefined);
  }

  /** Waits for a hold that is being set. */
  async close(): Promise<void> {
    await this.counting;
    await this.holding;
    this.breaker.shutdown();
  }

  private async hold(seen: string): Promise<void> {
    const { temporal, taskQueue, identity, log } = this.around;
    const last = await describeLastHold(temporal);
    const endedMs = last?.closeTime && Date.now() - last.closeTime.getTime();
    // By its own time it completes; what people do cancels or terminates it.
    const endedByPerson = last?.status.name === 'CANCELLED' || last?.status.name === 'TERMINATED';
    if (endedMs !== undefined && endedByPerson && endedMs < quietMs) {
      this.count('left-off');
      log.warn('the provider is down; new sagas are not held, because a person has released a hold just before', {
        seen,
      });
      return;
    }
    const before = readHoldStart(last?.memo).forMs ?? 0;
    const isAgain = endedMs !== undefined && endedMs < Math.max(before, this.config.windowMs);
    const forMs = isAgain ? Math.min(holdMaxMs, 2 * before) : this.config.holdMs;
    const by = `worker ${identity}`;
    const { existing } = await startHold(temporal, taskQueue, {
      ...{ by, note: `the provider is down: ${seen}` },
      forMs: Math.max(forMs, this.config.holdMs),
    });
    this.count(existing ? 'held-before' : 'held');
    log.warn(`the provider is down: ${existing ? 'a hold is on already' : 'new sagas are held from now on'}`, {
      seen,
      by,
    });
  }

  private count(fate: OutageFate): void {
    const { name, help } = metrics.outages;
    this.around.meter.createCounter(name, '', help).add(1, { fate });
  }
}

/** True: the provider has answered; undefined: our side has kept the call back. */
export function readCall({ status, failure, heldBack }: CallEvent): boolean | undefined {
  if (heldBack || failure === 'TokenUnreadable') return undefined;
  // After a 409 nobody knows whether the order is there; but the provider is.
  const isRefusal = status !== undefined && status >= 400 && status < 500;
  if (failure === 'UnknownOutcome') return isRefusal;
  if (failure === 'NotSent' || failure === 'UnexpectedResponse') return false;
  // Without a status our side has refused to send it.
  return failure !== undefined && status === undefined ? undefined : true;
}
