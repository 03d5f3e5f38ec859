/**
 * Protects each server that an order brought: assigns the firewalls, then verifies them in the provider's list. However
 * the saga ends, it reports servers that lack firewalls which the request asked for: a server without protection must
 * not look like one that is done.
 */
import { z } from 'zod';
import type { CallContext } from '../../activities/call';
import type { FirewallList, Listed, ListFirewalls } from '../../activities/firewalls';
import type { Standing } from '../../activities/journal';
import { describeFailure, type CallFailure } from '../../domain/failures';
import type { Leftover } from '../../domain/outcomes';
import { fits, isExact } from '../../domain/plan-types';
import { firewallsSchema } from '../../domain/requests';
import type { Server } from '../../domain/results';
import { activities } from '../../saga/activities';
import { attempt, failureOf, type Act } from '../../saga/attempts';
import { countFailedCall, recordProtected } from '../../saga/metrics';
import { Step } from '../../saga/progress';
import type { Saga } from '../../saga/saga';
import type { Correction } from '../../saga/questions';
import type { StepOutcome, StepSpec } from '../../saga/steps';
import type { Purchase } from './purchase';
import type { SecretsSent } from './secrets-sent';

/** A list would show this, says a person who has looked elsewhere. It does not count as verified: only the list does. */
export const seenByHand = 'seen';

interface Protected {
  vmObjectId: number;
  firewalls: number[];
  /** This run has assigned them. The journal knows what an earlier run has assigned. */
  isAssigned?: boolean;
  /** Nobody has declared what the answer to the assignment means. */
  undeclared?: true | undefined;
  /** The list, where the call that assigned them has seen them in it. */
  shown?: FirewallList | undefined;
  /** Why that call could not look. */
  lookFailed?: CallFailure | undefined;
  /** The provider's list does not show these of them; undefined until this run has looked, or a person has. */
  lacks?: number[];
  /** The provider's list, where it does not say that they are active. */
  unverified?: FirewallList;
  note?: string;
}

type Guarded = Protected & { assigning: Step; verifying: Step };

/** By server: the firewalls that earlier runs have assigned, and the provider's list does not show. */
type Denied = ReadonlyMap<number, readonly number[]>;

/** The journal's knowledge of the servers beyond this run. */
interface Known {
  /** By earlier runs, as the journal has it. */
  assigned: Standing['assigned'];
  denied: Denied;
  /** Object ids, where all of them are known. */
  ids: readonly number[] | undefined;
}

const nothingKnown: Known = { assigned: [], denied: new Map(), ids: undefined };

export class Protection {
  /** Undefined until they are known; an order may bring none. */
  private servers?: Guarded[];

  constructor(
    private readonly saga: Saga,
    private readonly purchase: Purchase,
  ) {}

  /** @param vmObjectIds of the servers, which become known here */
  async protect(vmObjectIds: readonly number[]): Promise<Server[]> {
    const { progress, notices } = this.saga;
    progress.learn({ vmObjectIds });
    progress.nameServers(vmObjectIds);
    const told = { vmObjectIds: vmObjectIds.slice(0, 100) };
    if (vmObjectIds.length > 0) notices.tellProgress('servers', told);
    const servers = await this.protectEach(vmObjectIds);
    const isProtected =
      servers.some(({ firewalls }) => firewalls.length > 0) && servers.every(({ verified }) => verified);
    if (isProtected) notices.tellProgress('protected', told);
    return servers;
  }

  private async protectEach(vmObjectIds: readonly number[]): Promise<Server[]> {
    const { saga } = this;
    const { firewalls: requested = [] } = this.purchase.request;
    if (requested.length === 0) return vmObjectIds.map((vmObjectId) => ({ vmObjectId, firewalls: [], verified: true }));
    this.servers = vmObjectIds.map((vmObjectId) => ({
      vmObjectId,
      firewalls: [...requested],
      assigning: saga.step(`assign-firewalls-${vmObjectId}`, `Assign firewalls to server ${vmObjectId}`),
      verifying: saga.step(`verify-firewalls-${vmObjectId}`, `Verify firewalls of server ${vmObjectId}`),
    }));
    await this.assign(this.servers);
    const protectedServers = await this.verify(this.servers);
    this.tell(nothingKnown);
    return protectedServers;
  }

  /** For a saga that does not reach its end. One that was cancelled in its last moment has reported already. */
  async report(standing: Standing | undefined): Promise<void> {
    const { saga, purchase } = this;
    if (!saga.isPlaced || saga.isCancelled) return;
    const { assigned = [], bought, placement } = standing ?? {};
    const denied =
      placement?.how === 'placed' ? await lookAtAssigned(saga, assigned, this.servers) : new Map<number, number[]>();
    // Another run may have corrected the request before it ordered.
    const { ordered, vmObjectIds } = bought ?? { ordered: purchase.ordered, vmObjectIds: [] };
    const isAll = vmObjectIds.length > 0 && fits(vmObjectIds.length, ordered);
    const protectedIds = [...new Set(assigned.map(({ vmObjectId }) => vmObjectId))];
    const areAll = isExact(ordered) && protectedIds.length === ordered.most;
    this.tell({ assigned, denied, ids: isAll ? vmObjectIds : areAll ? protectedIds : undefined });
  }

  private tell(known: Known): void {
    const { saga } = this;
    const { firewalls: wanted = [] } = this.purchase.request;
    if (wanted.length === 0 || saga.progress.leftovers.some(isOfServer)) return;
    const servers = this.servers ?? known.ids?.map((id): Protected => ({ vmObjectId: id, firewalls: [...wanted] }));
    if (servers === undefined) {
      const why = 'the saga ended before the object ids of the servers were known';
      saga.progress.leave({ kind: 'server-unprotected', firewalls: [...wanted], why });
    }
    for (const server of servers ?? []) saga.progress.leave(...leftoversOf(server, known));
  }

  private async assign(servers: readonly Guarded[]): Promise<void> {
    const { secrets } = this.purchase;
    const outcomes = await this.saga.together(
      servers.map((server): StepSpec<unknown> => ({
        step: server.assigning,
        act: async (asked) => {
          const shows = { expect: server.firewalls };
          const assigning = { ...idsOf(server), shows, countsByHand: true, ...secrets.withOthers, ...asked };
          const answer = await activities(`assign firewalls to ${server.vmObjectId}`).assignFirewalls(assigning);
          server.isAssigned = true;
          server.shown = answer.value.list;
          server.lookFailed = answer.value.failed;
          server.undeclared = answer.value.undeclared;
          return answer;
        },
        byHand: {
          counts: () => (server.isAssigned = true),
          call: (step) => ({ step, kind: 'mutate', activity: 'assignFirewalls', about: idsOf(server) }),
        },
      })),
      { refusal: 'ask', skippable: true, corrections: { stuck: correctionOf(servers) } },
    );
    servers.forEach((server, index) => keepNote(server, outcomes[index]));
  }

  private async verify(servers: readonly Guarded[]): Promise<Server[]> {
    const { saga } = this;
    const { secrets } = this.purchase;
    const assigned = servers.filter(({ assigning }) => assigning.status === 'done');
    const outcomes = await saga.together(
      assigned.map((server): StepSpec<FirewallList | typeof seenByHand> => ({
        step: server.verifying,
        act: ({ retry }) => {
          tellFailedLook(server.assigning, server.lookFailed);
          delete server.lookFailed;
          return listUntilShown(server, secrets, retry);
        },
        byHand: {
          counts: () => {
            server.lacks = [];
            recordProtected();
            return seenByHand;
          },
        },
      })),
    );
    return servers.map((server) => {
      const outcome = outcomes[assigned.indexOf(server)];
      keepNote(server, outcome);
      if (outcome === undefined) {
        server.verifying.end('skipped');
        return { vmObjectId: server.vmObjectId, firewalls: [], verified: false };
      }
      const { vmObjectId, firewalls, lacks = [], verifying } = server;
      const list = outcome.skipped || outcome.value === seenByHand ? undefined : outcome.value;
      const shown = list && readable(list);
      if (shown?.active) return { vmObjectId, firewalls: shown.firewalls, verified: true };
      if (list) {
        verifying.say(`unverified: ${whyUnverified(list)}`);
        server.unverified = list;
      }
      return { vmObjectId, firewalls: firewalls.filter((id) => !lacks.includes(id)), verified: false };
    });
  }
}

/**
 * For a saga that ends: what was assigned counts as protection only while the provider's list does not deny it. Nobody
 * else may have looked. A list that cannot be read denies nothing.
 *
 * @param servers of this run: those that it has looked at are left out
 */
export async function lookAtAssigned(
  saga: Saga,
  assigned: Standing['assigned'],
  servers: readonly Protected[] = [],
): Promise<Denied> {
  const denied = new Map<number, readonly number[]>();
  const isOwn = (id: number) => servers.some((one) => one.vmObjectId === id && one.lacks !== undefined);
  for (const vmObjectId of new Set(assigned.map((one) => one.vmObjectId))) {
    if (isOwn(vmObjectId)) continue;
    const shown = await shownNow(saga, { vmObjectId, secrets: 'unknown' });
    if (shown === undefined) continue;
    const all = assigned.flatMap((one) => (one.vmObjectId === vmObjectId ? one.firewalls : []));
    const missing = all.filter((id) => !(shown.active ?? shown.firewalls).includes(id));
    if (missing.length > 0) denied.set(vmObjectId, missing);
  }
  return denied;
}

/** Asks nobody. @returns undefined where the list cannot be seen, or not be read */
export async function shownNow(saga: Saga, listing: Omit<ListFirewalls, 'retry'>): Promise<Listed | undefined> {
  const summary = `list firewalls of ${listing.vmObjectId}`;
  const act: Act<FirewallList> = ({ retry }) => activities(summary).listFirewalls({ ...listing, retry });
  const looked = await attempt({ step: new Step('list-firewalls', summary), act }, saga, true);
  return looked.ok ? readable(looked.value) : undefined;
}

export function readable(list: FirewallList): Listed | undefined {
  return 'firewalls' in list ? list : undefined;
}

const isOfServer = ({ kind }: Leftover) => kind === 'server-unprotected' || kind === 'server-unverified';

const idsOf = ({ vmObjectId, firewalls }: Protected) => ({ vmObjectId, firewalls });

/** Corrects the firewalls that are not assigned yet. */
function correctionOf(servers: readonly Guarded[]): Correction {
  return {
    // To leave all out is `skip`, which is told.
    schema: () =>
      z.strictObject({ firewalls: firewallsSchema().min(1, 'must name one at least; skip leaves them out') }),
    apply: ({ firewalls }) => {
      for (const server of servers) if (server.assigning.status !== 'done') server.firewalls = firewalls as number[];
    },
  };
}

function keepNote(server: Protected, outcome: StepOutcome<unknown> | undefined): void {
  if (outcome?.skipped && outcome.note !== undefined) server.note = outcome.note;
}

/** The look in the call that assigned or unassigned has failed: it is made again before anybody is asked. */
export function tellFailedLook(step: Step, failed: CallFailure | undefined): void {
  if (failed === undefined || failed.failure === 'NotVisibleYet' || failed.failure === 'NotDeclared') return;
  step.say(`the look at the list failed: ${describeFailure(failed)}`);
  countFailedCall(failed);
}

/** The server lacks the firewalls that the list does not show, whatever the answer to the assignment was. */
async function listUntilShown(
  server: Protected,
  secrets: SecretsSent,
  retry: CallContext['retry'],
): Promise<FirewallList> {
  const { vmObjectId, firewalls } = server;
  try {
    const looking = { vmObjectId, expect: firewalls, ...secrets.withOthers, retry };
    const list = server.shown ?? (await activities(`list firewalls of ${vmObjectId}`).listFirewalls(looking));
    delete server.shown;
    server.lacks = [];
    if (readable(list)?.active) recordProtected();
    return list;
  } catch (error) {
    const lacks = failureOf(error)?.lacks;
    if (lacks !== undefined) server.lacks = lacks;
    throw error;
  }
}

function leftoversOf(server: Protected, { assigned, denied }: Known): Leftover[] {
  const { vmObjectId, firewalls, isAssigned, undeclared, unverified: list, lacks, note } = server;
  if (list) return [unverified(vmObjectId, firewalls, list)];
  if (undeclared && lacks === undefined) return [unverified(vmObjectId, firewalls)];
  const before = isAssigned
    ? firewalls
    : assigned.flatMap((one) => (one.vmObjectId === vmObjectId ? one.firewalls : []));
  const isThere = (id: number) => before.includes(id) && !denied.get(vmObjectId)?.includes(id);
  const missing = lacks ?? firewalls.filter((id) => !isThere(id));
  if (missing.length === 0) return [];
  const isDenied = lacks !== undefined || missing.every((id) => before.includes(id));
  const what = isDenied ? 'the provider’s list does not show them' : 'they were not assigned';
  const why = note === undefined ? `the saga ended: ${what}` : `${what}; a person left it out: ${note}`;
  return [{ kind: 'server-unprotected', vmObjectId, firewalls: missing, why }];
}

/** @param firewalls that it should have, and perhaps has */
export function unverified(vmObjectId: number, firewalls: readonly number[], list?: FirewallList): Leftover {
  return { kind: 'server-unverified', vmObjectId, firewalls: [...firewalls], why: whyUnverified(list) };
}

export function whyUnverified(list?: FirewallList): string {
  if (list === undefined)
    return 'what the answer means is not declared (`assign.doneIf`, `unassign.doneIf`), and no list shows it';
  return readable(list)
    ? 'the provider’s list shows them, and which of those that it shows are active is not declared (`firewalls.activeIf` of its profile)'
    : 'the provider’s list cannot be read as a whole; how it can is not declared (`firewalls` of its profile)';
}
