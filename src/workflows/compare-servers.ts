/** The part of a sweep that compares the firewalls of servers with what sagas have said last, and has them assigned again where asked. */
import { ParentClosePolicy, sleep, startChild } from '@temporalio/workflow';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import type { Left } from '../activities/reconcile';
import type { CallFailure } from '../domain/failures';
import { wavesOf } from '../domain/hold';
import { workflowIdOf } from '../domain/identity';
import type { ReconcileRequest } from '../domain/reconcile';
import { activities } from '../saga/activities';
import { found, idOf, show, tryToLook, unseen, type Sweep, type ToCompare } from './sweep';

/** Servers that fail one after another before the provider counts as away. */
const failedInARowMax = 3;

/** A repair that could not begin within this time is not wanted any more: by then another sweep has looked. */
const repairWithinMs = 60 * 60_000;

/** Ids of firewalls that sagas have told are lacking. Of more, it is told without comparing: a sweep fits one payload of Temporal's. */
const unprotectedIdsMax = 20_000;

export function noteUnprotected(request: ReconcileRequest, sweep: Sweep, saga: Left): void {
  for (const { vmObjectId, firewalls } of saga.unprotected) {
    const server = vmObjectId === undefined ? undefined : toCompare(request, sweep, vmObjectId);
    const told = sweep.servers.reduce((sum, { unprotected }) => sum + (unprotected?.firewalls.length ?? 0), 0);
    if (server === undefined || told + firewalls.length > unprotectedIdsMax) {
      found(sweep, { kind: 'server-unprotected', saga: idOf(saga), vmObjectId, firewalls });
    } else {
      const { firewalls: before = [], saidMs = 0 } = server.unprotected ?? {};
      server.unprotected = {
        saga: idOf(saga),
        firewalls: [...new Set([...before, ...firewalls])],
        saidMs: Math.max(saidMs, saga.endedMs),
      };
    }
  }
}

/** @returns undefined where the request allows no more servers */
export function toCompare(
  { servers: most }: ReconcileRequest,
  sweep: Sweep,
  vmObjectId: number,
): ToCompare | undefined {
  const known = sweep.servers.find((server) => server.vmObjectId === vmObjectId);
  if (known !== undefined) return known;
  if (sweep.servers.length >= most) {
    sweep.report.looked.beyond += 1;
    return undefined;
  }
  const server: ToCompare = { vmObjectId };
  sweep.servers.push(server);
  sweep.serversFound += 1;
  return server;
}

/** @param goOn in another run, where this one grows too long */
export async function compareServers(
  request: ReconcileRequest,
  sweep: Sweep,
  goOn: () => Promise<void>,
): Promise<void> {
  let failedInARow = 0;
  while (sweep.servers.length > 0) {
    await goOn();
    show(sweep, `Comparing the firewalls of ${sweep.serversFound} servers`);
    const [first] = wavesOf(sweep.servers, request.perSecond);
    if (first === undefined) return;
    const { wave, pauseMs } = first;
    const failures = await Promise.all(wave.map((server) => compare(request, sweep, server)));
    for (const failure of failures) failedInARow = failure ? failedInARow + 1 : 0;
    sweep.servers.splice(0, wave.length);
    if (sweep.servers.length === 0) return;
    const failure = failures.at(-1);
    if (failure && failedInARow >= failedInARowMax) {
      unseen(sweep, `${sweep.servers.length} more servers`, failure);
      return;
    }
    await sleep(pauseMs);
  }
}

/** @returns why the provider did not answer, where it did not */
async function compare(request: ReconcileRequest, sweep: Sweep, server: ToCompare): Promise<CallFailure | undefined> {
  const { vmObjectId, unprotected: told } = server;
  const { looked } = sweep.report;
  const settled = await tryToLook(`compare-firewalls-${vmObjectId}`, ({ retry }) =>
    activities(`compare the firewalls of ${vmObjectId}`).compareFirewalls({
      vmObjectId,
      wanted: told && { firewalls: told.firewalls, saidMs: told.saidMs },
      retry,
    }),
  );
  if (!settled.ok) {
    const { failure } = settled;
    if (failure.failure !== 'Rejected') {
      unseen(sweep, `server ${vmObjectId}`, failure);
      return failure;
    }
    found(sweep, { kind: 'server-unseen', vmObjectId, why: failure.message });
    return undefined;
  }
  const { value } = settled;
  if (value.how === 'busy') {
    looked.busy += 1;
    return undefined;
  }
  looked.servers += 1;
  if (value.how === 'unreadable') {
    found(sweep, { kind: 'server-unseen', vmObjectId, why: 'the format of the provider’s list is not known' });
    return undefined;
  }
  const { missing, surplus, unprotected } = value;
  const lacks = [...missing, ...unprotected];
  const repair = request.repair && lacks.length > 0 ? await repairOf(sweep, vmObjectId, lacks) : undefined;
  if (missing.length + surplus.length > 0) {
    found(sweep, {
      kind: 'firewalls-drift',
      vmObjectId,
      missing,
      surplus,
      ...(missing.length > 0 && repair ? { repair } : {}),
    });
  }
  if (told !== undefined && unprotected.length > 0) {
    const { saga } = told;
    found(sweep, {
      kind: 'server-unprotected',
      saga,
      vmObjectId,
      firewalls: unprotected,
      ...(repair ? { repair } : {}),
    });
  }
  return undefined;
}

/** A saga of its own, which takes its turn at the server, and looks by itself what is not there. @returns its workflow id */
async function repairOf(sweep: Sweep, vmObjectId: number, firewalls: readonly number[]): Promise<string> {
  const stamp = sweep.report.startedAt.replace(/\D/g, '').slice(0, 14);
  const reference = `reconcile-${stamp}-${vmObjectId}`;
  const workflowId = workflowIdOf('setFirewalls', reference);
  const notAfter = new Date(Date.now() + repairWithinMs).toISOString();
  try {
    await startChild('setFirewalls', {
      workflowId,
      args: [{ reference, vmObjectId, assign: firewalls, notAfter }],
      parentClosePolicy: ParentClosePolicy.ABANDON,
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
      staticSummary: `assign ${firewalls.length} firewalls to server ${vmObjectId} again: a sweep has missed them`,
    });
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
  return workflowId;
}
