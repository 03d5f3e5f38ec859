import { fc } from '../../support/properties';
import { cloudServerPlanTypes } from '../../../src/domain/plan-types';
import { provisionServersSchema, requestSchemas } from '../../../src/domain/requests';
import { check, requestBytesMax } from '../../../src/domain/validation';
import { cartItem, changeRequest, firewallsRequest, provisionRequest, switchRequest } from '../../support/requests';

const { provisionServers, changeOrder, switchPlan, setFirewalls } = requestSchemas();
const provision = provisionServers();
const fieldsOf = (schema: Parameters<typeof check>[0], input: unknown): string[] => {
  const checked = check(schema, input);
  return checked.ok ? [] : checked.problems.map(({ field }) => field);
};
const plansTo = (last: number) => Array.from({ length: last }, (_, index) => ({ plan_id: index + 1 }));
const withItem = (changes: object) => ({ ...provisionRequest(), items: [{ ...cartItem(), ...changes }] });

describe('what the document allows is taken', () => {
  it('in requests as a backend sends them', () => {
    expect(fieldsOf(provision, provisionRequest())).toEqual([]);
    expect(fieldsOf(changeOrder(), changeRequest())).toEqual([]);
    expect(fieldsOf(switchPlan(), switchRequest())).toEqual([]);
    expect(fieldsOf(setFirewalls(), firewallsRequest())).toEqual([]);
  });

  it('as five alternatives of an item', () => {
    expect(fieldsOf(provision, withItem({ alternatives: plansTo(5) }))).toEqual([]);
  });

  it('for every reference and account of the allowed characters', () => {
    const references = fc.stringMatching(/^[A-Za-z0-9._:-]{1,128}$/);
    const accounts = fc.stringMatching(/^[A-Za-z0-9]{2}-\d{1,20}$/);
    fc.assert(
      fc.property(references, accounts, (reference, account) => {
        expect(fieldsOf(provision, provisionRequest({ reference, account }))).toEqual([]);
      }),
    );
  });
});

describe('what the document forbids is refused, by the field’s name', () => {
  const x = 'x'.repeat(129);
  const ofRequest: [field: string, ...wrong: object[]][] = [
    [
      'account',
      ...['AB12345678', 'ABC-1', 'AB-', 'AB-1x', `AB-${'1'.repeat(253)}`, undefined].map((account) => ({ account })),
    ],
    ['payment_type', { payment_type: 'paypal' }],
    ['reference', { reference: 'a/b' }, { reference: '' }, { reference: x }],
    ['items', { items: [] }, { items: undefined }],
    ['label', { label: '' }],
    ['firewalls[1]', { firewalls: [1, 1] }],
    ['firewalls[0]', { firewalls: [0] }],
    ['vmObjectIds', { vmObjectIds: [1, 2] }],
    ['metadata', { metadata: ['a'] }, { metadata: { a: '1', b: '2', c: '3', d: '4', e: '5', f: '6' } }],
    ['metadata', { metadata: { 'cost centre': '4711' } }],
    ['metadata.ticket', ...['', "'", 'a\nb', x, 7].map((ticket) => ({ metadata: { ticket } }))],
    ['colour', { colour: 'red' }],
  ];
  it.each(ofRequest)('%s in %j', (field, ...wrong) => {
    for (const changes of wrong) expect(fieldsOf(provision, { ...provisionRequest(), ...changes })).toEqual([field]);
  });

  const ofItem: [field: string, ...wrong: object[]][] = [
    ['billing_cycle', { billing_cycle: 2 }, { billing_cycle: '1' }, { billing_cycle: undefined }],
    ['plan_type', { plan_type: 'cloud_servers_highfrequency' }],
    ['plan_id', { plan_id: 1.5 }, { plan_id: -1 }],
    ['quantity', { quantity: 0 }],
    ['addons[0].id', { addons: [{ id: 0, additional_value: 1 }] }],
    ['addons[0].additional_value', { addons: [{ id: 1 }] }],
    ['password', { password: undefined }, { password: '' }],
    ['os_template_id', { os_template_id: undefined }],
    ['custom_ssh_key', { custom_ssh_key: 'not base64!' }],
    ['custom_script', { custom_script: '' }, { custom_script: 'YWI' }, { custom_script: '====' }],
    ['colour', { colour: 'red' }],
    ['alternatives', { alternatives: { plan_id: 2 } }, { alternatives: plansTo(6) }],
    ['alternatives[0]', { plan_id: 1, alternatives: [{ plan_id: 1 }] }, { alternatives: [{}] }],
    ['alternatives[1]', { alternatives: [{ plan_id: 2 }, { plan_id: 2 }] }],
    ['alternatives[0].plan_type', { alternatives: [{ plan_type: 'nothing' }] }],
    ['alternatives[0].password', { alternatives: [{ plan_id: 2, password: 'another' }] }],
    ['alternatives[0].quantity', { alternatives: [{ plan_id: 2, quantity: 2 }] }],
    [
      'password',
      { plan_type: undefined, password: undefined, alternatives: [{ plan_type: 'cloud_servers_standard' }] },
    ],
  ];
  it.each(ofItem)('items[0].%s in %j', (field, ...wrong) => {
    for (const changes of wrong) expect(fieldsOf(provision, withItem(changes))).toEqual([`items[0].${field}`]);
  });

  it('password and os_template_id, for each of the six types that need them and for no other', () => {
    const schema = provisionServersSchema(
      Object.fromEntries([...cloudServerPlanTypes, 'something_else'].map((name) => [name, 'unknown' as const])),
    );
    for (const plan_type of [...cloudServerPlanTypes, 'something_else', undefined]) {
      const bare = { ...provisionRequest(), items: [{ billing_cycle: 1, plan_type }] };
      const needed = plan_type !== undefined && cloudServerPlanTypes.includes(plan_type);
      expect(fieldsOf(schema, bare)).toEqual(needed ? ['items[0].password', 'items[0].os_template_id'] : []);
    }
  });

  it('a request that is too large for Temporal, before anything else', () => {
    const request = withItem({ custom_script: 'x'.repeat(requestBytesMax) });
    expect(check(provision, request)).toMatchObject({
      problems: [{ message: expect.stringMatching(/at most 1048576/) }],
    });
  });

  it('without ever repeating a value, which may be a password', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^canary-[a-z]{8}$/), (canary) => {
        const texts = { billing_cycle: canary, custom_ssh_key: `${canary}!`, plan_type: canary };
        const item = { ...texts, password: 7, [canary]: 1 };
        const checked = check(provision, { reference: `${canary}/`, account: canary, items: [item] });
        const said = checked.ok ? '' : checked.problems.map(({ message }) => message).join();
        expect(said).not.toContain(canary);
      }),
    );
  });
});

describe('a change order', () => {
  it('sends its delta value as a numeric string, however it was given', () => {
    fc.assert(
      fc.property(fc.oneof(fc.integer(), fc.integer().map(String)), (delta_value) => {
        const request = changeRequest({ resources: [{ resource_name: 'vm_backup', delta_value }] });
        const checked = check(changeOrder(), request);
        expect(checked.ok && checked.value.resources[0]?.delta_value).toBe(String(delta_value));
      }),
    );
  });

  it.each(['', ' 1', '1e3', 'one', 2 ** 53, -(2 ** 53), 1e21, NaN, null])(
    'refuses the delta value %p',
    (delta_value) => {
      const request = changeRequest({ resources: [{ resource_name: 'vm_backup', delta_value }] });
      expect(fieldsOf(changeOrder(), request)).toEqual(['resources[0].delta_value']);
    },
  );

  it.each([
    ['subscription_id', { subscription_id: 0 }],
    ['resources', { resources: [] }],
    ['resources[0].resource_name', { resources: [{ resource_name: 'ram', delta_value: '1' }] }],
    ['guard.maxTotal', { guard: { maxTotal: -1 } }],
    ['guard.max', { guard: { max: 1 } }],
    ['approval', { approval: 'sometimes' }],
    ['account', { account: 'x' }],
  ])('refuses %s in %p', (field, changes) => {
    expect(fieldsOf(changeOrder(), changeRequest(changes))).toEqual([field]);
  });
});

describe('firewalls', () => {
  it.each([
    ['exactly', { assign: [1], exactly: [1] }],
    ['', { assign: undefined }],
    ['', { assign: [], unassign: [] }],
    ['unassign[0]', { assign: [1], unassign: [1] }],
    ['vmObjectId', { vmObjectId: '9' }],
  ])('refuses %p in %p', (field, changes) => {
    expect(fieldsOf(setFirewalls(), firewallsRequest(changes))).toEqual([field]);
  });

  it('may be set to exactly none', () => {
    expect(fieldsOf(setFirewalls(), firewallsRequest({ assign: undefined, exactly: [] }))).toEqual([]);
  });
});
