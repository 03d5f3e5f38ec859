/**
 * Releases a hold by probes: while it stays on, it lets a few of the held sagas go, and looks what becomes of them.
 *
 * ```text
 *   pause ── who is held? ── nobody ──▶ pause
 *     ▲           │
 *     │           ▼ some
 *     │      let these go ── look, until the time of the probe is over ── most were answered ──▶ the next probe, four times as large
 *     │           │                                                        (three in a row, or nobody is left: the hold is released)
 *     └── back to held; the pause doubles, to half an hour at most ◀── most were not answered
 * ```
 *
 * A saga that was let go has begun: it is not held again when its probe fails, but tries again, and asks a person at
 * last, as any saga does.
 */
import { condition, log, proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { Activities } from '../activities/index';
import type { Probing } from '../domain/hold';
import {
  probePauseMs,
  probeSize,
  probesToPass,
  verdictOf,
  type ProbePlan,
  type ProbeVerdict,
} from '../domain/hold-probe';
import { countProbe } from '../saga/metrics';

/** Neither changes anything, so Temporal itself retries them until they succeed. */
const retried = { initialInterval: '1 second', maximumInterval: '30 seconds' } as const;
export const { listHeld } = proxyActivities<Pick<Activities, 'listHeld'>>({
  startToCloseTimeout: '30 seconds',
  retry: retried,
  summary: 'look which sagas are held',
});
const { readProbes } = proxyActivities<Pick<Activities, 'readProbes'>>({
  startToCloseTimeout: '30 seconds',
  retry: retried,
  summary: 'look what has become of the probe',
});

/** A probe is looked at so often, so that one that is answered soon is not waited for. */
const looksMax = 6;

/** About 3,000 events; then the hold goes on as another run. */
const turnsMax = 100;

export interface ProbedHold {
  plan: ProbePlan;
  /** Tells everybody who looks at the hold. */
  tell: (state: { probing: Probing; letGo: string[] }) => void;
  signal: (workflowId: string) => Promise<void>;
}

/**
 * @param failed how many probes in a row were not answered so far
 * @returns `passed`, with how many sagas were let go; or that the history of this run is long, and how many probes have
 * failed
 * @throws CancelledFailure when it is cancelled
 */
export async function probe(
  { plan, tell, signal }: ProbedHold,
  failed: number,
): Promise<{ how: 'passed'; letGo: number } | { how: 'long'; failed: number }> {
  let passed = 0;
  let letGo = 0;
  let last: readonly string[] = [];
  /** Let go, and they made no call: the next probes take others, as long as there are others. */
  let silent: readonly string[] = [];
  for (let turn = 0; ; turn += 1) {
    if (turn >= turnsMax || workflowInfo().continueAsNewSuggested) return { how: 'long', failed };
    if (passed === 0) {
      const pauseMs = probePauseMs(plan, failed);
      const nextAt = new Date(Date.now() + pauseMs).toISOString();
      tell({ probing: { failed, silent: silent.length, nextAt }, letGo: [] });
      await pause(pauseMs);
      // They had their time: those that are held again may be let go again.
      last = [];
    }
    const held = (await listHeld({})).workflowIds.filter((id) => !last.includes(id) && !silent.includes(id));
    if (held.length === 0 && passed === 0) {
      silent = [];
      continue;
    }
    const size = probeSize(plan, passed);
    last = held.slice(0, size);
    if (last.length > 0) {
      const verdict = await letGoAndLook(last, plan, { tell, signal, probing: { failed, silent: silent.length } });
      if (verdict === 'silent') silent = [...silent, ...last];
      if (verdict === 'failed') {
        passed = 0;
        failed += 1;
        continue;
      }
      letGo += last.length;
      if (verdict === 'silent') continue;
      passed += 1;
    }
    if (passed >= probesToPass || held.length <= size) return { how: 'passed', letGo };
  }
}

async function letGoAndLook(
  workflowIds: readonly string[],
  { pauseMs }: ProbePlan,
  { tell, signal, probing }: Pick<ProbedHold, 'tell' | 'signal'> & { probing: Probing },
): Promise<ProbeVerdict> {
  // In the memo before they are signalled: both are in the same answer to Temporal, in this order.
  tell({ probing, letGo: [...workflowIds] });
  await Promise.all(workflowIds.map(signal));
  for (let look = 1; ; look += 1) {
    await pause(Math.ceil(pauseMs / looksMax));
    const signs = await readProbes({ workflowIds, last: look >= looksMax });
    if (signs.open > 0) continue;
    const verdict = verdictOf(signs);
    countProbe(verdict);
    const said = verdict === 'failed' ? 'the probe was not answered: new sagas stay held' : `the probe has ${verdict}`;
    log.warn(said, { verdict, ...signs });
    return verdict;
  }
}

/** A timer that is cancelled with the probing. */
async function pause(ms: number): Promise<void> {
  await condition(() => false, ms);
}
