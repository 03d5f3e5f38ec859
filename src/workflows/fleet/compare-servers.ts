/**
 * The part of a sweep that compares the firewalls of servers with what sagas have said last, and has them assigned
 * again where asked.
 */
import { sleep } from '@temporalio/workflow';
import type { Compared, InTurn, Wanted } from '../../activities/reconcile';
import type { CallFailure } from '../../domain/failures';
import { workflowIdOf } from '../../domain/identity';
import { repairReference, type ReconcileRequest } from '../../domain/reconcile';
import { activities } from '../../saga/activities';
import { found, idOf, show, startBeside, tryToLook, unseen, type Sweep, type ToCompare } from './sweep';

/** After this many servers in a row without an answer, it asks whether the provider is there at all. */
const inDoubtFrom = 3;

/** The provider counts as away after so many without any answer: the first ones, and then some at random. */
const awayFrom = 6;

/** After this time a repair is not wanted any more: who was told to wait meanwhile may want something else. */
const repairWithinMs = 2 * 60_000;

/** A server that lacks firewalls, as far as the journal knows; without an id it cannot be compared. */
export function noteUnprotected({ servers }: ReconcileRequest, sweep: Sweep, open: InTurn['open'][number]): void {
  const { vmObjectId, firewalls } = open;
  const server = vmObjectId === undefined ? undefined : added(sweep, { vmObjectId }, servers);
  if (server === undefined) {
    found(sweep, { kind: 'server-unprotected', saga: idOf(open), vmObjectId, firewalls });
  } else {
    const { firewalls: before = [], saidMs = 0 } = server.unprotected ?? {};
    server.unprotected = {
      saga: idOf(open),
      firewalls: [...new Set([...before, ...firewalls])],
      saidMs: Math.max(saidMs, Date.parse(open.since)),
    };
  }
}

function added(sweep: Sweep, server: ToCompare, most: number): ToCompare | undefined {
  const known = sweep.servers.find(({ vmObjectId }) => vmObjectId === server.vmObjectId);
  if (known !== undefined) return known;
  if (sweep.servers.length >= most) return undefined;
  sweep.servers.push(server);
  return server;
}

/** @returns how many of these, in their order, the request allows */
export function toCompareInTurn({ servers: most }: ReconcileRequest, sweep: Sweep, { after, servers }: InTurn): number {
  const full = servers.findIndex((vmObjectId, index) => {
    return added(sweep, { vmObjectId, behind: servers[index - 1] ?? after }, most) === undefined;
  });
  return full === -1 ? servers.length : full;
}

/**
 * The provider is away where nothing is answered: then the rest of the servers cannot be looked at. Where some are,
 * each that is not is told by itself. So that a few new or deleted servers do not look like an outage, nor with each
 * sweep, others are asked at random where none has answered, and one that has answered is asked again.
 *
 * @param goOn in another run, where this one grows too long
 */
export async function compareServers(
  request: ReconcileRequest,
  sweep: Sweep,
  goOn: () => Promise<void>,
): Promise<void> {
  const { servers, unanswered } = sweep;
  while (servers.length > 0) {
    await goOn();
    show(sweep, `Comparing the firewalls of servers: ${servers.length} are left`);
    // A pause follows so many at once, so that no second has more.
    const atOnce = Math.max(1, Math.floor(request.perSecond));
    const pauseMs = Math.ceil((atOnce / request.perSecond) * 1_000);
    await Promise.all(servers.slice(0, atOnce).map((server) => compare(request, sweep, server)));
    servers.splice(0, atOnce);
    if (servers.length === 0) break;
    if (unanswered.length >= inDoubtFrom && (await isAway(sweep))) return couldNotCompare(sweep);
    await sleep(pauseMs);
  }
  if (sweep.answeredFor === undefined) couldNotCompare(sweep);
  else tellUnanswered(sweep);
}

async function isAway(sweep: Sweep): Promise<boolean> {
  const { answeredFor: vmObjectId, servers, unanswered } = sweep;
  if (vmObjectId === undefined) {
    if (unanswered.length >= awayFrom) return true;
    servers.unshift(...servers.splice(Math.floor(Math.random() * servers.length), 1));
    return false;
  }
  if ((await ask(vmObjectId)).how === 'unanswered') return true;
  tellUnanswered(sweep);
  return false;
}

function couldNotCompare(sweep: Sweep): void {
  const { servers, unanswered } = sweep;
  for (const { vmObjectId, failure } of unanswered) unseen(sweep, `server ${vmObjectId}`, failure);
  for (const server of servers) tellUncompared(sweep, server);
  const last = unanswered.at(-1);
  if (last && servers.length > 0) unseen(sweep, `${servers.length} more servers`, last.failure);
  const next = servers.find(({ behind }) => behind !== undefined)?.behind;
  if (next !== undefined) sweep.report.next = next;
}

/** Reports what it lacks as far as the journal knows. */
function tellUncompared(sweep: Sweep, { vmObjectId, unprotected: told }: ToCompare): void {
  if (told) found(sweep, { kind: 'server-unprotected', saga: told.saga, vmObjectId, firewalls: [...told.firewalls] });
}

function tellUnanswered(sweep: Sweep): void {
  for (const { vmObjectId, failure } of sweep.unanswered.splice(0)) {
    found(sweep, { kind: 'server-unseen', vmObjectId, why: failure.message });
  }
}

type Asked = Compared | { how: 'refused'; why: string } | { how: 'unanswered'; failure: CallFailure };

async function ask(vmObjectId: number, wanted?: Wanted): Promise<Asked> {
  const settled = await tryToLook(`compare-firewalls-${vmObjectId}`, ({ retry }) =>
    activities(`compare the firewalls of ${vmObjectId}`).compareFirewalls({ vmObjectId, wanted, retry }),
  );
  if (settled.ok) return settled.value;
  const { failure } = settled;
  return failure.failure === 'Rejected' ? { how: 'refused', why: failure.message } : { how: 'unanswered', failure };
}

async function compare(request: ReconcileRequest, sweep: Sweep, server: ToCompare): Promise<void> {
  const { looked } = sweep.report;
  const { vmObjectId, unprotected: told } = server;
  const value = await ask(vmObjectId, told && { firewalls: told.firewalls, saidMs: told.saidMs });
  if (value.how !== 'compared') tellUncompared(sweep, server);
  if (value.how === 'unanswered') {
    sweep.unanswered.push({ vmObjectId, failure: value.failure });
    return;
  }
  if (value.how === 'busy' || value.how === 'gone') {
    looked[value.how === 'busy' ? 'busy' : 'servers'] += 1;
    return;
  }
  sweep.answeredFor = vmObjectId;
  tellUnanswered(sweep);
  if (value.how === 'refused') looked.servers += 1;
  if (value.how !== 'compared') {
    found(sweep, { kind: 'server-unseen', vmObjectId, why: value.why });
    return;
  }
  looked.servers += 1;
  const { missing, surplus, unprotected } = value;
  const lacks = [...missing, ...unprotected];
  const isRepaired = request.repair && lacks.length > 0;
  const repair = isRepaired ? { repair: await repairOf(sweep, vmObjectId, lacks) } : {};
  if (missing.length + surplus.length > 0) {
    const repaired = missing.length > 0 ? repair : {};
    found(sweep, { kind: 'firewalls-drift', vmObjectId, missing, surplus, ...repaired });
  }
  if (told !== undefined && unprotected.length > 0) {
    found(sweep, { kind: 'server-unprotected', saga: told.saga, vmObjectId, firewalls: unprotected, ...repair });
  }
}

/** A saga of its own takes its turn, and looks by itself what is not there. @returns its workflow id */
async function repairOf(sweep: Sweep, vmObjectId: number, firewalls: readonly number[]): Promise<string> {
  const reference = repairReference(sweep.report.startedAt, vmObjectId);
  const notAfter = new Date(Date.now() + repairWithinMs).toISOString();
  const request = { reference, vmObjectId, assign: firewalls, notAfter };
  const staticSummary = `assign ${firewalls.length} firewalls to server ${vmObjectId} again: a sweep has missed them`;
  await startBeside('setFirewalls', request, { staticSummary, workflowIdReusePolicy: 'REJECT_DUPLICATE' });
  return workflowIdOf('setFirewalls', reference);
}
