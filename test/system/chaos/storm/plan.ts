/**
 * The plan of a run, drawn from the seed alone: which sagas, what strikes them, who meddles with them, which
 * calls the workers die under, and how far the run is when a server dies or forgets. Nothing here looks at a clock: the
 * same seed gives the same plan on every machine. What each part of it then meets is up to the race.
 */
import { chanceOf } from '../../../../sandbox/chance';
import type { CallMatch } from '../../../../sandbox/call-match';
import type { EndpointName } from '../../../../sandbox/endpoints';
import { faultKinds, type FaultKind } from '../../../../sandbox/fault-kinds';
import type { ServerSeed } from '../../../../sandbox/servers';
import type { SettingsPatch } from '../../../../sandbox/settings';
import { serversOrdered } from '../../../../src/domain/plan-types';
import type { SetFirewallsRequest } from '../../../../src/domain/requests';
import { asks, firewallsBefore } from '../../../support/asks';
import type { Asked } from '../../../support/promises';
import { callsOf, pivotOf } from '../../../support/saga-calls';

export interface ChaosPlan {
  seed: string;
  sagas: PlannedSaga[];
  losses: Loss[];
  /** The journal's database is killed when so many sagas have ended. */
  journalDeaths: number[];
  unavailableSubscriptions: number[];
  /** The provider's usual unkindness, which the document does not rule out. */
  unkindness: SettingsPatch;
}

/**
 * Temporal is killed when so many sagas have ended, and comes back with what it had (`crash`), with a copy of its
 * database from when `copiedAt` had ended (`restored`), or with nothing, as a namespace that was deleted (`forgotten`).
 */
export type Loss = { how: 'crash' | 'forgotten'; ended: number } | { how: 'restored'; ended: number; copiedAt: number };

export interface PlannedSaga {
  asked: Asked;
  /** Every call of this saga, and of those that share its server or subscription. */
  calls: CallMatch;
  /** The server whose firewalls it changes, unless a saga before it brought it along. */
  server?: ServerSeed;
  /** After so long from its first start nothing more is sent, in milliseconds. */
  deadlineMs?: number;
  fault?: Spoilt;
  death?: WorkerDeath;
  twice?: true;
  meddling?: Meddling;
}

/** The call `from` of the saga, and the ones after it; or those to one row. */
interface Spoilt {
  kind: SpoilingKind;
  endpoint?: EndpointName;
  from: number;
  times: number;
}
export type SpoilingKind = Exclude<FaultKind, 'gate'>;

/**
 * The worker that holds this call of the saga is killed, told to stop, or stopped for a while as by a paused machine.
 */
interface WorkerDeath {
  endpoint: EndpointName | '*';
  nth: number;
  hold: 'before' | 'after';
  signal: 'SIGKILL' | 'SIGTERM' | 'SIGSTOP';
}

/**
 * Somebody in front of the Web UI does this to the saga while it runs (once it has made so many calls) or after its
 * end. A run that is deleted is forgotten: the same request is started again. `at` is which of its finished workflow
 * tasks it is reset to, as a share of them.
 */
export type Meddling =
  | { how: 'cancel' | 'terminate' | 'delete'; afterCalls: number }
  | { how: 'reset'; afterCalls: number; at: number }
  | { how: 'reset-ended'; at: number }
  | { how: 'start-again' | 'delete-ended' };

export const spoilingKinds = faultKinds.filter((kind): kind is SpoilingKind => kind !== 'gate');

/** No caller can see through them where a call can be undone. */
const lies: readonly SpoilingKind[] = ['refuse-after', 'says-no-after'];

type Chance = () => number;

export function planOf(seed: string, sagas: number): ChaosPlan {
  const draw = drawing(chanceOf(`${seed}/${sagas}`));
  const deaths = deathsAmong(sagas);
  const planned = Array.from({ length: sagas }, (_, index) => draw.saga(deaths.get(index)));
  return {
    seed,
    sagas: planned,
    losses: lossesAmong(sagas),
    journalDeaths: spread(Math.max(3, Math.round(sagas / 100)), sagas),
    unavailableSubscriptions: planned.flatMap(({ calls }, index) =>
      index % 25 === 24 && calls.subscriptionId !== undefined ? [calls.subscriptionId] : [],
    ),
    unkindness: unkindnessBy(chanceOf(`${seed}/unkindness`)),
  };
}

/** Locks, servers that are not ready, and lists and forms that the document does not rule out. */
function unkindnessBy(chance: Chance): SettingsPatch {
  const oneOf = <T>(...values: T[]): T => values[Math.floor(chance() * values.length)] as T;
  return {
    cartLock: oneOf(409, 423),
    unready: [
      { after: 0, calls: oneOf(1, 2), statuses: [404, 409, 422, 423, 425, 400], new: true },
      { after: oneOf(4, 6), calls: 1, statuses: [423], new: false },
    ],
    firewallLag: oneOf(0, 1),
    pendingWhileLagging: oneOf(true, false),
    oddities: ['texts', oneOf('gzip', 'deflate'), 'mark', 'continue'],
  };
}

/**
 * Each kind twice at least. What is forgotten comes first: it takes the histories along, which tell at the end what
 * happened.
 */
function lossesAmong(sagas: number): Loss[] {
  const count = Math.max(6, Math.round(sagas / 125));
  const back = Math.min(25, Math.floor(sagas / count / 2));
  return spread(count, sagas).map((ended, index) => {
    if (index < 2) return { how: 'forgotten', ended };
    return index % 2 === 0 ? { how: 'restored', ended, copiedAt: ended - back } : { how: 'crash', ended };
  });
}

/** By a saga's place in the plan: how the worker ends that holds its call. */
function deathsAmong(sagas: number): Map<number, WorkerDeath['signal']> {
  const pauses = spread(Math.max(5, Math.round(sagas / 100)), sagas).map((index) => index + 1);
  const stops = spread(Math.max(3, Math.round(sagas / 80)), sagas);
  const kills = spread(Math.max(4, Math.round(sagas / 60)), sagas);
  return new Map([
    ...pauses.map((index): [number, WorkerDeath['signal']] => [index, 'SIGSTOP']),
    ...stops.map((index): [number, WorkerDeath['signal']] => [index, 'SIGTERM']),
    ...kills.map((index): [number, WorkerDeath['signal']] => [index, 'SIGKILL']),
  ]);
}

/** Spreads so many places evenly: none at the very beginning, none at the very end. */
function spread(count: number, all: number): number[] {
  return Array.from({ length: count }, (_, index) => Math.floor(((index + 0.5) * all) / count));
}

function drawing(chance: Chance) {
  const below = (limit: number) => Math.floor(chance() * limit);
  const oneOf = <T>(...values: T[]): T => values[below(values.length)] as T;
  const workflow = deck(chance, [
    ...Array<'provisionServers'>(5).fill('provisionServers'),
    ...(['changeOrder', 'changeOrder', 'switchPlan', 'switchPlan', 'setFirewalls', 'setFirewalls'] as const),
  ]);
  const kind = deck(chance, spoilingKinds);
  const isSpoilt = deck(chance, [true, true, false]);
  const how = deck(chance, [
    ...(['cancel', 'terminate', 'terminate', 'reset', 'reset-ended', 'delete', 'delete-ended'] as const),
    ...(['start-again', 'start-again'] as const),
    ...Array<undefined>(6).fill(undefined),
  ]);
  const isSentTwice = deck(chance, [true, ...Array<false>(6).fill(false)]);
  const deadline = deck(chance, [300, 3_000, ...Array<undefined>(22).fill(undefined)]);
  const asksWhenRefused = deck(chance, [true, false, false]);
  const asksAtItsRefusal = deck(chance, [true, true, false]);
  const isShared = deck(chance, [true, false, false]);
  let lastChanged: number | undefined;
  let lastServer: number | undefined;
  const servers = new Set<number>();

  return {
    saga(signal: WorkerDeath['signal'] | undefined): PlannedSaga {
      const asked = request(workflow());
      const planned: PlannedSaga = { asked, calls: callsOf(asked) };
      if (asked.workflow === 'setFirewalls' && !servers.has(asked.request.vmObjectId)) {
        const { vmObjectId } = asked.request;
        servers.add(vmObjectId);
        planned.server = { vmObjectId, firewalls: firewallsBefore };
      }
      if (isSentTwice()) planned.twice = true;
      // If a worker is to die, nothing else happens: so its call is surely reached.
      if (signal !== undefined) return { ...planned, death: death(asked, signal) };
      const deadlineMs = deadline();
      if (deadlineMs !== undefined) planned.deadlineMs = deadlineMs;
      if (isSpoilt()) planned.fault = spoilt(asked);
      const isRefused = planned.fault?.kind === 'refuse-before' || planned.fault?.kind === 'error-code';
      if (isRefused && pivotOf(asked) !== undefined && asksAtItsRefusal()) {
        Object.assign(asked.request, { onRefusal: 'ask' });
      }
      const meddled = how();
      if (meddled !== undefined) planned.meddling = meddlingWith(asked, meddled);
      return planned;
    },
  };

  function death(asked: Asked, signal: WorkerDeath['signal']): WorkerDeath {
    const hold = oneOf<WorkerDeath['hold']>('before', 'after');
    const pivot = pivotOf(asked);
    if (pivot !== undefined && chance() < 0.6) return { endpoint: pivot, nth: 1, hold, signal };
    return { endpoint: '*', nth: 1 + below(usualCalls(asked)), hold, signal };
  }

  function request(of: keyof typeof asks): Asked {
    const asked = oneOf<() => Asked>(...Object.values(asks[of]))();
    if (asked.workflow === 'setFirewalls') return atAServer(asked.request);
    if (asksWhenRefused()) Object.assign(asked.request, { onRefusal: 'ask' });
    // A change and a switch of one subscription are told apart in the ledger; two changes are not.
    if (asked.workflow === 'changeOrder') lastChanged = asked.request.subscription_id;
    if (asked.workflow === 'switchPlan' && lastChanged !== undefined && isShared()) {
      asked.request.subscription_id = lastChanged;
      lastChanged = undefined;
    }
    return asked;
  }

  function atAServer(request: SetFirewallsRequest): Asked {
    const { reference, vmObjectId, exactly } = request;
    const workflow = 'setFirewalls';
    if (lastServer !== undefined && isShared()) {
      // In whichever order the two are done, these are not the firewalls that the other one names.
      const sharing = { reference, vmObjectId: lastServer, assign: [145, 146] };
      lastServer = undefined;
      return { workflow, request: sharing };
    }
    lastServer = exactly === undefined ? vmObjectId : undefined;
    return { workflow, request };
  }

  function spoilt(asked: Asked): Spoilt {
    // Three in a row use up the automatic retries, and a person is asked.
    const times = chance() < 0.3 ? 3 : 1;
    const drawn = kind();
    const pivot = pivotOf(asked);
    if (!lies.includes(drawn)) return { kind: drawn, from: 1 + below(usualCalls(asked)), times };
    return pivot === undefined
      ? { kind: 'odd', from: 1 + below(usualCalls(asked)), times }
      : { kind: drawn, endpoint: pivot, from: 1, times: 1 };
  }

  function meddlingWith(asked: Asked, drawn: Meddling['how']): Meddling {
    const afterCalls = 1 + below(usualCalls(asked));
    switch (drawn) {
      case 'cancel':
      case 'delete':
        return { how: drawn, afterCalls };
      case 'delete-ended':
        return { how: drawn };
      case 'terminate':
        // The others leave nothing behind that a clean-up could find. After its last call it would have ended.
        return asked.workflow === 'provisionServers'
          ? { how: 'terminate', afterCalls: Math.min(afterCalls, usualCalls(asked) - 1) }
          : { how: 'cancel', afterCalls };
      case 'reset':
        return { how: 'reset', afterCalls, at: chance() };
      case 'reset-ended':
        return { how: 'reset-ended', at: chance() };
      case 'start-again':
        return pivotOf(asked) === undefined ? { how: 'reset-ended', at: chance() } : { how: 'start-again' };
    }
  }
}

/** Deals the cards in random order, then shuffles them anew: each comes as often as it is in the deck. */
function deck<T>(chance: Chance, cards: readonly T[]): () => T {
  let left: T[] = [];
  return () => {
    if (left.length === 0) left = [...cards];
    return left.splice(Math.floor(chance() * left.length), 1)[0] as T;
  };
}

function usualCalls({ workflow, request }: Asked): number {
  switch (workflow) {
    case 'provisionServers':
      return request.items.length + 1 + (request.firewalls === undefined ? 0 : 2 * serversOrdered(request.items).most);
    case 'setFirewalls':
      return 3;
    case 'cleanCart':
      return 2;
    case 'changeOrder':
    case 'switchPlan':
      return request.quoteOnly ? 1 : 2;
  }
}
