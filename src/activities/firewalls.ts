/** Firewalls of one server: assigned (row 8), unassigned (row 9), listed (row 10). Each of the first two undoes the other. */
import type { Effected } from '../domain/effects';
import type { ToldSecrets } from '../domain/secrets';
import { readFirewallIds } from '../provider/schemas';
import type { ProviderClient } from '../provider/client';
import { asItCame, type Asked, type Call } from './call';
import type { Effect, EffectAsked } from './effect';
import type { ReadTold } from './told-secrets';
import { OwnFailure } from './translate-failure';

export interface ChangeFirewalls extends EffectAsked {
  vmObjectId: number;
  firewalls: number[];
  /** True where it puts back what an earlier step changed: it is tried longer then. */
  undoing?: boolean;
  /** True where no list has said since that it is not so: what a person has done by hand is not sent again. */
  countsByHand?: boolean;
}

export interface UnassignFirewalls extends ChangeFirewalls {
  /** Steps whose firewalls protect the server instead: `TakenBack`, and nothing is sent, where they no longer do. */
  restsOn?: string[];
}

export interface ListFirewalls extends Asked {
  vmObjectId: number;
  /** Fail with `NotThere`, and so look again later, until the list shows all of these and none of {@link without}. */
  expect?: number[];
  without?: number[];
  /** What the server was ordered with. */
  secrets?: ToldSecrets;
}

/** The list's shape is undocumented; where no ids can be read from it, it is kept as it came and nothing is concluded. */
export type FirewallList = { firewalls: number[] } | { unreadable: unknown };

export function createFirewallActivities(provider: ProviderClient, call: Call, effect: Effect, told: ReadTold) {
  const specOf = ({ undoing, vmObjectId, firewalls, countsByHand }: ChangeFirewalls) =>
    ({ kind: undoing ? 'compensate' : 'mutate', about: { vmObjectId, firewalls }, countsByHand }) as const;

  return {
    /** Row 8. A second call assigns what is assigned already. */
    assignFirewalls(input: ChangeFirewalls): Promise<Effected<null>> {
      return effect(specOf(input), input, async (options) => {
        await provider.assignFirewalls(input.vmObjectId, input.firewalls, options);
        return null;
      });
    },

    /** Row 9. A second call finds them unassigned. */
    unassignFirewalls(input: UnassignFirewalls): Promise<Effected<null>> {
      const { restsOn } = input;
      return effect({ ...specOf(input), ...(restsOn ? { restsOn } : {}) }, input, async (options) => {
        await provider.unassignFirewalls(input.vmObjectId, input.firewalls, options);
        return null;
      });
    },

    /** Row 10: no effect. */
    listFirewalls(input: ListFirewalls): Promise<FirewallList> {
      return call('reading', input, async () => {
        const secrets = await told(input.secrets);
        const response = await provider.listFirewalls(input.vmObjectId, { secrets });
        const firewalls = readFirewallIds(response);
        if (firewalls === undefined) return { unreadable: provider.blank(asItCame(response), secrets) };
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
          { lacks: missing },
        );
      });
    },
  };
}
