/** The lenient readings: pointers and Retry-After. */
import { fc } from '../../support/properties';
import { idsAt, pairsAt } from '../../../src/provider/json-pointer';
import { retryAfterOf } from '../../../src/domain/retry-after';

describe('a pointer', () => {
  const document = {
    data: {
      servers: [{ id: 5 }, { id: '6', name: 'x' }],
      ids: [7, '8'],
      mixed: [9, 'no'],
      twice: [{ id: 5 }, { id: '5' }],
    },
    'a/b': 1,
    'm~n': 2,
    '~1': 3,
    '': 4,
    '*': 11,
    nested: [[12], [13, 14]],
    some: [{ id: 5 }, {}, { id: null }],
    deep: [{ all: [{ id: 1 }] }, { all: [] }],
    none: [],
  };
  test.each<[string, number[] | undefined]>([
    ['/data/servers/0/id', [5]],
    ['/data/servers/*/id', [5, 6]],
    ['/data/ids', [7, 8]],
    ['/data/ids/*', [7, 8]],
    ['/data/ids/1', [8]],
    ['/data/mixed', undefined],
    ['/data/mixed/*', undefined],
    ['/data/twice/*/id', undefined],
    ['/some/*/id', undefined],
    ['/deep/*/all/*/id', [1]],
    ['/deep/*/none/*/id', undefined],
    ['/none/*/all/*/id', []],
    ['/none', []],
    ['/data/servers/*/all/*', undefined],
    ['/a~1b', [1]],
    ['/m~0n', [2]],
    ['/~01', [3]],
    ['/', [4]],
    ['/*', [11]],
    ['/nested/*', [12, 13, 14]],
    ['/nested/*/*', [12, 13, 14]],
    ['/data/ids/01', undefined],
    ['/data/ids/-', undefined],
    ['/data/ids/2', undefined],
    ['/data/ids/length', undefined],
    ['/constructor/length', undefined],
    ['/missing/deeper', undefined],
    ['/data/*/id', undefined],
  ])('%s finds %j', (pointer, found) => expect(idsAt(pointer, document)).toEqual(found));

  test.each([
    [
      '/data/servers/*/id',
      '/data/servers/*/name',
      [
        [[5], []],
        [['6'], ['x']],
      ],
    ],
    ['/data/ids', '/a~1b', [[[[7, '8']], [1]]]],
    [
      '/data/ids/*',
      '/data/mixed/*',
      [
        [
          [7, '8'],
          [9, 'no'],
        ],
      ],
    ],
  ])('%s and %s are paired by the element that both lead through', (one, other, found) => {
    expect(pairsAt(one, other, document)).toEqual(found);
  });

  test('finds ids or nothing in any JSON, and throws for none', () => {
    const segment = fc.constantFrom('a', '0', '1', '*', '', '~', '__proto__');
    fc.assert(
      fc.property(fc.array(segment), fc.jsonValue(), (segments, response) => {
        const found = idsAt(segments.map((one) => `/${one}`).join(''), response);
        expect(new Set(found).size).toBe(found?.length ?? 0);
        for (const one of found ?? []) expect(Number.isSafeInteger(one) && one > 0).toBe(true);
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
    ['Sun, 06 Nov 1994 08:49:35 GMT', 2_000],
    ['Sun, 06 Nov 1994 08:39:37 GMT', 600_000],
    ['no date', 37_000],
  ])('by the clock of its own answer, %s, it is %d ms', (date, ms) =>
    expect(retryAfterOf(429, { 'retry-after': imf, date }, nowMs)).toBe(ms),
  );

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
