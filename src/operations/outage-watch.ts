/**
 * Holds new sagas when the provider is down, as this worker sees it, so that what comes meanwhile does not run into the
 * wall and wait for a person, one by one. The hold is the namespace's, and a run: it stays when this worker dies, and
 * whoever sees the outage too finds it on. docs/decisions/0032 has the reasons.
 */
import type { Client } from '@temporalio/client';
import type { Logger, MetricMeter } from '@temporalio/common';
import { sagaOfCall } from '../activities/saga-of-call';
import { readLastRelease, startHold } from '../client/hold';
import type { OutageConfig } from '../config';
import { metrics, type OutageFate } from '../domain/metrics';
import { reconcileWorkflow } from '../domain/reconcile';
import type { CallEvent } from '../provider/client';
import { sagaAttributes } from '../temporal/search-attributes';
import { describeOutage, OutageWindow, readCall, type Outage } from './outage-window';

/** Temporal is asked whose sagas these are, at the one moment when a hold is set. */
const sagasAsked = 20;

export interface OutageSurroundings {
  temporal: Client;
  taskQueue: string;
  /** The worker's, as Temporal shows it. */
  identity: string;
  meter: MetricMeter;
  log: Pick<Logger, 'warn' | 'error'>;
}

export class OutageWatch {
  private readonly window: OutageWindow;
  private holding: Promise<void> | undefined;

  constructor(
    private readonly config: OutageConfig,
    private readonly around: OutageSurroundings,
    private readonly sagaOf: () => string | undefined = sagaOfCall,
  ) {
    this.window = new OutageWindow(config);
  }

  /** To be called in the activity that made the call. */
  onCall(event: CallEvent): void {
    const said = readCall(event);
    const saga = this.sagaOf();
    // A sweep reads much, and its answers would hide that nobody's orders are answered.
    if (said === undefined || saga?.startsWith(reconcileWorkflow)) return;
    const outage = this.window.see({ atMs: performance.now(), saga, ...said });
    if (outage === undefined || this.holding !== undefined) return;
    // Whatever comes of it, it is next done about calls that were made later.
    this.window.clear();
    this.holding = this.hold(outage)
      .catch((err: unknown) => {
        const what = describeOutage(outage, []);
        this.around.log.error('the provider is down, and new sagas could not be held', { outage: what, err });
      })
      .finally(() => {
        this.holding = undefined;
      });
  }

  /** Waits for a hold that is being set. */
  async close(): Promise<void> {
    await this.holding;
  }

  private async hold(seen: Outage): Promise<void> {
    const { temporal, taskQueue, identity, log } = this.around;
    const { quietMs, probe } = this.config;
    const last = await readLastRelease(temporal);
    const sinceMs = last?.by === 'person' ? Date.now() - last.at.getTime() : Infinity;
    // A log has no accounts; whoever reads the hold sees them.
    const outage = describeOutage(seen, []);
    if (sinceMs < quietMs) {
      this.count('left-off');
      log.warn('the provider is down; new sagas are not held, because a person has released a hold just before', {
        outage,
        releasedAt: last?.at.toISOString(),
        quietMs,
      });
      return;
    }
    const whose = describeOutage(seen, await this.accountsOf(seen.sagas.slice(0, sagasAsked)));
    const words = { by: `worker ${identity}`, note: `the provider is down: ${whose}`, detected: true } as const;
    const { existing } = await startHold(temporal, taskQueue, { ...words, ...(probe ? { probe } : {}) });
    this.count(existing ? 'held-before' : 'held');
    const said = existing ? 'a hold is on already' : 'new sagas are held from now on';
    log.warn(`the provider is down: ${said}`, { outage, by: words.by, released: probe ? 'by probes' : 'by a person' });
  }

  /** Whose orders these are, for the one who reads the hold. It is held without that, too. */
  private async accountsOf(sagas: readonly string[]): Promise<string[]> {
    const { workflow } = this.around.temporal;
    const found = await Promise.allSettled(sagas.map((id) => workflow.getHandle(id).describe()));
    const accounts = found.map((one) =>
      one.status === 'fulfilled' ? one.value.typedSearchAttributes.get(sagaAttributes.account) : undefined,
    );
    return [...new Set(accounts.filter((account) => account !== undefined))].sort();
  }

  private count(fate: OutageFate): void {
    const { name, help } = metrics.outages;
    this.around.meter.createCounter(name, '', help).add(1, { fate });
  }
}
