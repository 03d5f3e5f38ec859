/** The order itself (row 1), and where its servers are. Nothing here can be undone. */
import type { Effected, Placement } from '../domain/effects';
import { countOf, type ServersOrdered } from '../domain/plan-types';
import type { ProvisionServersRequest } from '../domain/requests';
import { describeOthers } from '../domain/servers';
import type { SentSecrets } from '../domain/secrets';
import { unlessUnreadable } from '../journal/database/errors';
import { mayBePlaced } from '../journal/views/open-references';
import type { SagaKey } from '../journal/rows';
import { claimServers, hasServers, notItsServers } from '../journal/servers';
import type { Profile } from '../domain/profile';
import type { OrderBody } from '../provider/schemas';
import { isFailure } from '../provider/errors';
import { idsAt, pairsAt, valuesAt } from '../provider/json-pointer';
import type { CallOptions } from '../provider/client';
import { type CallContext, rawResponse, sagaOf } from './call';
import { lookWithinMs, type EffectContext, type Tools } from './effect';
import { OwnFailure } from './translate-failure';

export interface PlaceOrder extends EffectContext {
  order: OrderBody;
  /** Those that each of its servers is to have, as the request says. */
  firewalls?: readonly number[] | undefined;
  /** Its servers, as the request says. */
  vmObjectIds?: readonly number[] | undefined;
  /** It brings none: no server that is there already can be taken for one of its own. */
  noServers?: boolean | undefined;
}

export interface PlacedOrder {
  /** The response, of undocumented format, unchanged except for secrets. */
  order: unknown;
  /** As the profile's `order.orderId` finds it. */
  orderId?: string;
  /** Object ids that the profile's `order.servers` finds in the response. */
  vmObjectIds?: number[] | undefined;
  /** The journal has all of them as those of this order, and none was there before. */
  areOurs?: boolean;
  /** True where a server directory is configured that may know them. */
  directory?: boolean;
  /** True where the response has no ids where `order.servers` points, or not of each server. */
  pointsNowhere?: boolean;
}

export interface FindServers extends CallContext {
  account: string;
  label?: string | undefined;
  /** Only `most` servers are an answer: with fewer, some may still be missing; with more, others are among them. */
  expected: ServersOrdered;
  /** True where the order's outcome is unknown: only a directory with unique labels may answer that. */
  settles?: boolean | undefined;
  /** The secrets that were sent with the order. */
  secrets?: SentSecrets;
}

export function createOrderActivities({ provider, journal, activity, effect, readSecrets, settings }: Tools) {
  const { directory, order: { servers, orderId } = {} } = settings.profile ?? {};
  /** @returns undefined where no directory is configured that can be asked for them */
  const listServers = async (
    { account, label }: Pick<OrderBody, 'account' | 'label'>,
    options: CallOptions,
  ): Promise<number[] | undefined> => {
    if (directory === undefined || (asksForLabel(directory) && label === undefined)) return undefined;
    const { path, servers, labels } = directory;
    const answer = await provider.findServers({ path, account, label }, options);
    if (labels === undefined || label === undefined) return idsAt(servers, answer);
    // It may have searched for a part of the label, in any case.
    const own = pairsAt(servers, labels, answer).filter(([, found]) => found.length === 1 && found[0] === label);
    return idsAt('/*/0/*', own);
  };
  /** Rivals that the directory would list as well. */
  const rivalsIn = async (rivals: readonly SagaKey[], label: string | undefined): Promise<SagaKey[]> => {
    const isReadBack = directory?.labels !== undefined && label !== undefined;
    if (!isReadBack && !(directory && asksForLabel(directory))) return [...rivals];
    const alike = await Promise.all(
      rivals.map(async (rival) => {
        const request = await unlessUnreadable(journal.correctedRequest(rival));
        const { label: other = '' } = (request ?? {}) as Partial<ProvisionServersRequest>;
        if (request === undefined || isReadBack) return request === undefined || other === label;
        // Nobody knows how a provider compares: perhaps it searches for a part, in any case.
        return other.toLowerCase().includes((label ?? '').toLowerCase());
      }),
    );
    return rivals.filter((_, index) => alike[index]);
  };

  return {
    /**
     * Row 1: a pivot. A second call buys a second time, so an order that was placed before, or may have been, is not
     * sent again. Fails with `StateChanged` where a cart item that it names was deleted since. Where there is a server
     * directory, it is asked before one is sent: what it lists then is not of this order.
     */
    async placeOrder({
      order,
      firewalls,
      vmObjectIds: named,
      noServers,
      ...input
    }: PlaceOrder): Promise<Effected<Placement<PlacedOrder>>> {
      const { cartItems } = order;
      const about = { cartItems, firewalls: firewalls?.length ? firewalls : undefined, vmObjectIds: named };
      const lookFirst = async () => {
        if (noServers || directory === undefined || (await mayBePlaced(journal, sagaOf().saga))) return {};
        const secrets = await readSecrets(input.secrets);
        const looking = listServers(order, { secrets, withinMs: lookWithinMs });
        const listedBefore = await looking.catch((error: unknown) => {
          if (isFailure(error, 'NotYet') && error.status === 404) return [];
          throw error;
        });
        return { listedBefore };
      };
      const placed = await effect<Placement<PlacedOrder>>(
        { kind: 'pivot', about, lookFirst },
        input,
        async (options) => {
          const answer = await provider.placeOrder(order, options);
          const vmObjectIds = servers === undefined ? [] : (idsAt(servers, answer) ?? []);
          const pointsNowhere = servers !== undefined && vmObjectIds.length === 0;
          const [id] = orderId === undefined ? [] : valuesAt(orderId, answer);
          const isId = typeof id === 'string' || typeof id === 'number';
          return {
            how: 'answered',
            value: {
              order: provider.blank(rawResponse(answer), options.secrets),
              ...(isId ? { orderId: String(provider.blank(id, options.secrets)).slice(0, 200) } : {}),
              ...(vmObjectIds.length > 0 ? { vmObjectIds } : {}),
              ...(directory ? { directory: true } : {}),
              ...(pointsNowhere ? { pointsNowhere } : {}),
            },
          };
        },
      );
      const { value } = placed;
      const ids = value.how === 'answered' ? value.value.vmObjectIds : undefined;
      if (value.how !== 'answered' || ids === undefined) return placed;
      // If the journal cannot be asked, the workflow asks it.
      const areOurs = await hasServers(journal, sagaOf().saga, ids).catch(() => false);
      return { ...placed, value: { ...value, value: { ...value.value, areOurs } } };
    },

    /**
     * Asks the optional server directory, which is not in the document. Fails with `NotVisibleYet` until it lists as
     * many servers as were ordered at most, beside those that are known to be of other orders, and while another order
     * may have brought them. Returns none, without a call, where no directory is configured that can answer.
     */
    findServers: activity('poll', async (input: FindServers) => {
      const { account, label, expected, settles } = input;
      if (settles && !(directory?.labelIsUnique && label !== undefined)) return [];
      const listed = await listServers({ account, label }, { secrets: await readSecrets(input.secrets) });
      if (listed === undefined) return [];
      const { saga } = sagaOf();
      const others = await notItsServers(journal, saga, listed, {
        youngMs: Math.max(settings.newServerWithinMs, listedWithinMs),
        account: directory?.path.includes('{account}') ? account : undefined,
      });
      const notVisible = (why: string) => new OwnFailure('NotVisibleYet', `the server directory${why}`);
      const vmObjectIds = listed.filter((id) => !others.ids.includes(id));
      if (vmObjectIds.length !== expected.most)
        throw notVisible(` lists ${vmObjectIds.length} of ${countOf(expected)} servers`);
      const [rival] = await rivalsIn(others.rivals, label);
      if (rival !== undefined)
        throw notVisible(` does not tell its servers from those of ${rival.reference}, which are not known either`);
      const claimed = settles ? [] : await claimServers(journal, saga, vmObjectIds);
      if (claimed.length > 0) throw notVisible(`:${describeOthers(claimed)}`);
      return vmObjectIds;
    }),
  };
}

/** However fast servers are new no more: an order may have been in flight while another one was placed. */
const listedWithinMs = 10 * 60_000;

function asksForLabel({ path }: NonNullable<Profile['directory']>): boolean {
  return path.includes('{label}');
}
