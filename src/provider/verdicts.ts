/**
 * The table of what an answer means. The provider documents no errors, so a row says only what can be concluded, by the
 * call and not by the status alone. All other code, in this room and outside it, decides by these names;
 * docs/failures.md is printed from these rows.
 */
import type { ProfileCall } from '../domain/profile';

/** Those that cannot be undone are pivots, and `assign` stands for unassigning, too. `directory` is the server directory, which is not in the document. */
export const providerCalls = ['pivot', 'add', 'delete', 'quote', 'assign', 'list', 'directory'] as const;
export type ProviderCall = (typeof providerCalls)[number];

const kinds: Partial<Record<ProfileCall, ProviderCall>> = {
  ...{ order: 'pivot', changeOrder: 'pivot', switch: 'pivot', unassign: 'assign' },
};
/** The rows' name of a call. */
export const kindOf = (call: ProfileCall): ProviderCall => kinds[call] ?? (call as ProviderCall);

/**
 * - `Gone`: nothing is left to delete.
 * - The others are the names of failures, see errors.ts.
 */
export type Meaning =
  'success' | 'Gone' | 'Unauthorized' | 'RateLimited' | 'NotYet' | 'Rejected' | 'UnknownOutcome' | 'UnexpectedResponse';

export interface Row {
  /** A status, or the first and the last one of a range. */
  status: number | readonly [number, number];
  /** Absent: of every call. */
  calls?: readonly ProviderCall[];
  /** Only of a server that is minutes old. */
  newServer?: true;
  means: Meaning;
  because: string;
}

const steps = providerCalls.filter((call) => call !== 'pivot');
const onServer = ['assign', 'list'] as const;
const refusedPivot = (because: string, ...statuses: number[]): Row[] =>
  statuses.map((status) => ({ status, calls: ['pivot'], means: 'Rejected', because }));
const notYet = (status: number, calls: readonly ProviderCall[], because: string): Row => ({
  status,
  calls,
  means: 'NotYet',
  because,
});
const newServer = (status: number, because: string): Row => ({ ...notYet(status, onServer, because), newServer: true });

/** The first row that fits counts. */
export const rows: readonly Row[] = [
  {
    status: 207,
    calls: providerCalls.filter((call) => call !== 'list'),
    means: 'UnknownOutcome',
    because: 'an answer in parts, unless pointers of the profile find in it that it is done',
  },
  { status: [200, 299], means: 'success', because: 'as the document shows it, or the profile declares it, see below' },
  { status: [300, 399], means: 'UnexpectedResponse', because: 'the interface has no redirects: a wrong base URL' },

  { status: 401, means: 'Unauthorized', because: 'the credentials are refused, before anything is done' },
  {
    status: 403,
    means: 'Unauthorized',
    because:
      'the credentials do not allow this, or the provider refuses the request (a quota, a plan); with a Retry-After, and ' +
      'not of a pivot, it is a wait: RateLimited',
  },
  { status: 429, means: 'RateLimited', because: 'too many calls' },

  { status: 404, calls: ['delete'], means: 'Gone', because: 'there is no such item, if the profile’s goneIf holds' },
  { status: 410, calls: ['delete'], means: 'Gone', because: 'the item has expired with its cart, if goneIf holds' },

  ...refusedPivot('the request is malformed; validators answer so before anything is done', 400),
  ...refusedPivot('no payment, no order', 402),
  ...refusedPivot('there is no such route, account or subscription', 404),
  ...refusedPivot('the route does not take this method', 405),
  ...refusedPivot('decided from the request’s headers alone', 406, 411, 412, 415, 417, 428),
  ...refusedPivot('the request was not read to its end', 413, 414, 431),
  ...refusedPivot('validators of web frameworks answer so before anything is done', 422),

  notYet(409, ['add', 'delete'], 'the cart is locked, by our own calls side by side'),
  notYet(423, steps, 'locked: the cart by our own calls, the server in its maintenance'),
  notYet(425, steps, 'too early'),
  notYet(404, ['directory'], 'nothing is listed yet'),
  newServer(400, 'the server is not ready yet'),
  newServer(404, 'the server is not known yet'),
  newServer(409, 'the server is still being set up'),
  newServer(422, 'the server is not ready yet'),

  { status: 408, means: 'UnknownOutcome', because: 'a proxy may send it while the provider is still at work' },
  { status: 499, means: 'UnknownOutcome', because: 'a proxy notes so that its client went away; the call may go on' },
  {
    status: [400, 499],
    calls: ['pivot'],
    means: 'UnknownOutcome',
    because: 'no plain refusal: a conflict may be with the order that the call has just placed',
  },
  { status: [400, 499], means: 'Rejected', because: 'the provider refuses it' },
  { status: [500, 599], means: 'UnknownOutcome', because: 'it may have failed after it took effect' },
];

/** @param about the call; whether it is about a server that is minutes old */
export function meaningOf(
  status: number,
  { call, serverIsNew = false }: { call: ProviderCall; serverIsNew?: boolean | undefined },
): Meaning {
  const row = rows.find(({ status: of, calls, newServer: onlyNew }) => {
    const [first, last] = typeof of === 'number' ? [of, of] : of;
    return (
      status >= first &&
      status <= last &&
      (calls === undefined || calls.includes(call)) &&
      (onlyNew === undefined || serverIsNew)
    );
  });
  // Not an HTTP status: nothing is sure.
  return row?.means ?? 'UnknownOutcome';
}
