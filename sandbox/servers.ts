/** The servers' side: firewall assignment, rows 8–10, and the optional directory of servers. */
import { z } from 'zod';
import type { FirewallsChanged, Ledger } from './ledger';
import { type Answer, firewallListAnswer, plainAnswer, refusal } from './responses';
import { checkFirewalls } from './rules';
import { servers } from './sentences';
import type { Settings } from './settings';

const id = z.int().positive();

export const serverSeedSchema = z.strictObject({
  vmObjectId: id,
  account: z.string().optional(),
  label: z.string().optional(),
  /** Its firewalls from the start. */
  firewalls: z.array(id).optional(),
});

export type ServerSeed = z.infer<typeof serverSeedSchema>;

export class Servers {
  /** Has a key for every server that was built or seeded, or (with `anyServer`) that was assigned firewalls. */
  private readonly firewalls = new Map<number, number[]>();
  private nextVmObjectId = 9001;
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
  }

  /** A new server, for an order. It has no firewalls: the document gives it none. */
  build(): number {
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
    return this.change('firewallsUnassigned', vmObjectId, body, (before, asked) =>
      before.filter((id) => !asked.includes(id)),
    );
  }

  /** Row 10. */
  listFirewalls(vmObjectId: number | null): Answer {
    if (vmObjectId === null || !this.exists(vmObjectId)) return noServer();
    return firewallListAnswer(this.settings().firewallListResponse, this.firewalls.get(vmObjectId) ?? []);
  }

  /** The directory: it shows an order's servers after it was asked for them `lag` times. */
  findServers(query: URLSearchParams): Answer {
    const { directory } = this.settings();
    if (directory === false) return refusal(404, 'There is no such path');
    const account = query.get('account');
    const label = query.get('label');
    const found = servers(this.ledger).filter(
      (server) => (account === null || server.account === account) && (label === null || server.label === label),
    );
    for (const orderId of new Set(found.map((server) => server.orderId))) {
      if (orderId !== null) this.lookedFor.set(orderId, (this.lookedFor.get(orderId) ?? 0) + 1);
    }
    const data = found
      .filter(({ orderId }) => orderId === null || (this.lookedFor.get(orderId) ?? 0) > directory.lag)
      .map((server) => ({ vm_object_id: server.vmObjectId, label: server.label, account: server.account }));
    return { status: 200, body: { data } };
  }

  private exists(vmObjectId: number): boolean {
    return this.firewalls.has(vmObjectId) || (this.settings().anyServer && vmObjectId > 0);
  }

  private change(
    type: FirewallsChanged['type'],
    vmObjectId: number | null,
    body: unknown,
    combine: (before: number[], asked: number[]) => number[],
  ): Answer {
    const checked = checkFirewalls(body, this.settings());
    if (!checked.ok) return refusal(422, 'The firewalls are not valid', checked.errors);
    if (vmObjectId === null || !this.exists(vmObjectId)) return noServer();
    const asked = checked.value.firewalls.map((firewall) => firewall.id);
    const { knownFirewalls, plainResponse } = this.settings();
    const unknown = knownFirewalls === null ? [] : asked.filter((id) => !knownFirewalls.includes(id));
    if (unknown.length > 0) {
      const errors = unknown.map((id) => `firewalls: ${id} does not exist`);
      return refusal(422, 'There is no such firewall', errors);
    }
    const before = this.firewalls.get(vmObjectId) ?? [];
    const after = combine(before, asked);
    this.firewalls.set(vmObjectId, after);
    this.ledger.tookEffect<FirewallsChanged>({ type, vmObjectId, firewalls: asked, before, after });
    return plainAnswer(plainResponse);
  }
}

function noServer(): Answer {
  return refusal(404, 'There is no such server', ['vm_object_id: does not exist']);
}
