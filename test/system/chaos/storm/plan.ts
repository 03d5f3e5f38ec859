/**
 * What is going to happen, drawn from the seed alone: which sagas, what strikes them, who meddles with them, which
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
import type { ApprovalRule, ChangeOrderRequest, SetFirewallsRequest } from '../../../../src/domain/requests';
import type { Asked } from '../../../support/promises';
import { cartItem, planIdOf } from '../../../support/requests';
import { callsOf, pivotOf } from '../../../support/saga-calls';

export interface ChaosPlan {
  seed: string;
  sagas: PlannedSaga[];
  /** What happens to Temporal, in this order. */
  losses: Loss[];
  /** The journal's database is killed when so many sagas have ended. */
  journalDeaths: number[];
  /** Whose changes and switches the provider calls unavailable. */
  unavailableSubscriptions: number[];
  /** What the provider does all the time, and the document does not rule out. */
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
  duplicate?: Duplicate;
  meddling?: Meddling;
}

/** The call `from` of the saga, and the ones after it; or those to one row. */
export interface Spoilt {
  kind: SpoilingKind;
  endpoint?: EndpointName;
  from: number;
  times: number;
}
export type SpoilingKind = Exclude<FaultKind, 'gate'>;

/**
 * The worker that holds this call of the saga is killed, told to stop, or stopped for a while as by a paused machine.
 */
export interface WorkerDeath {
  endpoint: EndpointName | '*';
  nth: number;
  hold: 'before' | 'after';
  signal: 'SIGKILL' | 'SIGTERM' | 'SIGSTOP';
}

/** Started a second time: with the same request, which finds the run, or with this one, which is refused. */
export type Duplicate = 'same' | { other: object };

/**
 * What somebody in front of the Web UI does to the saga while it runs (once it has made so many calls) or after its
 * end. A run that is deleted is forgotten: the same request is started again. `at` is which of its finished workflow
 * tasks it is reset to, as a share of them.
 */
export type Meddling =
  | { how: 'cancel' | 'terminate' | 'delete'; afterCalls: number }
  | { how: 'reset'; afterCalls: number; at: number }
  | { how: 'reset-ended'; at: number }
  | { how: 'start-again' | 'delete-ended' };

export const spoilingKinds = faultKinds.filter((kind): kind is SpoilingKind => kind !== 'gate');

/** Of what can be undone, no caller can see through them. */
const lies: readonly SpoilingKind[] = ['refuse-after', 'says-no-after'];

type Chance = () => number;
type ResourceName = ChangeOrderRequest['resources'][number]['resource_name'];

export function planOf(seed: string, sagas: number): ChaosPlan {
  const draw = drawing(chanceOf(`${seed}/${sagas}`));
  const deaths = deathsAmong(sagas);
  const planned = Array.from({ length: sagas }, (_, index) => draw.saga(index + 1, deaths.get(index)));
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

/** So many places, evenly among all: none at the very beginning, none at the very end. */
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
  const duplicate = deck(chance, ['same', 'other', ...Array<undefined>(6).fill(undefined)] as const);
  const deadline = deck(chance, [300, 3_000, ...Array<undefined>(22).fill(undefined)]);
  const asksWhenRefused = deck(chance, [true, false, false]);
  const asksAtItsRefusal = deck(chance, [true, true, false]);
  const isShared = deck(chance, [true, false, false]);
  /** What the next one that shares goes to. */
  let lastChanged: number | undefined;
  let lastServer: number | undefined;

  return {
    saga(number: number, signal: WorkerDeath['signal'] | undefined): PlannedSaga {
      const asked = request(workflow(), `C-${number}`, number);
      const planned: PlannedSaga = { asked, calls: callsOf(asked) };
      if (asked.workflow === 'setFirewalls' && asked.request.vmObjectId === serverOf(number)) {
        planned.server = { vmObjectId: asked.request.vmObjectId, firewalls: [150, 151] };
      }
      const twice = duplicate();
      if (twice !== undefined) planned.duplicate = twice === 'same' ? 'same' : { other: otherThan(asked) };
      // Where a worker is to die, nothing else happens: so its call is surely reached.
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

  function request(of: Exclude<Asked['workflow'], 'cleanCart'>, reference: string, number: number): Asked {
    const terms = {
      ...(chance() < 0.4 ? { approval: oneOf<ApprovalRule>('always', 'never', { above: 10 }) } : {}),
      ...(chance() < 0.2 ? { guard: { maxTotal: oneOf(1, 1_000) } } : {}),
    };
    const refusals = asksWhenRefused() ? { onRefusal: 'ask' as const } : {};
    switch (of) {
      case 'provisionServers': {
        const items = Array.from({ length: oneOf(1, 1, 2, 3) }, () =>
          cartItem({ plan_id: planIdOf(reference), ...(chance() < 0.3 ? { quantity: 2 } : {}) }),
        );
        const firewalls = oneOf(undefined, [143], [143, 144]);
        return {
          workflow: of,
          request: {
            reference,
            account: `AB-${number}`,
            label: reference,
            items,
            ...(firewalls === undefined ? {} : { firewalls }),
            ...refusals,
          },
        };
      }
      case 'changeOrder': {
        const names = oneOf<ResourceName[]>(['vm_backup'], ['vm_antiddos'], ['vm_backup', 'china_route']);
        const resources = names.map((resource_name) => ({ resource_name, delta_value: '1' }));
        lastChanged = subscriptionOf(number);
        return { workflow: of, request: { reference, subscription_id: lastChanged, resources, ...terms, ...refusals } };
      }
      case 'switchPlan': {
        // A change and a switch of one subscription are told apart in the ledger; two changes are not.
        const shared = isShared() ? lastChanged : undefined;
        if (shared !== undefined) lastChanged = undefined;
        const change = { reference, subscription_id: shared ?? subscriptionOf(number), plan_id: 21, ...refusals };
        return { workflow: of, request: chance() < 0.15 ? { ...change, quoteOnly: true } : { ...change, ...terms } };
      }
      case 'setFirewalls': {
        const wanted = oneOf<Partial<SetFirewallsRequest>>(
          { assign: [143] },
          { unassign: [150] },
          { assign: [143, 144], unassign: [151] },
          { exactly: [143, 151] },
        );
        const shared = isShared() ? lastServer : undefined;
        lastServer = shared !== undefined || wanted.exactly !== undefined ? undefined : serverOf(number);
        // In whichever order the two are done, these are not the firewalls that the other one names.
        if (shared !== undefined)
          return { workflow: of, request: { reference, vmObjectId: shared, assign: [145, 146] } };
        return { workflow: of, request: { reference, vmObjectId: serverOf(number), ...wanted } };
      }
    }
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

const subscriptionOf = (number: number) => 1_000_000 + number;
const serverOf = (number: number) => 500_000 + number;

/** Deals the cards in random order, then shuffles them anew: each comes as often as it is in the deck. */
function deck<T>(chance: Chance, cards: readonly T[]): () => T {
  let left: T[] = [];
  return () => {
    if (left.length === 0) left = [...cards];
    return left.splice(Math.floor(chance() * left.length), 1)[0] as T;
  };
}

/** Calls that it makes when all goes well. */
function usualCalls({ workflow, request }: Asked): number {
  switch (workflow) {
    case 'provisionServers':
      return request.items.length + 1 + (request.firewalls === undefined ? 0 : 2 * serversOrdered(request.items).most);
    case 'setFirewalls':
      return 3;
    case 'switchPlan':
      return request.quoteOnly ? 1 : 2;
    default:
      return 2;
  }
}

/** Under the same reference, and not the same. */
function otherThan({ workflow, request }: Asked): object {
  switch (workflow) {
    case 'provisionServers':
      return { ...request, items: [...request.items, cartItem()] };
    case 'setFirewalls':
      return { reference: request.reference, vmObjectId: request.vmObjectId, assign: [199] };
    case 'cleanCart':
      return request;
    default:
      return { ...request, subscription_id: request.subscription_id + 1 };
  }
}
