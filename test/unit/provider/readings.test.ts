/** The lenient readings: firewall lists, pointers and Retry-After. */
import { fc } from '../../support/properties';
import { readPointers } from '../../../src/provider/json-pointer';
import { retryAfterOf } from '../../../src/provider/retry-after';
import { readFirewallIds } from '../../../src/provider/schemas';

const id = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });

describe('a firewall list', () => {
  const asWritten = (value: number) =>
    fc.constantFrom<unknown>(value, String(value), { id: value }, { id: String(value), name: 'web' });
  const wrap = fc.constantFrom<(list: unknown[]) => unknown>(
    (list) => list,
    (list) => ({ firewalls: list }),
    (list) => ({ data: list }),
    (list) => ({ firewalls: list, data: { code: 200 } }),
  );

  test('is read in every shape that is known', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(id).chain((ids) => fc.tuple(fc.constant(ids), fc.tuple(...ids.map(asWritten)), wrap)),
        ([ids, list, wrapped]) => expect(readFirewallIds(wrapped(list))).toEqual({ ids, pending: [] }),
      ),
    );
  });

  test('comes out of any JSON as ids or as nothing', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (response) => {
        for (const found of readFirewallIds(response)?.ids ?? [])
          expect(Number.isSafeInteger(found) && found > 0).toBe(true);
      }),
    );
  });
});

test('a list of more firewalls than any server has is not read', () => {
  const ids = Array.from({ length: 501 }, (_, index) => index + 1);
  expect(readFirewallIds(ids.slice(1))?.ids).toHaveLength(500);
  expect(readFirewallIds(ids)).toBeUndefined();
});

describe('a page of a firewall list', () => {
  const beside = [
    // There is another page, or this is not the first one.
    ...[{ next: 'https://provider.example/page/2' }, { next_page: 2 }, { links: { next: '/page/2' } }],
    ...[{ _links: { next: { href: '/page/2' } } }, { has_more: true }, { page_info: { has_next_page: true } }],
    ...[{ nextPageToken: 'abc' }, { page: 2 }, { offset: 1 }, { last_page: 2 }, { pagination: { total_pages: 2 } }],
    // There are more of them.
    ...[{ meta: { total: 3 } }, { total: '3' }, { recordsTotal: 3 }],
    { meta: { pagination: { page: 1, per_page: 1, next_page: 2, total_entries: 3 } } },
    // It is full, and nobody says how many there are.
    ...[{ per_page: 1 }, { meta: { current_page: 1, pageSize: '1' } }, { links: [{ rel: 'next', href: '/page/2' }] }],
  ];
  test.each(beside)('is not the list: %j', (said) => {
    for (const list of [{ data: [1] }, { firewalls: [{ id: 1 }] }]) {
      expect(readFirewallIds({ ...list, ...said })).toBeUndefined();
    }
  });
  test.each([{ per_page: 2 }, { limit: -1 }, { per_page: 1, total: 1 }, { links: [{ rel: 'self', href: '/' }] }])(
    'is the whole list: %j',
    (said) => {
      expect(readFirewallIds({ data: [1], ...said })?.ids).toEqual([1]);
    },
  );
});

test.each([{ firewall_id: 9 }, { firewallId: 9 }, { firewall: { id: 9, name: 'web' } }])(
  'an assignment’s own id is no firewall’s: %j',
  (said) => {
    expect(readFirewallIds([{ id: 5, ...said }])?.ids).toEqual([9]);
  },
);

test.each([
  [{ status: 'pending' }, true],
  [{ state: 'assigning' }, true],
  [{ status: 'failed' }, true],
  [{ active: false }, true],
  [{ pending: true }, true],
  [{ deleted: true }, true],
  [{ removed: false }, false],
  [{ status: 'active' }, false],
  [{ status: 1, enabled: true }, false],
  [{ status: null, name: 'web' }, false],
])('a firewall with %j is on its way: %s', (said, isPending) => {
  expect(readFirewallIds([{ id: 1, ...said }, 2])).toEqual({ ids: [1, 2], pending: isPending ? [1] : [] });
});

describe('a pointer', () => {
  const document = {
    data: { servers: [{ id: 5 }, { id: '6' }, { name: 'x' }, { id: 5 }], ids: [7, '8'], mixed: [9, 'no'] },
    'a/b': 1,
    'm~n': 2,
    '~1': 3,
    '': 4,
    '*': 11,
    nested: [[12], [13, 14]],
  };
  test.each([
    ['/data/servers/0/id', [5]],
    ['/data/servers/*/id', [5, 6]],
    ['/data/ids', [7, 8]],
    ['/data/ids/*', [7, 8]],
    ['/data/ids/1', [8]],
    ['/data/mixed', []],
    ['/data/mixed/*', [9]],
    ['/a~1b', [1]],
    ['/m~0n', [2]],
    ['/~01', [3]],
    ['/', [4]],
    ['/*', [11]],
    ['/nested/*', [12, 13, 14]],
    ['/nested/*/*', [12, 13, 14]],
    ['/data/ids/01', []],
    ['/data/ids/-', []],
    ['/data/ids/2', []],
    ['/data/ids/length', []],
    ['/constructor/length', []],
    ['/missing/deeper', []],
    ['data', []],
    ['/~2', []],
  ])('%s finds %j', (pointer, found) => expect(readPointers([pointer], document)).toEqual(found));

  test('finds ids or nothing in any JSON, and throws for none', () => {
    const segment = fc.constantFrom('a', '0', '1', '*', '', '~', '__proto__');
    fc.assert(
      fc.property(fc.array(fc.array(segment)), fc.jsonValue(), (pointers, response) => {
        const found = readPointers(
          pointers.map((segments) => segments.map((one) => `/${one}`).join('')),
          response,
        );
        expect(new Set(found).size).toBe(found.length);
        for (const one of found) expect(Number.isSafeInteger(one) && one > 0).toBe(true);
      }),
    );
  });
});

describe('Retry-After', () => {
  const nowMs = Date.UTC(1994, 10, 6, 8, 49, 0);
  const imf = 'Sun, 06 Nov 1994 08:49:37 GMT';
  const waitOf = (header: string) => retryAfterOf(429, { 'retry-after': header }, nowMs);
  test.each([
    ['0', 0],
    [' 120 ', 120_000],
    ['86400', 86_400_000],
    ['86401', undefined],
    [String(nowMs / 1000 + 30), undefined],
    ['99999999999999999999', undefined],
    [imf, 37_000],
    ['Sunday, 06-Nov-94 08:49:37 GMT', 37_000],
    ['Sun Nov  6 08:49:37 1994', 37_000],
    ['Sun, 06 Nov 1994 08:48:00 GMT', 0],
    ['Sun, 01 Dec 1994 00:00:00 GMT', undefined],
    ['Sun Nov 16 08:49:37 1994', undefined],
  ])('%j is %s ms', (header, ms) => expect(waitOf(header)).toBe(ms));

  test.each([
    ...['', '-1', '1.5', '1e3', '5 seconds', '1 2', 'x1', '1x', '1994-11-06T08:49:37Z'],
    ...[imf.replace('06 Nov', '00 Nov'), imf.replace('Nov', 'Nop')],
    ...['24:49:37', '23:59:61', '23:60:00'].map((time) => imf.replace('08:49:37', time)),
    ...[imf.replace('GMT', 'CET'), `x${imf}`, `${imf}+1`, 'xSunday, 06-Nov-94 08:49:37 GMT'],
    ...['Sunday, 06-Nov-94 08:49:37 GMTx', 'xSun Nov  6 08:49:37 1994', 'Sun Nov  6 08:49:37 19945'],
  ])('%j says nothing', (header) => expect(waitOf(header)).toBeUndefined());

  test('is never negative, fractional or infinite, whatever the header', () => {
    const headers = fc.oneof(fc.string(), fc.integer().map(String), fc.date({ noInvalidDate: true }).map(String));
    fc.assert(
      fc.property(headers, (header) => {
        const ms = waitOf(header);
        expect(ms === undefined || (Number.isSafeInteger(ms) && ms >= 0)).toBe(true);
      }),
    );
  });
});
