/** The servers' side: firewall assignment, rows 8–10, and the optional directory of servers. */
import type { Oddity } from './fault-kinds';
import type { FirewallsChanged, Ledger } from './ledger';
import {
  type Answer,
  checked,
  firewallListAnswer,
  firewallPageAnswer,
  pendingFirewallsAnswer,
  plainAnswer,
  refuse,
} from './responses';
import { firewallsSchema } from './rules';
import { firewallMoments, servers } from './sentences';
import type { Settings } from './settings';

/** A server that no order made. */
export interface ServerSeed {
  vmObjectId: number;
  account?: string;
  label?: string;
  /** Its firewalls from the start. */
  firewalls?: number[];
}

export class Servers {
  /** Has a key for every server that was built or seeded, or (with `anyServer`) that was assigned firewalls. */
  private readonly firewalls = new Map<number, number[]>();
  /** The list as it was at each time it was asked for; first the firewalls that it started with. */
  private readonly shown = new Map<number, number[][]>();
  private readonly called = new Map<number, number>();
  private nextVmObjectId = 0;
  /** For each order, how often the directory was asked for it. */
  private readonly lookedFor = new Map<number, number>();

  constructor(
    private readonly ledger: Ledger,
    private readonly settings: () => Settings,
  ) {}

  /** Throws for an id that is taken. */
  seed(server: ServerSeed): void {
    const { vmObjectId } = server;
    if (this.firewalls.has(vmObjectId)) throw new Error(`There is a server ${vmObjectId} already`);
    const firewalls = [...new Set(server.firewalls ?? [])];
    this.ledger.seeded({ vmObjectId, account: server.account ?? null, label: server.label ?? null, firewalls });
    this.firewalls.set(vmObjectId, firewalls);
    this.shown.set(vmObjectId, [firewalls]);
  }

  /** A new server, for an order. It has no firewalls: the document gives it none. */
  build(): number {
    this.nextVmObjectId = Math.max(this.nextVmObjectId, this.settings().firstVmObjectId);
    while (this.firewalls.has(this.nextVmObjectId)) this.nextVmObjectId++;
    this.firewalls.set(this.nextVmObjectId, []);
    return this.nextVmObjectId;
  }

  /** Row 8: the union of the assigned firewalls and these. */
  assignFirewalls(vmObjectId: number | null, body: unknown): Answer {
    return this.change('firewallsAssigned', vmObjectId, body, (before, asked) => [...new Set([...before, ...asked])]);
  }

  /** Row 9: the assigned firewalls without these; others in the list are ignored. */
  unassignFirewalls(vmObjectId: number | null, body: unknown): Answer {
    return this.change('firewallsUnassigned', vmObjectId, body, (before, asked) => without(before, asked));
  }

  /** Row 10. */
  listFirewalls(vmObjectId: number | null, oddity?: Oddity): Answer {
    this.mustExist(vmObjectId);
    const { firewallLag, firewallListResponse, pendingWhileLagging } = this.settings();
    const now = this.firewalls.get(vmObjectId) ?? [];
    const shown = [...(this.shown.get(vmObjectId) ?? [[]]), now];
    this.shown.set(vmObjectId, shown);
    const seen = shown[Math.max(0, shown.length - 1 - firewallLag)] ?? [];
    const isLagging = JSON.stringify(seen) !== JSON.stringify(now);
    if (oddity === 'pending') return pendingFirewallsAnswer(now, now);
    if (isLagging && pendingWhileLagging) return pendingFirewallsAnswer(now, without(now, seen));
    const last = firewallMoments(this.ledger, vmObjectId).at(-2)?.firewalls;
    const listed = oddity === 'stale' ? (last ?? seen) : seen;
    if (oddity === 'page' && listed.length > 1) return firewallPageAnswer(listed, shown.length);
    return firewallListAnswer(firewallListResponse, listed);
  }

  /** Refuses a call to a server that is not ready, or is being maintained. */
  refuseUnready(vmObjectId: number | null): void {
    if (vmObjectId === null || !this.firewalls.has(vmObjectId)) return;
    const before = this.called.get(vmObjectId) ?? 0;
    this.called.set(vmObjectId, before + 1);
    const isSeeded = this.ledger.seededServers.some((server) => server.vmObjectId === vmObjectId);
    for (const { after, calls, statuses, new: onlyNew } of this.settings().unready) {
      if (before < after || before >= after + calls || (onlyNew && isSeeded)) continue;
      refuse(statuses[vmObjectId % statuses.length] ?? 423, 'The server is not ready');
    }
  }

  /** The directory: it shows an order's servers after it was asked for them `lag` times. */
  findServers(query: URLSearchParams, oddity?: Oddity): Answer {
    const { directory } = this.settings();
    if (directory === false) refuse(404, 'There is no such path');
    const account = query.get('account');
    const label = query.get('label');
    const found = servers(this.ledger).filter(
      (server) => (account === null || server.account === account) && (label === null || server.label === label),
    );
    for (const orderId of new Set(found.map((server) => server.orderId))) {
      if (orderId !== null) this.lookedFor.set(orderId, (this.lookedFor.get(orderId) ?? 0) + 1);
    }
    const data = found
      .filter(
        ({ orderId }) => orderId === null || (oddity !== 'stale' && (this.lookedFor.get(orderId) ?? 0) > directory.lag),
      )
      .map((server) => ({ vm_object_id: server.vmObjectId, label: server.label, account: server.account }));
    return { status: 200, body: { data } };
  }

  private mustExist(vmObjectId: number | null): asserts vmObjectId is number {
    if (vmObjectId !== null && (this.firewalls.has(vmObjectId) || (this.settings().anyServer && vmObjectId > 0)))
      return;
    refuse(404, 'There is no such server', ['vm_object_id: does not exist']);
  }

  private change(
    type: FirewallsChanged['type'],
    vmObjectId: number | null,
    body: unknown,
    combine: (before: number[], asked: number[]) => number[],
  ): Answer {
    const asked = checked(firewallsSchema, body).firewalls.map((firewall) => firewall.id);
    this.mustExist(vmObjectId);
    const { knownFirewalls } = this.settings();
    const unknown = knownFirewalls === null ? [] : without(asked, knownFirewalls);
    if (unknown.length > 0) {
      const errors = unknown.map((id) => `firewalls: ${id} does not exist`);
      refuse(422, 'There is no such firewall', errors);
    }
    const before = this.firewalls.get(vmObjectId) ?? [];
    const after = combine(before, asked);
    this.firewalls.set(vmObjectId, after);
    this.ledger.tookEffect<FirewallsChanged>({ type, vmObjectId, firewalls: asked, before, after });
    return plainAnswer;
  }
}

const without = (ids: readonly number[], others: readonly number[]) => ids.filter((id) => !others.includes(id));
