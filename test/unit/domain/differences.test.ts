import { fc } from '../../support/properties';
import { differences } from '../../../src/domain/differences';

/** Also objects whose keys tempt: a lookup through the prototype finds them in `{}`, too. */
const key = fc.oneof(fc.string({ minLength: 1 }), fc.constantFrom('constructor', '__proto__', 'toString'));
const json = fc.oneof(fc.jsonValue({ maxDepth: 4 }), fc.dictionary(key, fc.jsonValue({ maxDepth: 1 })));
const copy = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

it('finds some between any two values, and only where they differ, in both directions', () => {
  fc.assert(
    fc.property(json, json, (one, other) => {
      const [a, b] = [copy(one), copy(other)];
      // Two ways of writing the same object differ only in the order of keys.
      const canonical = (value: unknown): string =>
        JSON.stringify(value, (_, inner: unknown) =>
          typeof inner === 'object' && inner !== null && !Array.isArray(inner)
            ? { object: Object.entries(inner).sort(([x], [y]) => (x < y ? -1 : 1)) }
            : inner,
        );
      const alike = canonical(a) === canonical(b);
      expect(differences(a, b).length === 0).toBe(alike);
      expect(differences(b, a).sort()).toEqual(differences(a, b).sort());
    }),
  );
});

it.each([
  [{ items: [{ plan_id: 1 }] }, { items: [{ plan_id: 2 }] }, ['items[0].plan_id']],
  [{ items: [{}, {}] }, { items: [{}] }, ['items[1]']],
  [{ firewalls: [1, 2] }, { firewalls: [2, 1] }, ['firewalls[0]', 'firewalls[1]']],
  [{ approval: 'never' }, {}, ['approval']],
  [{ approval: 'always' }, { approval: { above: 1 } }, ['approval']],
  [{ delta: '1' }, { delta: 1 }, ['delta']],
  [{ list: [] }, { list: {} }, ['list']],
  [{ a: null }, { a: {} }, ['a']],
  ['text', { a: 1 }, ['']],
])('between %j and %j names %j', (one, other, fields) => {
  expect(differences(one, other)).toEqual(fields);
});
