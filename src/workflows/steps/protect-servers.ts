/**
 * Protects each server that an order brought: assigns the firewalls, then verifies them in the provider's list. However
 * the saga ends, it reports servers that lack firewalls which the request asked for: a server without protection must
 * not look like one that is done.
 */
import { z } from 'zod';
import type { ReferenceState } from '../../activities/journal';
import type { Leftover } from '../../domain/outcomes';
import { fits, isExact } from '../../domain/plan-types';
import { firewallsSchema } from '../../domain/requests';
import type { Server } from '../../domain/results';
import { recordProtected } from '../../saga/shown/metrics';
import type { Step } from '../../saga/shown/progress';
import type { Saga } from '../../saga/saga';
import type { Correction } from '../../saga/people/questions';
import type { StepOutcome } from '../../saga/steps';
import type { Purchase } from './purchase';
import { readable, ServerFirewalls, shownNow, unverified, whyUnverified } from './server-firewalls';

interface Protected {
  firewalls: number[];
  /** What this run has done and seen. The journal knows what an earlier run has assigned. */
  own: ServerFirewalls;
  /** A person has left it out. */
  note?: string;
}

type Guarded = Protected & { assigning: Step; verifying: Step };

/** What earlier runs have assigned to a server, as the journal has it, and which of them the provider's list does not show. */
interface Assigned {
  vmObjectId: number;
  firewalls: number[];
  denied: number[];
}

export class Protection {
  /** Undefined until they are known; an order may bring none. */
  private servers?: Guarded[];

  constructor(
    private readonly saga: Saga,
    private readonly purchase: Purchase,
  ) {}

  begin(): void {
    delete this.servers;
  }

  /** @param vmObjectIds of the servers, which become known here */
  async protect(vmObjectIds: readonly number[]): Promise<Server[]> {
    const { progress, notices } = this.saga;
    progress.addFacts({ vmObjectIds });
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
    const { request, secrets } = this.purchase;
    const { firewalls: requested = [] } = request;
    if (requested.length === 0) return vmObjectIds.map((vmObjectId) => ({ vmObjectId, firewalls: [], verified: true }));
    this.servers = vmObjectIds.map((vmObjectId) => ({
      firewalls: [...requested],
      own: new ServerFirewalls(vmObjectId, secrets.withOthers.secrets),
      assigning: saga.step(`assign-firewalls-${vmObjectId}`, `Assign firewalls to server ${vmObjectId}`),
      verifying: saga.step(`verify-firewalls-${vmObjectId}`, `Verify firewalls of server ${vmObjectId}`),
    }));
    await this.assign(this.servers);
    const protectedServers = await this.verify(this.servers);
    this.tell([]);
    return protectedServers;
  }

  /** For a saga that does not reach its end. One that was cancelled in its last moment has reported already. */
  async report(standing: ReferenceState | undefined): Promise<void> {
    const { saga, purchase } = this;
    if (!saga.isPlaced || saga.isCancelled) return;
    const { assigned = [], bought, placement } = standing ?? {};
    const isSeen = (id: number) =>
      this.servers?.some(({ own }) => own.vmObjectId === id && own.denied !== undefined) === true;
    const known = await lookAtAssigned(saga, assigned, (id) => placement?.how !== 'placed' || isSeen(id));
    // Another run may have corrected the request before it ordered.
    const { ordered, vmObjectIds } = bought ?? { ordered: purchase.ordered, vmObjectIds: [] };
    const isAll = vmObjectIds.length > 0 && fits(vmObjectIds.length, ordered);
    const protectedIds = known.map(({ vmObjectId }) => vmObjectId);
    const areAll = isExact(ordered) && protectedIds.length === ordered.most;
    this.tell(known, isAll ? vmObjectIds : areAll ? protectedIds : undefined);
  }

  /** @param ids where all of them are known */
  private tell(known: readonly Assigned[], ids?: readonly number[]): void {
    const { saga } = this;
    const { firewalls: wanted = [] } = this.purchase.request;
    if (wanted.length === 0 || saga.progress.leftovers.some(isOfServer)) return;
    const unseen = (id: number): Protected => ({ firewalls: [...wanted], own: new ServerFirewalls(id) });
    const servers = this.servers ?? ids?.map(unseen);
    if (servers === undefined) {
      const why = 'the saga ended before the object ids of the servers were known';
      saga.progress.addLeftovers({ kind: 'server-unprotected', firewalls: [...wanted], why });
    }
    for (const server of servers ?? []) saga.progress.addLeftovers(...leftoversOf(server, known));
  }

  private async assign(servers: readonly Guarded[]): Promise<void> {
    const outcomes = await this.saga.together<unknown>(
      servers.map((server) =>
        server.own.changing(server.assigning, 'assignFirewalls', () => {
          const { firewalls } = server;
          return { firewalls, shows: { expect: firewalls }, countsByHand: true };
        }),
      ),
      { refusal: 'ask', skippable: true, corrections: { stuck: correctionOf(servers) } },
    );
    servers.forEach((server, index) => keepNote(server, outcomes[index]));
  }

  private async verify(servers: readonly Guarded[]): Promise<Server[]> {
    const { saga } = this;
    const assigned = servers.filter(({ assigning }) => assigning.status === 'done');
    // The server lacks what the list does not show, whatever the answer to the assignment was.
    const outcomes = await saga.together(
      assigned.map(({ firewalls: expect, own, verifying }) =>
        own.looking(
          verifying,
          () => ({ expect }),
          (list) => {
            if (list === undefined || readable(list)?.active) recordProtected();
          },
        ),
      ),
    );
    return servers.map((server) => {
      const outcome = outcomes[assigned.indexOf(server)];
      keepNote(server, outcome);
      const { firewalls, own, verifying } = server;
      const { vmObjectId, seen: list, denied } = own;
      if (outcome === undefined) {
        verifying.end('skipped');
        return { vmObjectId, firewalls: [], verified: false };
      }
      const shown = readable(list);
      if (shown?.active) return { vmObjectId, firewalls: shown.firewalls, verified: true };
      if (list) verifying.setDetail(`unverified: ${whyUnverified(list)}`);
      return { vmObjectId, firewalls: firewalls.filter((id) => !denied?.lacks?.includes(id)), verified: false };
    });
  }
}

/**
 * For a saga that ends: what was assigned counts as protection only while the provider's list does not deny it. Nobody
 * else may have looked. A list that cannot be read denies nothing.
 *
 * @param isSeen those are not looked at
 */
export async function lookAtAssigned(
  saga: Saga,
  assigned: ReferenceState['assigned'],
  isSeen = (_vmObjectId: number) => false,
): Promise<Assigned[]> {
  const known: Assigned[] = [];
  for (const vmObjectId of new Set(assigned.map((one) => one.vmObjectId))) {
    const firewalls = assigned.flatMap((one) => (one.vmObjectId === vmObjectId ? one.firewalls : []));
    const shown = isSeen(vmObjectId) ? undefined : await shownNow(saga, { vmObjectId, secrets: 'unknown' });
    const denied = shown ? firewalls.filter((id) => !(shown.active ?? shown.firewalls).includes(id)) : [];
    known.push({ vmObjectId, firewalls, denied });
  }
  return known;
}

const isOfServer = ({ kind }: Leftover) => kind === 'server-unprotected' || kind === 'server-unverified';

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

function leftoversOf(server: Protected, known: readonly Assigned[]): Leftover[] {
  const { firewalls, own, note } = server;
  const { vmObjectId, seen: list } = own;
  const lacks = own.denied && (own.denied.lacks ?? []);
  if (list && !readable(list)?.active) return [unverified(vmObjectId, firewalls, list)];
  if (own.isUndeclared && lacks === undefined) return [unverified(vmObjectId, firewalls)];
  const assigned = known.find((one) => one.vmObjectId === vmObjectId);
  const before = own.isChanged ? firewalls : (assigned?.firewalls ?? []);
  const isThere = (id: number) => before.includes(id) && assigned?.denied.includes(id) !== true;
  const missing = lacks ?? firewalls.filter((id) => !isThere(id));
  if (missing.length === 0) return [];
  const isDenied = lacks !== undefined || missing.every((id) => before.includes(id));
  const what = isDenied ? 'the provider’s list does not show them' : 'they were not assigned';
  const why = note === undefined ? `the saga ended: ${what}` : `${what}; a person left it out: ${note}`;
  return [{ kind: 'server-unprotected', vmObjectId, firewalls: missing, why }];
}
