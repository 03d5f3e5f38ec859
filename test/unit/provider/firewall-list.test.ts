/** A list of firewalls, as the profile declares it, and without one. */
import { httpProfile } from '../../../src/domain/profile';
import { readFirewalls } from '../../../src/provider/firewall-list';
import { closeAll, createClient, serve } from '../../support/stand-in';
import { fc } from '../../support/properties';

afterEach(closeAll);

const id = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });
const read = (body: unknown, declared?: Parameters<typeof readFirewalls>[1], isPart = false) =>
  readFirewalls({ body, isPart }, declared);

test('without a profile a list of ids, or of objects with an id, is read, and none is active', () => {
  const asWritten = (value: number) =>
    fc.constantFrom<unknown>(value, String(value), { id: value }, { id: String(value), name: 'web', status: 'active' });
  fc.assert(
    fc.property(
      fc.uniqueArray(id).chain((ids) => fc.tuple(fc.constant(ids), fc.tuple(...ids.map(asWritten)))),
      fc.string(),
      ([ids, list], name) => {
        expect(read(list)).toEqual({ ids, active: undefined });
        expect(read(list, {}, true)).toBeUndefined();
        // The list of its errors, perhaps.
        for (const declared of [undefined, httpProfile().firewalls])
          expect(read({ [name]: list }, declared)).toBeUndefined();
        expect(read({ data: list }, { list: '/data' })).toEqual({ ids, active: undefined });
      },
    ),
  );
});

test('without a profile no list is read with anything beside it, and of no JSON is a firewall active', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.string(), fc.jsonValue(), (body, name, beside) => {
      expect(read(body)?.active).toBeUndefined();
      expect(read({ firewalls: [1], [`${name}x`]: beside })).toBeUndefined();
    }),
  );
});

test('where nothing but the state is declared, no page and no part is read', () => {
  const active = { activeIf: { '/status': 'active' } };
  fc.assert(
    fc.property(fc.string(), fc.jsonValue(), (name, beside) => {
      expect(read({ data: [{ id: 1, status: 'active' }], [`${name}x`]: beside }, active)).toBeUndefined();
    }),
  );
});

test.each<[string, unknown, Parameters<typeof readFirewalls>[1], unknown]>([
  [
    'where it stands',
    { data: { list: [5] }, ok: true },
    { list: '/data/list', whole: { '/ok': true } },
    [[5], undefined],
  ],
  ['which id counts', [{ id: 5, firewall: { id: 9 } }], { id: '/firewall/id', activeIf: 'listed' }, [[9], [9]]],
  ['which are active', [{ id: 5, s: 'on' }, { id: 6, s: 'up' }, 7], { activeIf: { '/s': 'on' } }, [[5, 6, 7], [5]]],
  // Words that nobody has declared: neither active, nor anything else.
  ...['available', 'associated', 'in force'].map((s): [string, unknown, object, unknown] => [
    `another word than “${s}” as active`,
    [{ id: 5, s }],
    { activeIf: { '/s': 'active' } },
    [[5], []],
  ]),
  [
    'two entries of one firewall',
    [
      { id: 5, s: 1 },
      { id: '5', s: 1 },
    ],
    { activeIf: { '/s': 1 } },
    undefined,
  ],
  [
    'that it is whole by its count',
    { data: [5], n: '1' },
    { list: '/data', whole: { '/n': 'length' } },
    [[5], undefined],
  ],
  ['a count of none', { data: [], n: 0 }, { list: '/data', whole: { '/n': 'length' } }, [[], undefined]],
  ['another count', { data: [5], n: 2 }, { list: '/data', whole: { '/n': 'length' } }, undefined],
  ['no count', { data: [5] }, { list: '/data', whole: { '/n': 'length' } }, undefined],
  ['that HTTP would say it', { data: [5], next: 2 }, { list: '/data', whole: 'status' }, [[5], undefined]],
  ['where it stands, and not whether it is whole', { data: [5], next: 2 }, { list: '/data' }, undefined],
  ['where it does not stand', [5], { list: '/data' }, undefined],
  ['an id that one element lacks', [{ id: 5 }, { name: 'web' }], { activeIf: 'listed' }, undefined],
])('declares %s', (_, body, declared, expected) => {
  const found = read(body, declared);
  expect(found && [found.ids, found.active]).toEqual(expected);
  expect(read(body, declared, true)).toBeUndefined();
});

test('a list of more firewalls than any server has is not read', () => {
  const ids = Array.from({ length: 501 }, (_, index) => index + 1);
  expect(read(ids.slice(1))?.ids).toHaveLength(500);
  expect(read(ids)).toBeUndefined();
});

test.each<[boolean, object]>([
  [false, {}],
  [false, { headers: { link: '<https://x/?page=1>; rel="prev"' } }],
  [true, { headers: { link: '<https://x/?page=2>; rel="next"' } }],
  [true, { headers: { link: '<https://x/?page=1>; rel=prev, <https://x/?page=3>; rel=next' } }],
  [true, { headers: { 'content-range': 'items 0-1/35' } }],
  [true, { status: 206 }],
  [true, { status: 203 }],
])('HTTP says that it is a part (%s): %j', async (isPart, answer) => {
  const { url } = await serve({ body: '[1]', ...answer });
  expect(await createClient(url).listFirewalls(7)).toEqual({ body: [1], isPart });
});
