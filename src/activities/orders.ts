/** The order itself (row 1), and where its servers are. Nothing here can be undone. */
import { definedOnly } from '../domain/defined-only';
import type { Effected, Placement } from '../domain/effects';
import { countOf, type ServersOrdered } from '../domain/plan-types';
import type { SentSecrets } from '../domain/secrets';
import type { OrderBody } from '../provider/schemas';
import { readPointers } from '../provider/json-pointer';
import type { ProviderClient } from '../provider/client';
import { rawResponse, type CallContext, type Call } from './call';
import type { Effect, EffectContext } from './effect';
import type { ActivitySettings } from './settings';
import type { ReadTold } from './secrets-sent';
import { OwnFailure } from './translate-failure';

export interface PlaceOrder extends EffectContext {
  order: OrderBody;
}

export interface PlacedOrder {
  /** The response, of undocumented format, unchanged except for secrets. */
  order: unknown;
  /** Object ids that the configured pointers found in the response. */
  vmObjectIds?: number[];
  /** True where a server directory is configured that may know them. */
  directory?: boolean;
}

export interface FindServers extends CallContext {
  account: string;
  label?: string | undefined;
  /** Only `most` servers are an answer: with fewer, some may still be missing; with more, others are among them. */
  expected: ServersOrdered;
  /** True where the order's outcome is unknown: only a directory with unique labels may answer that. */
  settles?: boolean;
  /** The secrets that were sent with the order. */
  secrets?: SentSecrets;
}

export function createOrderActivities(
  provider: ProviderClient,
  call: Call,
  effect: Effect,
  settings: ActivitySettings,
  readSecrets: ReadTold,
) {
  return {
    /**
     * Row 1: a pivot. A second call buys a second time, so an order that was placed before, or may have been, is not
     * sent again. Fails with `TakenBack` where a cart item that it names was deleted since.
     */
    placeOrder({ order, ...input }: PlaceOrder): Promise<Effected<Placement<PlacedOrder>>> {
      return effect({ kind: 'pivot', about: { cartItems: order.cartItems } }, input, async (options) => {
        const answer = await provider.placeOrder(order, options);
        const vmObjectIds = readPointers(settings.serverPointers, answer);
        return {
          how: 'answered',
          value: {
            order: provider.blank(rawResponse(answer), options.secrets),
            ...(vmObjectIds.length > 0 ? { vmObjectIds } : {}),
            ...(settings.directory ? { directory: true } : {}),
          },
        };
      });
    },

    /**
     * Asks the optional server directory, which is not in the document. Fails with `NotVisibleYet` until it lists as
     * many servers as were ordered at most. Returns none, without a call, where no directory is configured that can
     * answer.
     */
    findServers(input: FindServers): Promise<number[]> {
      return call('poll', input, async () => {
        const { directory } = settings;
        const usable =
          directory !== undefined && (!input.settles || (directory.labelIsUnique && input.label !== undefined));
        if (!usable) return [];
        if (directory.path.includes('{label}') && input.label === undefined) return [];
        const secrets = await readSecrets(input.secrets);
        const { account, label } = input;
        const listed = await provider.findServers(
          { path: directory.path, account, ...definedOnly({ label }) },
          { secrets },
        );
        const vmObjectIds = readPointers(directory.pointers, listed);
        if (vmObjectIds.length === input.expected.most) return vmObjectIds;
        throw new OwnFailure(
          'NotVisibleYet',
          `the server directory lists ${vmObjectIds.length} of ${countOf(input.expected)} servers`,
        );
      });
    },
  };
}
