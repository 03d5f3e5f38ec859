/**
 * What somebody reads whose request or decision is wrong: each sentence, word for word, and the field that it is said
 * of.
 */
import { z } from 'zod';
import { decisionSchemas, type DecisionName } from '../../../src/domain/decisions';
import { beyondLimits } from '../../../src/domain/limits';
import { fitsDocument, provisionServersSchema, requestSchemas } from '../../../src/domain/requests';
import { redactedMark } from '../../../src/domain/secrets';
import { describeProblems, nameOfField } from '../../../src/domain/problems';
import { check, requestBytesMax } from '../../../src/domain/validation';
import { cartItem, changeRequest, firewallsRequest, provisionRequest, switchRequest } from '../../support/requests';

const schemas = requestSchemas();
const said = (schema: Parameters<typeof check>[0], input: unknown) => {
  const checked = check(schema, input);
  return checked.ok ? 'nothing' : describeProblems(checked.problems);
};

const secretHint = 'or { "secret": the name of a secret }';

describe('a provisioning', () => {
  it.each([
    [{ reference: 7 }, 'reference: must be a string: your own name for this order'],
    [{ reference: 'a b' }, 'reference: must be 1 to 128 of the characters A-Z a-z 0-9 . _ : -'],
    [{ account: 7 }, 'account: must be a string'],
    [{ account: 'AB' }, 'account: must be two letters or digits, a hyphen and digits, like AB-12345678'],
    [{ account: `AB-${'1'.repeat(253)}` }, 'account: must not be longer than 255 characters'],
    [{ currency: 7 }, 'currency: must be a string'],
    [{ label: '' }, 'label: must not be empty'],
    [{ payment_type: 'cash' }, 'payment_type: must be "ccard"'],
    [{ items: 'none' }, 'items: must be a list of cart items'],
    [{ items: [] }, 'items: must hold at least one item'],
    [{ items: [7] }, 'items[0]: must be a JSON object'],
    [{ items: [null] }, 'items[0]: must be a JSON object'],
    [{ items: [undefined] }, 'items[0]: must be a JSON object'],
    [{ firewalls: 7 }, 'firewalls: must be a list of ids'],
    [{ firewalls: ['1'] }, 'firewalls[0]: must be a whole number'],
    [{ firewalls: [0] }, 'firewalls[0]: must be a whole number above 0'],
    [{ firewalls: [5, 6, 5] }, 'firewalls[2]: is in the list twice'],
    [
      { vmObjectIds: [] },
      'vmObjectIds: must name at least one server; vmObjectIds: names 0 servers, but 1 are ordered',
    ],
    [{ vmObjectIds: [1, 2] }, 'vmObjectIds: names 2 servers, but 1 are ordered'],
    [{ vmObjectIds: [1] }, 'nothing'],
    [{ onRefusal: 'wait' }, 'onRefusal: must be "fail" or "ask"'],
    [{ payment_type: 'ccard' }, 'nothing'],
    [{ a: { b: 1 }, c: 1 }, 'a: is not a field of this request; c: is not a field of this request'],
  ])('%j: %s', (changes, sentence) => {
    expect(said(schemas.provisionServers(), { ...provisionRequest(), ...changes })).toBe(sentence);
  });

  it.each([
    [{ billing_cycle: 2 }, 'billing_cycle: must be 1 (monthly), 3 (quarterly) or 12 (annually)'],
    [{ quantity: 1.5 }, 'quantity: must be a whole number'],
    [{ addons: 7 }, 'addons: must be a list'],
    [{ addons: [{ id: 6, additional_value: '1' }] }, 'addons[0].additional_value: must be a whole number'],
    [{ password: '' }, 'password: must not be empty'],
    [{ password: 7 }, `password: must be a text that is not empty, ${secretHint}`],
    [{ password: redactedMark }, `password: was redacted: put the real value, ${secretHint}`],
    [{ password: undefined }, 'password: is required for plan_type cloud_servers_standard'],
    [{ custom_ssh_key: 7 }, `custom_ssh_key: must be base64, ${secretHint}`],
    [{ custom_script: 7 }, `custom_script: must be base64, ${secretHint}`],
    [{ custom_script: 'YW!=' }, 'custom_script: must be base64, and not empty'],
    [{ colour: 1 }, 'colour: is not a field of this request'],
    [{ password: { secret: 'web-root' } }, 'nothing'],
  ])('of an item: %j: %s', (changes, sentence) => {
    const request = { ...provisionRequest(), items: [cartItem(), { ...cartItem(), ...changes }] };
    expect(said(schemas.provisionServers(), request)).toBe(sentence === 'nothing' ? sentence : `items[1].${sentence}`);
  });

  it('names the plan types that there are', () => {
    const request = { ...provisionRequest(), items: [{ ...cartItem(), plan_type: 'metal' }] };
    expect(said(schemas.provisionServers(), request)).toMatch(/, cloud_servers_highstorage_sas$/);
    expect(said(provisionServersSchema(), request)).toMatch(/, cloud_servers_highstorage_sas$/);
    expect(said(requestSchemas(['bare_metal']).provisionServers(), request)).toBe(
      'items[0].plan_type: must be one of cloud_servers_standard, cloud_servers_highmemory, ' +
        'cloud_servers_dedicatedcpu, cloud_servers_highstorage_sas, bare_metal',
    );
  });
});

describe('a change order and a switch', () => {
  const ofResources = 'must be vm_backup, china_route or vm_antiddos';
  it.each([
    [{ resources: 7 }, 'resources: must be a list'],
    [{ resources: [] }, 'resources: must hold at least one resource'],
    [{ resources: [{ resource_name: 'ram', delta_value: 1 }] }, `resources[0].resource_name: ${ofResources}`],
    [
      { resources: [{ resource_name: 'china_route', delta_value: true }] },
      'resources[0].delta_value: must be a number or a numeric string',
    ],
    [
      { resources: [{ resource_name: 'vm_antiddos', delta_value: 'one' }] },
      'resources[0].delta_value: must be a number or a numeric string, like "1"',
    ],
    [{ guard: { maxTotal: '5' } }, 'guard.maxTotal: must be a number'],
    [{ guard: { maxTotal: -1 } }, 'guard.maxTotal: must not be negative'],
    [{ guard: { currency: '' } }, 'guard.currency: must not be empty'],
    [{ guard: { allowInapplicable: 'yes' } }, 'guard.allowInapplicable: must be true or false'],
    [{ guard: { maxTotal: 0, currency: 'usd', allowInapplicable: false } }, 'nothing'],
    [
      { approval: 'sometimes' },
      'approval: must be "never", "always", { "above": a total } or { "expiresAfterSeconds": a whole number }, or both of these',
    ],
    [{ approval: { above: 20, below: 30 } }, 'approval.below: is not a field of this request'],
    [{ approval: { above: -1 } }, 'approval.above: must not be negative'],
    [{ approval: 'never' }, 'nothing'],
    [{ approval: 'always' }, 'nothing'],
    [{ approval: { above: 0 } }, 'nothing'],
  ])('%j: %s', (changes, sentence) => {
    expect(said(schemas.changeOrder(), changeRequest(changes))).toBe(sentence);
  });

  it.each(['1', '-1', '0', '12.75', '-3.5'])('takes the delta value %s', (delta_value) => {
    const resources = [{ resource_name: 'vm_backup', delta_value }];
    expect(check(schemas.changeOrder(), changeRequest({ resources }))).toMatchObject({ value: { resources } });
  });

  it('says so where only a yes or no will do', () => {
    expect(said(schemas.switchPlan(), switchRequest({ quoteOnly: 'yes' }))).toBe('quoteOnly: must be true or false');
  });
});

it.each([
  [{ exactly: [1], unassign: [1] }, 'exactly: cannot be combined with assign or unassign'],
  [{ assign: undefined, exactly: [1], unassign: [1] }, 'exactly: cannot be combined with assign or unassign'],
  [{ assign: undefined }, 'one of assign, unassign (not empty) or exactly is required'],
  [{ assign: [1, 2], unassign: [3, 2] }, 'unassign[1]: is in assign, too'],
  [{ assign: undefined, unassign: [3] }, 'nothing'],
])('a change of firewalls: %j: %s', (changes, sentence) => {
  expect(said(schemas.setFirewalls(), firewallsRequest(changes))).toBe(sentence);
});

describe('a decision', () => {
  const evidence = 'note: is required: say how you know';
  const unnamed = 'question: is required: the id of the question that you answer';
  const notAnId = 'orderId: must be a string, or a whole number of at most 15 digits';
  const question = '7f3a90c1';
  it.each<[DecisionName, object, string]>([
    ['retry', { question, by: 7 }, 'by: must be a string'],
    ['retry', { question, by: '' }, 'by: must not be empty'],
    ['retry', { question, by: 'two', note: 'seen' }, 'nothing'],
    ['retry', { question, note: 7 }, 'note: must be a string'],
    ['retry', { question: 7 }, unnamed],
    ['retry', {}, unnamed],
    ['retry', { question }, 'nothing'],
    ['retry', { question, correction: 7 }, 'correction: must be a JSON object'],
    ['retry', { question, correction: { label: 'web-2' } }, 'nothing'],
    ['skip', { question }, evidence],
    ['skip', { question, note: ' ' }, evidence],
    ['skip', { question, by: 'op', note: 'made by hand' }, 'nothing'],
    ['skip', { question, note: 'made by hand' }, 'nothing'],
    ['markDone', {}, `${unnamed}; ${evidence}`],
    ['markDone', { note: 'done' }, unnamed],
    ['markDone', { question, note: ' ' }, evidence],
    ['markDone', { question, by: 'op', note: 'done' }, 'nothing'],
    ['markDone', { question, note: 'done', steps: 'a' }, 'steps: must be a list of step ids'],
    ['markDone', { question, note: 'done', steps: [] }, 'steps: must name at least one step'],
    ['markDone', { question, note: 'done', steps: [7] }, 'steps[0]: must be a string'],
    ['markDone', { question, note: 'done', steps: ['a'] }, 'nothing'],
    ['confirmPlaced', {}, `${unnamed}; ${evidence}`],
    ['confirmPlaced', { question }, evidence],
    ['confirmPlaced', { note: 'seen' }, unnamed],
    ['confirmPlaced', { question: 7, note: 'seen' }, unnamed],
    ['confirmPlaced', { question, note: 'seen', vmObjectIds: [] }, 'nothing'],
    ['confirmPlaced', { question, by: 'op', note: 'seen', vmObjectIds: [1] }, 'nothing'],
    ['confirmPlaced', { question, note: 'seen', orderId: '' }, 'orderId: must not be empty'],
    ['confirmPlaced', { question, note: 'seen', orderId: true }, notAnId],
    // What JSON makes of 12345678901234567890 is another id.
    ['confirmPlaced', { question, note: 'seen', orderId: 12345678901234567000 }, notAnId],
    ['confirmPlaced', { question, note: 'seen', orderId: 'O-1' }, 'nothing'],
    ['confirmNotPlaced', { question, note: '' }, evidence],
    ['confirmNotPlaced', { by: 'op', note: 'looked' }, unnamed],
    ['confirmNotPlaced', { question, by: 'op', note: 'looked' }, 'nothing'],
    ['confirmNotPlaced', { question, note: 'looked', orderId: 'O-1' }, 'orderId: is not a field of this request'],
    ['approve', {}, unnamed],
    ['approve', { question, by: 'boss', note: 'fine' }, 'nothing'],
    ['approve', { question, reason: 'fine' }, 'reason: is not a field of this request'],
    ['reject', { question, reason: 7 }, 'reason: must be a string'],
    ['reject', { question, by: 'boss', note: 'n', reason: 'too dear' }, 'nothing'],
    ['provideServers', { question }, 'vmObjectIds: must be a list of ids'],
    ['provideServers', { question, by: 'op', note: 'n', vmObjectIds: [1] }, 'nothing'],
  ])('%s %j: %s', (name, body, sentence) => {
    expect(said(decisionSchemas[name](), body)).toBe(sentence);
  });

  it('keeps an order’s id as text, however it was typed', () => {
    const body = { question, note: 'seen', orderId: 4711 };
    expect(decisionSchemas.confirmPlaced().parse(body)).toEqual({ ...body, orderId: '4711' });
  });
});

const nested = (levels: number): unknown => (levels === 0 ? 1 : [nested(levels - 1)]);

it.each<[string, () => unknown, string]>([
  ['a long id of an order', () => ({ orderId: 'x'.repeat(201) }), 'orderId: must not have more than 200 characters'],
  ['a long note', () => ({ note: 'x'.repeat(4_001) }), 'note: must not have more than 4000 characters'],
  [
    'many resources',
    () => ({ resources: Array.from({ length: 201 }, () => 1) }),
    'resources: must not have more than 200 entries',
  ],
  ['many values', () => Array.from({ length: 20_000 }, () => 1), 'must not hold more than 20000 values'],
  ['as many as fit', () => Array.from({ length: 19_999 }, () => 1), ''],
  ['deep nesting', () => nested(33), 'must not be nested deeper than 32 levels'],
  ['nesting that is just taken', () => nested(32), ''],
  [
    'what JSON has not',
    () => ({ a: [() => 1], b: Symbol('s'), c: 1n }),
    'a[0]: is not JSON; b: is not JSON; c: is not JSON',
  ],
  [
    'many servers',
    () => ({ items: [{ quantity: 10_001 }] }),
    'items: order up to 10001 servers; one saga takes at most 10000',
  ],
  ['a quantity that is none', () => ({ items: [{ quantity: '10001' }] }), ''],
  [
    'many servers with firewalls',
    () => ({ items: [{ quantity: 201 }], firewalls: [1] }),
    'firewalls: are assigned to at most 200 servers by one saga, but up to 201 are ordered',
  ],
  [
    'many servers for certain',
    () => ({ items: [{ plan_type: 'cloud_servers_standard', quantity: 201 }], firewalls: [1] }),
    'firewalls: are assigned to at most 200 servers by one saga, but 201 are ordered',
  ],
])('beyond the limits: %s', (_, input, sentence) => {
  expect(describeProblems(beyondLimits(input()))).toBe(sentence);
});

it.each([
  ['password', 'x', true],
  ['password', '', false],
  ['custom_ssh_key', 'YQ==', true],
  ['custom_ssh_key', 'YWI=', true],
  ['custom_ssh_key', 'YWJj', true],
  ['custom_ssh_key', 'a password', false],
  ['custom_script', '', false],
  ['custom_script', '    YWJj', false],
  ['custom_script', 'YWJj    ', false],
  ['custom_script', 'YWJ', false],
  ['custom_script', 'A', false],
] as const)('a secret for %s may be %j: %s', (field, value, fits) => {
  expect(fitsDocument(field, value)).toBe(fits);
});

describe('what is wrong', () => {
  it('has names and not only places', () => {
    expect(nameOfField([])).toBe('');
    expect(nameOfField([0, 'a', 1, 2, 'b'])).toBe('[0].a[1][2].b');
    expect(nameOfField(['x'.repeat(80)])).toBe('x'.repeat(80));
    expect(nameOfField(['a', 'x'.repeat(81)])).toBe(`a.${'x'.repeat(80)}…`);
  });

  it('is told of a request as a whole, too', () => {
    for (const input of [null, 7, 'text', [], undefined]) {
      expect(check(schemas.cleanCart(), input)).toEqual({
        ok: false,
        problems: [{ field: '', message: 'must be a JSON object' }],
      });
    }
  });

  it('is told of a hundred fields, and counted beyond', () => {
    const many = (fields: number) =>
      check(schemas.cleanCart(), {
        reference: 'r',
        ...Object.fromEntries(Array.from({ length: fields }, (_, index) => [`f${index}`, 1])),
      });
    const hundred = many(100);
    expect(hundred.ok || hundred.problems).toHaveLength(100);
    expect(hundred.ok || hundred.problems.at(-1)?.field).toBe('f99');
    const more = many(102);
    expect(more.ok || more.problems).toHaveLength(101);
    expect(more.ok || more.problems.slice(-2)).toEqual([
      { field: 'f99', message: 'is not a field of this request' },
      { field: '', message: 'and 2 more' },
    ]);
  });

  it('is said of a type even where the schema has no words of its own', () => {
    const schema = z.strictObject({
      int: z.int(),
      number: z.number(),
      yes: z.boolean(),
      list: z.array(z.int()),
      text: z.string(),
    });
    expect(said(schema, { int: 1.5 })).toBe(
      'int: must be a whole number; number: must be a number; yes: must be true or false; list: must be a list; text: must be a string',
    );
    expect(said(z.strictObject({ one: z.literal(1) }), { one: 2 })).toBe('one: Invalid input: expected 1');
    expect(said(z.strictObject({ when: z.date() }), { when: 7 })).toBe('when: must be date');
    expect(said(z.strictObject({ int: z.int('must count') }), { int: 'x' })).toBe('int: must count');
  });

  it('is the size alone, from one byte too many on', () => {
    const frame = JSON.stringify({ reference: 'r', x: '' }).length;
    const ofBytes = (bytes: number) => check(schemas.cleanCart(), { reference: 'r', x: 'x'.repeat(bytes - frame) });
    expect(ofBytes(requestBytesMax)).toMatchObject({ problems: [{ field: 'x' }] });
    expect(ofBytes(requestBytesMax + 1)).toEqual({
      ok: false,
      problems: [{ field: '', message: 'the request is 1048577 bytes long; at most 1048576 are allowed' }],
    });
  });
});
