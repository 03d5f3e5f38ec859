/** docs/failures.md, row by row, against the code that it tells of. */
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Mood } from '../../src/activities/settings';
import { OwnFailure, translateFailure } from '../../src/activities/translate-failure';
import { callFailureNames, type CallFailure, type CallFailureName } from '../../src/domain/failures';
import { waitKinds } from '../../src/domain/progress';
import { classifyStatus } from '../../src/provider/classify';
import { ProviderClient, type ProviderClientOptions } from '../../src/provider/client';
import {
  NotSent,
  RateLimited,
  Rejected,
  Unauthorized,
  UnexpectedResponse,
  UnknownOutcome,
} from '../../src/provider/errors';
import { cause } from '../../src/workflows/questions';
import { codesIn, readDocument, tableUnder } from './tables';
import { activitySettings } from '../support/activity-settings';

const document = readDocument('docs/failures.md');
const wire = tableUnder(document, 'On the wire');
const own = tableUnder(document, 'Not from the provider');

const budget = { attemptsMax: 3, backoffMs: 100, backoffMaxMs: 1_000, totalMs: 10_000 };
const settings = activitySettings(budget);
const steps: Mood[] = ['reading', 'acting', 'undoing', 'expecting'];
const askedMs = 7_000;

/** The row's three columns about trying again, against what becomes of such an error. */
function expectRetries(row: Record<string, string>, error: unknown): void {
  const [name] = codesIn(row['failure']!);
  for (const mood of [...steps, 'daring' as const]) {
    const column = row[mood === 'daring' ? 'a pivot' : 'a step']!;
    if (column === '–') continue;
    expect(column).toMatch(/^(not again|again, after a backoff|again, after the delay it asks)$/);
    const failure = translateFailure(error, mood, undefined, settings, () => 0.5);
    const { retryInMs, ...facts } = failure.details?.[0] as CallFailure;
    expect([mood, facts.failure]).toEqual([mood, name]);
    const said = retryInMs === undefined ? 'not again' : 'again';
    expect([mood, column.split(',')[0]]).toEqual([mood, said]);
    if (column.endsWith('it asks')) expect(retryInMs).toBeGreaterThanOrEqual(askedMs);
    if (column.endsWith('backoff')) expect(retryInMs).toBe(50);
  }
}

function expectSentence(row: Record<string, string>): void {
  const [failure] = codesIn(row['failure']!) as CallFailureName[];
  expect(cause({ failure: failure!, message: '(what it said)' })).toBe(row['a person reads']);
}

describe('statuses', () => {
  const rows = wire.filter(({ 'on the wire': what }) => /^(any other )?(`\d(\d\d|xx)`|status)$/.test(what!));

  /** The row that a status falls under: its own, its hundred's, or the last. */
  function rowOf(status: number): Record<string, string> {
    const hundred = `\`${String(Math.floor(status / 100))}xx\``;
    const named = (text: string) => rows.filter(({ 'on the wire': what }) => what === text);
    const [row] = [
      ...named(`\`${String(status)}\``),
      ...named(hundred),
      ...named(`any other ${hundred}`),
      ...named('any other status'),
    ];
    return row!;
  }

  it('has a row for each that the code tells apart, and no more', () => {
    expect(rows.map(({ 'on the wire': what }) => what)).toHaveLength(9);
    const used = new Set<object>();
    for (let status = 100; status < 1_000; status += 1) {
      const row = rowOf(status);
      used.add(row);
      const name = row['failure'] === 'success' ? 'success' : codesIn(row['failure']!)[0];
      expect([status, classifyStatus(status)]).toEqual([status, name]);
    }
    expect(rows.filter((row) => !used.has(row))).toEqual([]);
  });

  const errors = {
    RateLimited: (status: number) => new RateLimited('m', { endpoint: 'e', status }, askedMs),
    Unauthorized: (status: number) => new Unauthorized('m', { endpoint: 'e', status }),
    Rejected: (status: number) => new Rejected('m', { endpoint: 'e', status }),
    UnknownOutcome: (status: number) => new UnknownOutcome('m', { endpoint: 'e', status }),
    UnexpectedResponse: (status: number) => new UnexpectedResponse('m', { endpoint: 'e', status }),
  };

  it.each([302, 401, 403, 404, 408, 422, 429, 500, 503, 600])('%i is tried again as its row says', (status) => {
    const means = classifyStatus(status);
    if (means === 'success') throw new Error('a success is not tried again');
    expectRetries(rowOf(status), errors[means](status));
    expectSentence(rowOf(status));
  });

  it('knows of the setting that adds 503 to the statuses that are safe', () => {
    const safe = { ...settings, pivotRetryStatuses: [429, 503] };
    const answered = translateFailure(errors.UnknownOutcome(503), 'daring', undefined, safe);
    expect(answered.type).toBe('RateLimited');
    const unsafe = { ...settings, pivotRetryStatuses: [] };
    expect(translateFailure(errors.RateLimited(429), 'daring', undefined, unsafe).type).toBe('UnknownOutcome');
  });
});

describe('what is no status', () => {
  const servers: Server[] = [];
  afterAll(() => {
    for (const server of servers) server.close().closeAllConnections();
  });

  async function listen(listener: RequestListener): Promise<string> {
    const server = createServer(listener);
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  }

  async function closedPort(): Promise<string> {
    const url = await listen(() => undefined);
    await new Promise((resolve) => servers.pop()!.close(resolve));
    return url;
  }

  const answering = (body: string) =>
    listen((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(body);
    });

  /** What a call of {@link ProviderClient} throws. */
  async function failureAt(baseUrl: string, options: Partial<ProviderClientOptions> = {}): Promise<unknown> {
    const client = new ProviderClient({ baseUrl, ...options });
    try {
      await client.addCartItem({ billing_cycle: 1 });
    } catch (error) {
      return error;
    } finally {
      await client.close();
    }
    throw new Error('the call succeeded');
  }

  const scenes: Record<string, () => Promise<unknown>> = {
    // The one row that needs a network that swallows: what the code makes of it, test/provider/wire.test.ts shows.
    'never left: no connection in time': () => Promise.resolve(new NotSent('m', { endpoint: 'e' })),
    'never left: connection refused': async () => failureAt(await closedPort()),
    'never left: the token could not be read': async () => {
      const unread = () => Promise.reject(new Error('no such file'));
      return failureAt(await answering('{}'), { credentials: { read: unread, reread: unread } });
    },
    'sent, no answer in time': async () => failureAt(await listen(() => undefined), { totalTimeoutMs: 300 }),
    'sent, connection lost': async () => failureAt(await listen((request) => request.socket.destroy())),
    '`2xx`, body is not JSON': async () => failureAt(await answering('<html>')),
    '`2xx`, body is too long': async () => failureAt(await answering('[0,0,0,0]'), { responseBytesMax: 4 }),
    '`2xx`, body is not as documented': async () => failureAt(await answering('{}')),
    '`2xx`, body has a `code` of 400 to 599': async () => failureAt(await answering('{"data":{"code":400}}')),
    '`2xx`, body has a `code` of 600 or more': async () => failureAt(await answering('{"data":{"code":600}}')),
  };

  const rows = wire.filter(({ 'on the wire': what }) => /^(never|sent|`2xx`,)/.test(what!));

  it('has a scene for every row', () => {
    expect(rows.map(({ 'on the wire': what }) => what).sort()).toEqual(Object.keys(scenes).sort());
    expect(rows).toHaveLength(wire.length - 9);
  });

  it.each(rows.map((row) => [row['on the wire']!, row] as const))('%s', async (what, row) => {
    const error = await scenes[what]!();
    expect(error).toMatchObject({ name: codesIn(row['failure']!)[0] });
    expectRetries(row, error);
    expectSentence(row);
  });
});

describe('what is not from the provider', () => {
  it.each(own.map((row) => [row['what happened']!, row] as const))('%s', (_, row) => {
    const [name] = codesIn(row['failure']!) as CallFailureName[];
    expectRetries(row, new OwnFailure(name as OwnFailure['failure'], 'm'));
  });
});

it('names every failure that there is, and none that there is not', () => {
  const named = new Set([...wire, ...own].flatMap((row) => codesIn(row['failure']!)));
  expect([...named].sort()).toEqual([...callFailureNames].sort());
});

it('names only waits that there are', () => {
  const waits = [...wire, ...own].flatMap((row) => codesIn(row['then']!));
  expect(waits.filter((name) => !waitKinds.some((kind) => kind === name))).toEqual([]);
  expect(waits.length).toBeGreaterThan(0);
});
