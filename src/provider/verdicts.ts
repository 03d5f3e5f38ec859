/**
 * The table of what an answer means. The provider documents no errors, so a row says only what can be concluded, by the
 * call and not by the status alone. docs/statuses.md is printed from these rows.
 */
import type { ProfileCall } from '../domain/profile';

/** Those that cannot be undone are pivots, and `assign` stands for unassigning, too. `directory` is the server directory, which is not in the document. */
export const providerCalls = ['pivot', 'add', 'delete', 'quote', 'assign', 'list', 'directory'] as const;
export type ProviderCall = (typeof providerCalls)[number];

/** The rows' name of a call. */
export const kindOf: Readonly<Record<ProfileCall, ProviderCall>> = {
  ...{ order: 'pivot', changeOrder: 'pivot', switch: 'pivot', assign: 'assign', unassign: 'assign' },
  ...{ add: 'add', delete: 'delete', quote: 'quote', list: 'list', directory: 'directory' },
};

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

const row = (status: Row['status'], means: Meaning, because: string, of?: Pick<Row, 'calls' | 'newServer'>): Row => {
  return { status, means, because, ...of };
};
const pivot = { calls: ['pivot'] } as const;
const steps = { calls: providerCalls.filter((call) => call !== 'pivot') };
const newServer = { calls: ['assign', 'list'], newServer: true } as const;
const refusedPivot = (because: string, ...statuses: number[]) =>
  statuses.map((status) => row(status, 'Rejected', because, pivot));

/** The first row that fits counts. */
export const rows: readonly Row[] = [
  row(207, 'UnknownOutcome', 'an answer in parts, unless pointers of the profile find in it that it is done', {
    calls: providerCalls.filter((call) => call !== 'list'),
  }),
  row([200, 299], 'success', 'as the document shows it, or the profile declares it, see below'),
  row([300, 399], 'UnexpectedResponse', 'the interface has no redirects: a wrong base URL'),

  row(401, 'Unauthorized', 'the credentials are refused, before anything is done'),
  row(
    403,
    'Unauthorized',
    'the credentials do not allow this, or the provider refuses the request (a quota, a plan); with a Retry-After it is ' +
      'a wait: RateLimited',
  ),
  row(429, 'RateLimited', 'too many calls'),

  row(404, 'Gone', 'there is no such item, if the profile’s goneIf holds', { calls: ['delete'] }),
  row(410, 'Gone', 'the item has expired with its cart, if goneIf holds', { calls: ['delete'] }),

  ...refusedPivot('the request is malformed; validators answer so before anything is done', 400),
  ...refusedPivot('no payment, no order', 402),
  ...refusedPivot('there is no such route, account or subscription', 404),
  ...refusedPivot('the route does not take this method', 405),
  ...refusedPivot('decided from the request’s headers alone', 406, 411, 412, 415, 417, 428),
  ...refusedPivot('the request was not read to its end', 413, 414, 431),
  ...refusedPivot('validators of web frameworks answer so before anything is done', 422),

  row(409, 'NotYet', 'the cart is locked, by our own calls side by side', { calls: ['add', 'delete'] }),
  row(423, 'NotYet', 'locked: the cart by our own calls, the server in its maintenance', steps),
  row(425, 'NotYet', 'too early', steps),
  row(404, 'NotYet', 'nothing is listed yet', { calls: ['directory'] }),
  row(400, 'NotYet', 'the server is not ready yet', newServer),
  row(404, 'NotYet', 'the server is not known yet', newServer),
  row(409, 'NotYet', 'the server is still being set up', newServer),
  row(422, 'NotYet', 'the server is not ready yet', newServer),

  row(408, 'UnknownOutcome', 'a proxy may send it while the provider is still at work'),
  row(499, 'UnknownOutcome', 'a proxy notes so that its client went away; the call may go on'),
  row(
    [400, 499],
    'UnknownOutcome',
    'no plain refusal: a conflict may be with the order that the call has just placed',
    pivot,
  ),
  row([400, 499], 'Rejected', 'the provider refuses it'),
  row([500, 599], 'UnknownOutcome', 'it may have failed after it took effect'),
];

/** @param about the call; whether it is about a server that is minutes old */
export function meaningOf(
  status: number,
  { call, serverIsNew = false }: { call: ProviderCall; serverIsNew?: boolean },
): Meaning {
  const found = rows.find(({ status: of, calls = providerCalls, newServer: onlyNew }) => {
    const [first, last] = typeof of === 'number' ? [of, of] : of;
    return status >= first && status <= last && calls.includes(call) && (!onlyNew || serverIsNew);
  });
  // Not an HTTP status: nothing is sure.
  return found?.means ?? 'UnknownOutcome';
}
