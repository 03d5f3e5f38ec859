/** The ways in which one call is spoiled, and what a person does about it. */
import type { EndpointName } from '../../../sandbox/endpoints';
import { oddities, type Oddity } from '../../../sandbox/fault-kinds';
import type { FaultSpec } from '../../../sandbox/faults';
import { noes, unsureStatuses } from '../../../sandbox/responses';

type Spoiling = Omit<FaultSpec, 'endpoint' | 'match' | 'nth' | 'from' | 'times'>;

export interface Way {
  name: string;
  fault?: Spoiling;
  /** Only calls to this row are spoiled; or the one that cannot be undone. */
  at?: EndpointName | 'pivot';
  /** Every call to the same row is spoiled from the n-th on, until somebody decides. */
  lasting?: boolean;
  /** The call is held before (default) or after it took effect, while somebody looks. */
  hold?: 'before' | 'after';
  cancelled?: boolean;
  worker?: 'killed' | 'stopped';
  /** Not every call fails so: an undocumented body may be any. */
  mayPass?: boolean;
  /** At this row it is a lie that nobody can see through: a delete is told that there is nothing, and there is. */
  lieAt?: EndpointName;
}

/** One for each thing that a failure may mean, and before and after the effect where that is not known. */
const failing: Spoiling[] = [
  { kind: 'refuse-before' },
  { kind: 'refuse-before', status: 423 },
  { kind: 'error-code' },
  { kind: 'says-no-before', body: { success: false } },
  { kind: 'unauthorized' },
  { kind: 'rate-limit', retryAfter: 0 },
  // Some write a time, in seconds since 1970.
  { kind: 'rate-limit', retryAfter: 1_900_000_000 },
  { kind: 'error-before' },
  { kind: 'error-after' },
  { kind: 'redirect-after' },
  { kind: 'reset-before' },
  { kind: 'reset-after' },
  { kind: 'hang-after' },
  { kind: 'garbage' },
  { kind: 'oversized' },
];

const failingToo: Spoiling[] = [
  { kind: 'redirect' },
  { kind: 'forbidden' },
  { kind: 'hang-before' },
  { kind: 'truncated' },
  { kind: 'refuse-before', status: 409 },
  { kind: 'error-after', status: 408 },
  { kind: 'error-after', status: 502 },
  { kind: 'error-code', codeAt: 'top' },
];

const once = (faults: readonly Spoiling[], mayPass = false): Way[] =>
  faults.map((fault) => ({ name: nameOf(fault), fault, mayPass }));

/** Answers of the call that cannot be undone that look like a verdict, and are none. */
const atThePivot = (faults: readonly Spoiling[]): Way[] =>
  faults.map((fault) => ({ name: `${nameOf(fault)} at the pivot`, fault, at: 'pivot' }));

const odd = (oddities: readonly Oddity[]): Way[] =>
  oddities.map((oddity) => {
    const isOfLists = ['page', 'pending', 'stale'].includes(oddity);
    const at = isOfLists ? ({ at: 'list-firewalls' } as const) : {};
    return { name: `odd ${oddity}`, fault: { kind: 'odd', oddity }, mayPass: true, ...at };
  });

function nameOf({ kind, status, codeAt, retryAfter, body }: Spoiling): string {
  const said = body === undefined ? undefined : JSON.stringify(body);
  return [kind, status, codeAt, retryAfter ?? undefined, said].filter((part) => part !== undefined).join(' ');
}

const lasting = (faults: readonly Spoiling[]): Way[] =>
  faults.map((fault) => ({ name: `${nameOf(fault)}, until somebody decides`, fault, lasting: true }));

const cancelled = (['before', 'after'] as const).map((hold): Way => ({
  name: `cancelled ${hold} it took effect`,
  cancelled: true,
  hold,
}));

const cancelledAnd = (faults: readonly Spoiling[]): Way[] =>
  faults.map((fault) => ({ name: `cancelled, and ${nameOf(fault)}`, fault, cancelled: true }));

const afterTheEffect: Spoiling[] = [
  { kind: 'refuse-after', status: 409 },
  { kind: 'says-no-after', body: { success: false } },
];

/**
 * The ways that differ in what a saga does: refused, not again, known to be in doubt, not known whether, cancelled; and
 * an answer that is no verdict, or no list.
 */
export const waysThatDiffer: readonly Way[] = [
  ...atThePivot(afterTheEffect),
  ...odd(['page', 'pending']),
  ...once([{ kind: 'refuse-before' }, { kind: 'unauthorized' }, { kind: 'reset-after' }]),
  ...cancelled.filter(({ hold }) => hold === 'after'),
];

/** One of each kind. */
export const ways: readonly Way[] = [
  ...once(failing),
  ...atThePivot(afterTheEffect),
  ...odd(oddities),
  ...cancelled,
  ...lasting([{ kind: 'unauthorized' }, { kind: 'error-after' }]),
  ...cancelledAnd([{ kind: 'reset-after' }]),
];

/** Everything with everything. */
export const allWays: readonly Way[] = [
  ...once([...failing, ...failingToo]),
  ...once([{ kind: 'other-body' }, { kind: 'empty' }, { kind: 'slow' }], true),
  ...atThePivot([
    ...unsureStatuses.map((status) => ({ kind: 'refuse-after', status }) as const),
    ...noes.flatMap((body) => [{ kind: 'says-no-before', body } as const, { kind: 'says-no-after', body } as const]),
  ]),
  ...odd(oddities),
  {
    name: 'refuse-before 404',
    fault: { kind: 'refuse-before', status: 404 },
    mayPass: true,
    lieAt: 'delete-cart-item',
  },
  ...cancelled,
  ...lasting([...failing, ...failingToo]),
  ...cancelledAnd([...failing, ...failingToo]),
];

export const waysToEnd: readonly Way[] = [
  { name: 'killed after it took effect', worker: 'killed', hold: 'after' },
  { name: 'killed before it could take effect', worker: 'killed', fault: { kind: 'hang-before' } },
  { name: 'stopped', worker: 'stopped' },
];
