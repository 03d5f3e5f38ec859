/** Firewalls of one server: assigned (row 8), unassigned (row 9), listed (row 10). Each of the first two undoes the other. */
import { readFirewallIds } from '../provider/schemas';
import type { ProviderClient } from '../provider/client';
import { asItCame, type Asked, type Call } from './call';
import { currentRun } from './pivot-guard';
import type { Mood } from './settings';
import { OwnFailure } from './translate-failure';

export interface ChangeFirewalls extends Asked {
  vmObjectId: number;
  firewalls: number[];
  /** True where it puts back what an earlier step changed: it is tried longer then. */
  undoing?: boolean;
}

export interface UnassignFirewalls extends ChangeFirewalls {
  /**
   * What was assigned before and protects the server instead, and the run that has seen to it. In a later run, which came from a
   * reset, the earlier one may have taken it back again: then it is looked up first.
   */
  instead?: { firewalls: number[]; firstRunId: string };
}

export interface ListFirewalls extends Asked {
  vmObjectId: number;
  /** Fail with `NotThere`, and so look again later, until the list shows all of these and none of {@link without}. */
  expect?: number[];
  without?: number[];
}

/** The list's shape is undocumented; where no ids can be read from it, it is kept as it came and nothing is concluded. */
export type FirewallList = { firewalls: number[] } | { unreadable: unknown };

export function createFirewallActivities(provider: ProviderClient, call: Call) {
  const mood = (input: ChangeFirewalls): Mood => (input.undoing ? 'undoing' : 'acting');

  async function requireAssigned(vmObjectId: number, wanted: readonly number[]): Promise<void> {
    const assigned = readFirewallIds(await provider.listFirewalls(vmObjectId)) ?? [];
    const missing = wanted.filter((id) => !assigned.includes(id));
    if (missing.length === 0) return;
    throw new OwnFailure(
      'NotThere',
      `the firewalls ${missing.join(', ')}, which should protect server ${String(vmObjectId)} instead, are not assigned; an earlier run may have taken them back`,
    );
  }

  return {
    /** Row 8. A second call assigns what is assigned already. */
    assignFirewalls(input: ChangeFirewalls): Promise<void> {
      return call(mood(input), input, async () => {
        await provider.assignFirewalls(input.vmObjectId, input.firewalls);
      });
    },

    /** Row 9. Fails with `NotThere`, and sends nothing, where what should protect the server instead is not assigned. */
    unassignFirewalls(input: UnassignFirewalls): Promise<void> {
      return call(mood(input), input, async () => {
        const { instead } = input;
        if (instead && instead.firstRunId !== currentRun().runId)
          await requireAssigned(input.vmObjectId, instead.firewalls);
        await provider.unassignFirewalls(input.vmObjectId, input.firewalls);
      });
    },

    /** Row 10: no effect. */
    listFirewalls(input: ListFirewalls): Promise<FirewallList> {
      return call('reading', input, async () => {
        const response = await provider.listFirewalls(input.vmObjectId);
        const firewalls = readFirewallIds(response);
        if (firewalls === undefined) return { unreadable: asItCame(response) };
        const missing = (input.expect ?? []).filter((id) => !firewalls.includes(id));
        const surplus = (input.without ?? []).filter((id) => firewalls.includes(id));
        if (missing.length + surplus.length === 0) return { firewalls };
        const said = [
          ...(missing.length > 0 ? [`does not show ${missing.join(', ')}`] : []),
          ...(surplus.length > 0 ? [`still shows ${surplus.join(', ')}`] : []),
        ];
        throw new OwnFailure(
          'NotThere',
          `the provider's firewall list of server ${String(input.vmObjectId)} ${said.join(' and ')}`,
        );
      });
    },
  };
}
