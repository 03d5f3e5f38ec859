/** The activities by which a sweep looks: they change nothing, and keep in the journal who has ended a saga from outside. */
import { Context } from '@temporalio/activity';
import { workflowIdOf } from '../domain/identity';
import { isLost, type WayLost } from '../domain/lost';
import { reconcileWorkflow } from '../domain/reconcile';
import { changedLately, statedFirewalls } from '../journal/views/firewalls';
import { endedSagas, leftByLost, type ByAge, type LeftBehind } from '../journal/read-state';
import { openSagas, type LookUp } from '../journal/views/open-references';
import { isSameSaga, type SagaKey } from '../journal/rows';
import {
  countServers,
  isCancelled,
  isClosed,
  openServers,
  serversInTurn,
  sharedServers,
  type OpenServer,
  type SharedServer,
} from '../journal/servers';
import { isFailure } from '../provider/errors';
import { readFirewalls, type ListAnswer } from '../provider/firewall-list';
import { listRuns, reportOf } from '../temporal/service';
import { keepDeeds } from './deeds';
import type { Tools } from './effect';
import { OwnFailure } from './translate-failure';

/** As {@link LookUp}, with the client of the activity that asks. */
export type LookUpIn = (temporal: Context['client'], ...asked: Parameters<LookUp>) => ReturnType<LookUp>;

export type { LeftBehind };

type Unprotected = { vmObjectId: number | undefined } & Pick<OpenServer, 'firewalls'>;

export interface LostSlice {
  /** Sagas without an ending. */
  count: number;
  lost: (LeftBehind & {
    how: WayLost;
    /** Servers that it has bought, and what they lack, as the journal says. */
    unprotected: Unprotected[];
  })[];
  /** The last one of the slice; undefined where there are no more. */
  last?: SagaKey;
}

export interface LeftSlice {
  /** Sagas with an ending. */
  count: number;
  /** Those that have left something. */
  left: LeftBehind[];
  /** Only of the first slice: how many servers ended sagas have worked on, whenever they began. */
  serversKnown?: number;
  last?: ByAge;
}

/** Firewalls that a server lacks since this time, as the journal says: asked for when it was bought. */
export interface Wanted {
  firewalls: readonly number[];
  saidMs: number;
}

/** How the provider's list of a server compares with what sagas have said last. */
export type Compared =
  | { how: 'busy' }
  /** The provider has cancelled its order, or refuses to list it, as a person has expected. */
  | { how: 'gone' }
  /** The provider gives no list that can be read, or not yet; or nobody has declared which that it shows are active. */
  | { how: 'unseen'; why: string }
  | {
      how: 'compared';
      /** Not shown, although a saga has assigned them. */
      missing: number[];
      /** Shown, although a saga has unassigned them. */
      surplus: number[];
      /** Not shown as active, and asked for when the server was bought; no saga has unassigned them since. */
      unprotected: number[];
    };

/** Small enough for an activity that describes each of them. */
const sliceSize = 50;

/**
 * A slice with so many ids ends there: an answer has to fit one payload of Temporal's, also where one saga more has
 * 40,000.
 */
const idsMax = 20_000;

/** A sweep that knows so much of servers that lack firewalls fits one payload, too. */
const openCharsMax = 1_000_000;

/** Longer than visibility and fifty descriptions take, shorter than the activity may. */
const answerWithinMs = 25_000;

/** There should be none. */
const sharedMax = 100;

/** This many failed sweeps are read to find one that came to its turn. */
const sweepsReadMax = 10;

export interface InTurn {
  /** The id at which the sweep before has stopped; 0 where it has seen all, or there was none. */
  after: number;
  /** Those behind it, then those up to it. */
  servers: number[];
  /** Servers that ended sagas have bought, and that lack firewalls. */
  open: OpenServer[];
  /** How many more there are, which do not fit. */
  openBeyond: number;
  /** Servers that several orders have: as many as fit. */
  shared: SharedServer[];
}

export function createReconcileActivities({ journal, provider, activity, settings }: Tools, lookUp: LookUpIn) {
  const { listLagMs, profile } = settings;
  /** @throws OwnFailure `TemporalUnavailable` */
  const askTemporal = async <T>(what: string, ask: (client: Context['client']) => Promise<T>): Promise<T> => {
    const { client } = Context.current();
    try {
      return await client.withDeadline(Date.now() + answerWithinMs, () => ask(client));
    } catch (error) {
      throw new OwnFailure('TemporalUnavailable', `Temporal could not say ${what} (${String(error)})`);
    }
  };
  /** Visibility may lag: then these servers have another turn. */
  const lastTurn = () =>
    askTemporal('where the last sweep stopped', async (client) => {
      const query = `WorkflowType = '${reconcileWorkflow}' AND ExecutionStatus IN ('Completed', 'Failed')`;
      let left = sweepsReadMax;
      for await (const { workflowId, runId, status } of listRuns(client, query, left)) {
        // The key with which it was encrypted may be gone.
        const report = await reportOf(client, workflowId, runId).catch(() => undefined);
        left -= 1;
        if (report?.next !== undefined || status.name === 'COMPLETED' || left === 0) return report?.next ?? 0;
      }
      return 0;
    });

  return {
    /** A slice of the sagas that have no ending in the journal: those that are lost, and what they have left. */
    lookAtOpen: activity('read', async ({ after }: { after?: SagaKey | undefined }): Promise<LostSlice> => {
      const ask: LookUp = (ids) => askTemporal('which sagas go on', (client) => lookUp(client, ids));
      const { sagas: open, last } = await openSagas(journal, ask, { after, limit: sliceSize });
      const lostOnes = open.flatMap(({ how, ...saga }) => (isLost(how) ? [{ ...keyOf(saga), how }] : []));
      for (const { how, ...saga } of lostOnes)
        if (how !== 'gone') await keepDeeds(journal, saga, workflowIdOf(saga.workflow, saga.reference));
      const { restored, sagas } = await leftByLost(journal, lostOnes);
      requireWhole(restored);
      const lost: LostSlice['lost'] = [];
      for (const saga of sagas) {
        const bare = await openServers(journal, keyOf(saga));
        lost.push({ ...saga, unprotected: bare.map(({ vmObjectId, firewalls }) => ({ vmObjectId, firewalls })) });
        if (idsIn(lost) < idsMax) continue;
        const count = 1 + open.findIndex((one) => isSameSaga(one, saga));
        return { count, lost, last: keyOf(saga) };
      }
      return { count: open.length, lost, ...(last && { last: keyOf(last) }) };
    }),

    /** A slice of the sagas that have ended, the youngest first: what they have left. */
    lookAtEnded: activity('read', async (input: { days: number; after?: ByAge | undefined }): Promise<LeftSlice> => {
      const { days, after } = input;
      const { restored, sagas, hasMore } = await endedSagas(journal, { days, after, limit: sliceSize });
      requireWhole(restored);
      const known = after === undefined ? { serversKnown: await countServers(journal) } : {};
      const left: LeftBehind[] = [];
      let count = 0;
      for (const { firstSeenMs, ...saga } of sagas) {
        if (saga.cartItems.length > 0 || saga.placement === 'unknown') left.push(saga);
        count += 1;
        const isLast = count === sagas.length;
        if (isLast ? !hasMore : idsIn(left) < idsMax) continue;
        return { count, left, ...known, last: { ...keyOf(saga), firstSeenMs } };
      }
      return { count, left, ...known };
    }),

    /**
     * Servers that ended sagas have worked on, in the order of their ids, from where the last sweep has stopped; and
     * those that lack firewalls.
     */
    serversInTurn: activity('read', async ({ most }: { most: number }): Promise<InTurn> => {
      const after = await lastTurn();
      const servers = await serversInTurn(journal, { after, most });
      const known = (await openServers(journal)).filter(({ saga }) => saga === 'ended');
      let chars = 0;
      const open = known.filter((one) => (chars += JSON.stringify(one).length) <= openCharsMax);
      const shared = await sharedServers(journal, sharedMax);
      return { after, servers, open, openBeyond: known.length - open.length, shared };
    }),

    /** Row 10, and what the journal says before and after it: where that differs, a saga works on the server. */
    compareFirewalls: activity('read', async (input: { vmObjectId: number; wanted?: Wanted }): Promise<Compared> => {
      const { vmObjectId, wanted } = input;
      if (await isCancelled(journal, vmObjectId)) return { how: 'gone' };
      const stated = await statedFirewalls(journal, vmObjectId);
      if (stated.isBusy) return { how: 'busy' };
      const { assigned, unassigned, exactlyMs = -1 } = stated;
      const lacked = wanted !== undefined && wanted.saidMs > exactlyMs ? wanted.firewalls : [];
      let response: ListAnswer;
      try {
        response = await provider.listFirewalls(vmObjectId, { secrets: 'unknown' });
      } catch (error) {
        // The next sweep looks again.
        if (isFailure(error, 'NotYet')) return { how: 'unseen', why: error.message };
        if (isFailure(error, 'Rejected') && (await isClosed(journal, vmObjectId))) return { how: 'gone' };
        throw error;
      }
      if (JSON.stringify(await statedFirewalls(journal, vmObjectId)) !== JSON.stringify(stated)) {
        return { how: 'busy' };
      }
      const listed = readFirewalls(response, profile?.firewalls);
      if (listed === undefined) return { how: 'unseen', why: 'the provider’s list cannot be read as a whole' };
      const { ids, active } = listed;
      const missing = assigned.filter((id) => !(active ?? ids).includes(id));
      const surplus = unassigned.filter((id) => ids.includes(id));
      const told = lacked.filter((id) => !assigned.includes(id) && !unassigned.includes(id));
      const unprotected = told.filter((id) => !active?.includes(id));
      // The list may not know yet what was changed a moment ago.
      const lately = await changedLately(journal, vmObjectId, listLagMs);
      if ([...missing, ...surplus].some((id) => lately.has(id))) return { how: 'busy' };
      const lacks = [...missing, ...surplus, ...unprotected.filter((id) => !ids.includes(id))];
      if (unprotected.length > 0 && lacks.length === 0 && active === undefined)
        return { how: 'unseen', why: whyListed };
      return { how: 'compared', missing, surplus, unprotected };
    }),
  };
}

const whyListed =
  'the provider’s list shows what it lacked, and which of those that it shows are active is not declared (`firewalls.activeIf` of its profile)';

const keyOf = ({ workflow, reference }: SagaKey): SagaKey => ({ workflow, reference });

function idsIn(sagas: readonly (LeftBehind & { unprotected?: Unprotected[] })[]): number {
  const count = ({ cartItems, unprotected = [] }: (typeof sagas)[number]) =>
    cartItems.length + unprotected.reduce((sum, { firewalls }) => sum + 1 + firewalls.length, 0);
  return sagas.reduce((sum, saga) => sum + count(saga), 0);
}

/** @throws OwnFailure `JournalRestored` */
function requireWhole(restored: string | undefined): void {
  if (restored !== undefined) throw new OwnFailure('JournalRestored', restored);
}
