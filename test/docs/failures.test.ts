/** docs/failures.md, row by row, against the code that it tells of. */
import type { CallKind } from '../../src/activities/settings';
import { OwnFailure, translateFailure } from '../../src/activities/translate-failure';
import { callFailureNames, ownerOf, type CallFailure, type CallFailureName } from '../../src/domain/failures';
import { type ProviderFailureName, ProviderFailure } from '../../src/provider/errors';
import { withFailures } from '../../scripts/failures-table';
import { lostCallAttemptsMax, lostCallDelayMs } from '../../src/saga/activities';
import { closeAll, createClient, httpText, onRequest, quote, serveRaw } from '../support/stand-in';
import { codesIn, tableUnder } from './tables';
import { readDocument } from '../support/project';
import { activitySettings } from '../support/activity-settings';
import { providerCalls } from '../support/provider-calls';

type Row = Record<string, string>;

const document = readDocument('docs/failures.md');
const wire = tableUnder(document, 'On the wire');
const own = tableUnder(document, 'Decided on our side');
/** A row may be of several scenes. */
const onTheWire = wire.flatMap((row) => row['on the wire']!.split('; ').map((what) => [what, row] as const));

const budget = { attemptsMax: 3, backoffMs: 100, backoffMaxMs: 1_000, totalMs: 10_000 };
const settings = activitySettings(budget);
const steps: CallKind[] = ['read', 'mutate', 'compensate', 'poll'];
const askedMs = 7_000;

/** The name that a row gives a failure: of a pivot perhaps another one. */
function nameIn(row: Row, kind: CallKind): string {
  const [name, ofPivot = name] = codesIn(row['failure']!);
  return (kind === 'pivot' ? ofPivot : name) ?? row['failure']!;
}

/** The row's columns about trying again, against what becomes of such an error. */
function expectRetries(row: Row, error: unknown): void {
  for (const kind of [...steps, 'pivot' as const]) {
    const column = row[kind === 'pivot' ? 'a pivot' : 'a step']!;
    if (column === '–') continue;
    expect(column).toMatch(/^(no|after a backoff|after the asked delay|when it no longer is)$/);
    const failure = translateFailure(error, kind, undefined, settings, () => 0.5);
    const { retryInMs, ...facts } = failure.details?.[0] as CallFailure;
    expect([kind, facts.failure]).toEqual([kind, nameIn(row, kind)]);
    expect([kind, column === 'no']).toEqual([kind, retryInMs === undefined]);
    if (column === 'after the asked delay') expect(retryInMs).toBeGreaterThanOrEqual(askedMs);
    if (column === 'after a backoff') expect(retryInMs).toBe(50);
    if (column === 'when it no longer is') expect(retryInMs).toBe(askedMs);
  }
}

it('prints the list that the code decides by', () => {
  expect(withFailures(document).replace(/[ -]+/g, ' ')).toBe(document.replace(/[ -]+/g, ' '));
});

describe('on the wire', () => {
  const said = (name: ProviderFailureName, status?: number) =>
    new ProviderFailure(name, 'm', {
      endpoint: 'e',
      ...(status ? { status } : {}),
      ...(name === 'RateLimited' ? { retryAfterMs: askedMs } : {}),
    });

  /** Which of them the wire brings about, test/unit/provider shows. */
  const scenes: Record<string, ProviderFailure> = {
    'no connection in time': said('NotSent'),
    'connection refused': said('NotSent'),
    'the token could not be read': said('TokenUnreadable'),
    '`429`': said('RateLimited', 429),
    '`403` with `Retry-After`': said('RateLimited', 403),
    '`401`': said('Unauthorized', 401),
    '`403`': said('Unauthorized', 403),
    'not yet': said('NotYet', 423),
    refused: said('Rejected', 422),
    'a redirect': said('UnexpectedResponse', 302),
    'nothing is sure': said('UnknownOutcome', 500),
    'no answer in time': said('UnknownOutcome'),
    'connection lost': said('UnknownOutcome'),
    'a success whose body is not JSON': said('UnknownOutcome', 200),
    'a success whose body is too long': said('UnknownOutcome', 200),
    'a success not as documented': said('UnknownOutcome', 200),
    'a success that the profile calls refused': said('Rejected', 200),
    'a success that nobody has declared': said('UnknownOutcome', 200),
    'an answer to a delete that nobody has declared': said('NotDeclared', 200),
    'a switch answered with `"available":false`': said('UnknownOutcome', 200),
  };

  it('has a scene for every row', () => {
    expect(onTheWire.map(([what]) => what).sort()).toEqual(Object.keys(scenes).sort());
  });

  it.each(onTheWire)('%s', (what, row) => {
    expectRetries(row, scenes[what]);
  });
});

describe('what is decided on our side', () => {
  const rows = own.map((row) => [row['what happened']!, row] as const);
  const name = (row: Row) => codesIn(row['failure']!)[0] as CallFailureName;

  it.each(rows)('%s', (_, row) => {
    if (name(row) !== 'WorkerLost') {
      expectRetries(row, new OwnFailure(name(row), 'm', name(row) === 'UnderWay' ? { retryInMs: askedMs } : {}));
    }
  });

  it('knows how often a call is made that was lost with its worker', () => {
    const row = own.find((one) => name(one) === 'WorkerLost')!;
    const seconds = Array.from(
      { length: lostCallAttemptsMax - 1 },
      (_, index) => (lostCallDelayMs * (index + 1)) / 1_000,
    );
    const after = `after ${seconds.join(', ').replace(/, (\d+)$/, ' and $1')} s`;
    expect([row['a step'], row['a pivot']]).toEqual([after, after]);
  });
});

it('names every failure that there is, and none that there is not', () => {
  const named = new Set([...wire, ...own].flatMap((row) => codesIn(row['failure']!)));
  expect([...named].sort()).toEqual([...callFailureNames].sort());
});

it('is the provider’s where it did not answer, and not where nobody asked it now', () => {
  expect(ownerOf({ failure: 'UnknownOutcome', endpoint: 'POST /order' })).toBe('provider');
  expect(ownerOf({ failure: 'UnknownOutcome' })).toBe('us');
  expect(ownerOf({ failure: 'UnknownOutcome', doubt: { restored: true } as CallFailure['doubt'] & object })).toBe(
    'journal',
  );
});

// test/unit/provider/evidence.test.ts shows what the body of a success says, test/system/fuzz where it breaks off.
it.each(['order', 'changeOrder', 'switch'] as const)(
  '%s is of unknown outcome unless its status surely says something else',
  async (pivot) => {
    /** Written down once more, by hand. */
    const refused = [400, 402, 404, 405, 406, 411, 412, 413, 414, 415, 417, 422, 428, 431];
    // Those below are no answer yet, those above none at all: test/unit/provider/wire.test.ts, test/system/fuzz.
    const statuses = Array.from({ length: 400 }, (_, index) => 200 + index);
    const expected = (status: number) => {
      if (refused.includes(status)) return 'Rejected';
      if (status === 401 || status === 403) return 'Unauthorized';
      if (status === 429) return 'RateLimited';
      // A 204 has no body.
      const isPlaced = status >= 200 && status < 300 && status !== 207 && !(pivot === 'switch' && status === 204);
      return isPlaced ? 'done' : 'UnknownOutcome';
    };
    let next = '';
    const server = await serveRaw((socket) => onRequest(socket, () => socket.end(next)));
    const provider = createClient(server.url);
    const came: [number, string | undefined][] = [];
    for (const status of statuses) {
      next = httpText(status === 204 ? '' : JSON.stringify(quote), { status: `${status} X` });
      const failed = (error: unknown) => translateFailure(error, 'pivot', undefined, settings).type ?? '';
      came.push([status, await providerCalls[pivot](provider).then(() => 'done', failed)]);
    }
    await closeAll();
    expect(came).toEqual(statuses.map((status) => [status, expected(status)]));
  },
);
