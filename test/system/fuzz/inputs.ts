/** Requests and decisions that nobody should send, made by fast-check. */
import fc from 'fast-check';

const oddPlain = [null, true, -1, 0.5, 2 ** 53, 1e308, '', '\ud800', '\u0000', '\u202e\u{1f600}', 'x'.repeat(2_000)];
const oddValues = fc.constantFrom<unknown>(
  ...[...oddPlain, [], [null], {}],
  { secret: '../../etc/passwd' },
  JSON.parse('{"__proto__":{"reference":"R","by":"me"}}'),
  { constructor: { prototype: { polluted: true } } },
  nested(500),
);

const oddKeys = fc.oneof(
  fc.constantFrom('__proto__', 'constructor', 'toString', 'then', 'toJSON'),
  fc.constantFrom('0', '', 'by ', '\ud800', 'x'.repeat(5_000)),
  fc.string(),
);

function nested(levels: number): unknown {
  return JSON.parse('['.repeat(levels) + ']'.repeat(levels));
}

/** Anything that is no object, and objects of nothing that is known. */
export const garbage: fc.Arbitrary<unknown> = fc.oneof(
  oddValues,
  fc.jsonValue({ maxDepth: 4 }),
  fc.dictionary(oddKeys, oddValues, { minKeys: 1, maxKeys: 5 }),
);

/** A right one in which one field is wrong: at the top, or in its first item. */
export function spoilt(right: Record<string, unknown>): fc.Arbitrary<Record<string, unknown>> {
  const keys = Object.keys(right).filter((key) => key !== 'reference');
  const wrong = fc.record({ key: fc.constantFrom(...keys), value: oddValues.filter((value) => !mayBeRight(value)) });
  const surplus = fc.record({ key: fc.string({ minLength: 1 }).map((key) => `x${key}`), value: oddValues });
  return fc.oneof(wrong, surplus).map(({ key, value }) => ({ ...structuredClone(right), [key]: value }));
}

/** Nothing, a text or a yes may stand where one is expected. */
function mayBeRight(value: unknown): boolean {
  return value === true || isEmpty(value) || typeof value === 'string';
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}
