/**
 * Compare what the journal says with what Temporal and the provider have: a sweep, which a schedule starts.
 *
 * ```text
 *   sagas without an ending   lost ones are told        cart items, placements ──▶ cleanCart
 *   sagas with one            what they left is told    cart items, placements ──▶ cleanCart
 *   servers, in turn          list the firewalls (10)   drift is told; where asked ──▶ setFirewalls, which assigns
 * ```
 *
 * It is no saga, and places nothing: `cleanCart` asks about an order of unknown outcome and cannot order, and no run of
 * a saga is started again that could. What it could not look at fails it, at the end, so that whatever can be seen is
 * seen; but by a journal that does not answer, or is an older copy, nothing more is done.
 */
import { ApplicationFailure, continueAsNew, sleep, workflowInfo } from '@temporalio/workflow';
import type { LeftBehind } from '../../activities/reconcile';
import {
  couldNotLook,
  describeCounts,
  reconcileSchema,
  type CleanUp,
  type ReconcileRequest,
  type SweepReport,
} from '../../domain/reconcile';
import { activities } from '../../saga/activities';
import type { Act } from '../../saga/attempts';
import { readRequest } from '../../saga/check-request';
import { compareServers, noteUnprotected, toCompareInTurn } from './compare-servers';
import { beginSweep, ended, found, foundMore, show, startBeside, tryToLook, unseen, idOf, type Sweep } from './sweep';

/** Far below the length at which calls are no longer tried again (src/saga/history-left.ts). */
const eventsMax = 500;

/** @param goingOn only where a sweep goes on in another run */
export async function reconcile(given?: unknown, goingOn?: Sweep): Promise<SweepReport> {
  const request = readRequest(reconcileSchema(), given ?? {});
  const sweep = goingOn ?? beginSweep();
  if (sweep.at.phase === 'open') await lookAtOpen(request, sweep);
  if (sweep.at.phase === 'ended') await lookAtEnded(request, sweep);
  if (sweep.at.phase === 'turn') await takeTurns(request, sweep);
  if (sweep.at.phase === 'servers') await compareServers(request, sweep, () => goOn(request, sweep));
  const report = ended(sweep);
  if (report.outcome !== 'could-not-look') return report;
  const whats = report.unseen.map(({ what, failure, why }) => `${what} (${failure}: ${why})`);
  const message = `could not look at ${whats.join('; ')}. Found so far: ${describeCounts(report.counts)}`;
  throw ApplicationFailure.nonRetryable(message, couldNotLook, report);
}

async function lookAtOpen(request: ReconcileRequest, sweep: Sweep): Promise<void> {
  while (sweep.at.phase === 'open') {
    await goOn(request, sweep);
    show(sweep, 'Looking at the sagas without an ending');
    const { after } = sweep.at;
    const slice = await look('the sagas without an ending', sweep, ({ retry }) =>
      activities('look at sagas without an ending').lookAtOpen({ after, retry }),
    );
    if (slice === undefined) return;
    sweep.report.looked.open += slice.count;
    for (const { how, ...saga } of slice.lost) {
      found(sweep, { kind: 'lost', saga: idOf(saga), how });
      await handle(request, sweep, saga);
      for (const { vmObjectId, firewalls } of saga.unprotected) {
        found(sweep, { kind: 'server-unprotected', saga: idOf(saga), vmObjectId, firewalls });
      }
    }
    sweep.at = slice.last ? { phase: 'open', after: slice.last } : { phase: 'ended' };
  }
}

async function lookAtEnded(request: ReconcileRequest, sweep: Sweep): Promise<void> {
  while (sweep.at.phase === 'ended') {
    await goOn(request, sweep);
    show(sweep, 'Looking at the sagas that have ended');
    const { after } = sweep.at;
    const slice = await look('the sagas that have ended', sweep, ({ retry }) =>
      activities('look at sagas that have ended').lookAtEnded({ days: request.days, after, retry }),
    );
    if (slice === undefined) return;
    sweep.report.looked.ended += slice.count;
    sweep.serversKnown = slice.serversKnown ?? sweep.serversKnown;
    for (const saga of slice.left) await handle(request, sweep, saga);
    sweep.at = slice.last ? { phase: 'ended', after: slice.last } : { phase: 'turn' };
  }
}

/** Servers that lack firewalls; and all, from where the sweep before has stopped, once around. */
async function takeTurns(request: ReconcileRequest, sweep: Sweep): Promise<void> {
  await goOn(request, sweep);
  // One more than all that it may look at: so not all of them fit where there are others.
  const most = request.servers + 1;
  const inTurn = await look('the servers that have their turn', sweep, ({ retry }) =>
    activities('look which servers have their turn').serversInTurn({ most, retry }),
  );
  if (inTurn === undefined) return;
  const { after, servers, open, openBeyond, shared } = inTurn;
  for (const { vmObjectId, references } of shared) {
    const sagas = references.map((reference) => idOf({ workflow: 'provisionServers', reference }));
    found(sweep, { kind: 'server-shared', vmObjectId, sagas });
  }
  for (const server of open) noteUnprotected(request, sweep, server);
  if (openBeyond > 0) foundMore(sweep, 'server-unprotected', openBeyond);
  const taken = toCompareInTurn(request, sweep, inTurn);
  const next = taken < servers.length ? (servers[taken - 1] ?? after) : undefined;
  if (next !== undefined) sweep.report.next = next;
  // Behind the last server comes the first one.
  sweep.isRound = next === undefined || next < after;
  sweep.at = { phase: 'servers' };
}

/** A clean-up deletes cart items in no order, and asks about a placement that nobody knows of. */
async function handle(request: ReconcileRequest, sweep: Sweep, saga: LeftBehind): Promise<void> {
  const isUnknown = saga.placement === 'unknown';
  if (saga.cartItems.length === 0 && !isUnknown) return;
  const cleanUp = await cleanUpOf(request, saga);
  if (saga.cartItems.length > 0) {
    found(sweep, { kind: 'cart-items', saga: idOf(saga), cartItemIds: saga.cartItems, cleanUp });
  }
  if (isUnknown) found(sweep, { kind: 'placement-unknown', saga: idOf(saga), cleanUp });
}

/** `cleanCart` looks by itself whether the saga goes on anywhere, and does nothing then. */
async function cleanUpOf({ clean, perSecond }: ReconcileRequest, saga: LeftBehind): Promise<CleanUp> {
  const { workflow, reference, isCleaned } = saga;
  if (!clean || workflow !== 'provisionServers') return 'not-asked';
  // A person who left something there would be asked again with each sweep.
  if (isCleaned) return 'ended-before';
  const staticSummary = `clean the cart of ${reference}: a sweep has found what is left there`;
  if (!(await startBeside('cleanCart', { reference }, { staticSummary }))) return 'running';
  await sleep(1_000 / perSecond);
  return 'started';
}

/** @returns undefined where it could not look: then the sweep fails */
async function look<T>(what: string, sweep: Sweep, act: Act<T>): Promise<T | undefined> {
  const settled = await tryToLook(what, act);
  if (settled.ok) return settled.value;
  unseen(sweep, what, settled.failure);
  return undefined;
}

/** In another run, before the history of this one is too long. */
async function goOn(request: ReconcileRequest, sweep: Sweep): Promise<void> {
  const { continueAsNewSuggested, historyLength } = workflowInfo();
  if (!continueAsNewSuggested && historyLength < eventsMax) return;
  await continueAsNew<typeof reconcile>(request, sweep);
}
