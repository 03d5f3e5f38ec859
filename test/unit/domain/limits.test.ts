import type { z } from 'zod';
import { decisionSchemas } from '../../../src/domain/decisions';
import { beyondLimits } from '../../../src/domain/limits';
import { requestSchemas } from '../../../src/domain/requests';
import { check } from '../../../src/domain/validation';
import { cartItem, changeRequest, firewallsRequest, provisionRequest } from '../../support/requests';

const times = <T>(length: number, make: (index: number) => T): T[] => Array.from({ length }, (_, index) => make(index));
const ids = (length: number) => times(length, (index) => index + 1);
const items = (length: number) => times(length, () => cartItem());
const nested = (levels: number): unknown => times(levels, (level) => level).reduce<unknown>((inner) => [inner], 1);

it.each<[string, object, ...fields: string[]]>([
  ['200 items', provisionRequest({ items: items(200) })],
  ['a label of 1,000 characters', provisionRequest({ label: 'x'.repeat(1_000) })],
  ['a script of nearly a mebibyte', provisionRequest({ items: [{ custom_script: 'AAAA'.repeat(250_000) }] })],
  ['200 firewalls', firewallsRequest({ assign: ids(200) })],
  ['a note of 4,000 characters', { note: 'x'.repeat(4_000), by: 'x'.repeat(200) }],
  ['32 levels', { correction: { a: nested(29) } }],
  ['201 items', provisionRequest({ items: items(201) }), 'items'],
  ['201 firewalls', firewallsRequest({ exactly: ids(201) }), 'exactly'],
  ['a label of 1,001 characters', provisionRequest({ label: 'x'.repeat(1_001) }), 'label'],
  ['a currency of a sentence', changeRequest({ guard: { currency: 'x'.repeat(101) } }), 'guard.currency'],
  ['a note of 4,001 characters', { note: 'x'.repeat(4_001) }, 'note'],
  ['a long text in a correction', { correction: { label: 'x'.repeat(1_001) } }, 'correction.label'],
  ['10,001 servers of a decision', { vmObjectIds: ids(10_001) }, 'vmObjectIds'],
  ['20,001 values', { a: ids(20_000) }, ''],
  ['33 levels and more', { correction: nested(50_000) }, ''],
  ['what is no JSON', { correction: { item: 1n } }, 'correction.item'],
  ['a name that zod leaves out', JSON.parse('{"metadata":{"__proto__":"x"}}') as object, 'metadata.__proto__'],
  ['half a character in a label', provisionRequest({ label: 'no \ud83d' }), 'label'],
  ['half a character in a password', provisionRequest({ items: [{ password: '\udc00x' }] }), 'items[0].password'],
  ['what JSON has no word for', { correction: { item: NaN } }, 'correction.item'],
])('of %s what is beyond the limits is named', (_, input, ...fields) => {
  expect(beyondLimits(input).map(({ field }) => field)).toEqual(fields);
});

it.each<[string, Parameters<typeof provisionRequest>[0], ...problems: { field: string; message: string }[]]>([
  ['10,000 servers', { items: [cartItem({ quantity: 9_999 }), cartItem()] }],
  ['200 servers with firewalls', { items: [cartItem({ quantity: 200 })], firewalls: ids(200) }],
  [
    '10,001 servers',
    { items: [cartItem({ quantity: 10_000 }), cartItem()] },
    { field: 'items', message: 'order 10001 servers; one saga takes at most 10000' },
  ],
  [
    '201 servers with firewalls',
    { items: [cartItem({ quantity: 201 })], firewalls: [143] },
    { field: 'firewalls', message: 'are assigned to at most 200 servers, but 201 are ordered' },
  ],
])('an order of %s: what is too much is named', (_, fields, ...problems) => {
  const checked = check(requestSchemas().provisionServers(), provisionRequest(fields));
  expect(checked.ok ? [] : checked.problems).toEqual(problems);
});

it('half a character in what a person says is an unknown one', () => {
  for (const [name, field] of Object.entries({ reject: 'reason', skip: 'note', approve: 'by' } as const)) {
    const schema = decisionSchemas[name as 'reject']() as z.ZodType;
    const value = expect.objectContaining({ [field]: 'no \ufffd' }) as object;
    expect(check(schema, { question: 'q', by: 'ann', [field]: 'no \ud83d' })).toEqual({ ok: true, value });
  }
});

it('of thousands of wrong fields the first hundred are named', () => {
  const request = provisionRequest({ items: times(200, () => ({ plan_id: 0 })) });
  const checked = check(requestSchemas().provisionServers(), request);
  if (checked.ok) throw new Error('it is wrong');
  expect(checked.problems).toHaveLength(101);
  expect(checked.problems.at(-1)).toEqual({ field: '', message: 'and 100 more' });
});
