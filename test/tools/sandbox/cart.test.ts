import { callsTo, openCartItems, serversOf } from '../../../sandbox/sentences';
import type { Sandbox } from '../../../sandbox/server';
import { addCartItem, call, closeAll, cloudServer, errorsOf, placeOrder, startSandbox } from './calling';

afterEach(closeAll);

const add = '/order/add-to-cart';

describe('adding a cart item (row 2)', () => {
  test('answers as the document shows: the new id under 0, message and code 200 under data', async () => {
    const sandbox = await startSandbox();
    const reply = await call(sandbox, 'POST', add, cloudServer);
    expect(reply.status).toBe(200);
    expect(reply.body).toEqual({ '0': expect.any(Number), data: { message: expect.any(String), code: 200 } });
  });

  test('gives every item an id of its own', async () => {
    const sandbox = await startSandbox();
    const ids = [await addCartItem(sandbox), await addCartItem(sandbox)];
    expect(new Set(ids).size).toBe(2);
    expect(openCartItems(sandbox.ledger).map((item) => item.cartItemId)).toEqual(ids);
  });

  const everything = {
    ...cloudServer,
    quantity: 2,
    addons: [{ id: 6, additional_value: 1 }],
    custom_ssh_key: 'c3NoLWVkMjU1MTkgQUFBQQ==',
    custom_script: 'ZWNobyBoaQ==',
  };

  test.each([
    ['billing_cycle alone', { billing_cycle: 12 }],
    ['a quarterly one', { ...cloudServer, billing_cycle: 3 }],
    ['memory optimized', { ...cloudServer, plan_type: 'cloud_servers_highmemory' }],
    ['dedicated CPU', { ...cloudServer, plan_type: 'cloud_servers_dedicatedcpu' }],
    ['high storage', { ...cloudServer, plan_type: 'cloud_servers_highstorage_sas' }],
    ['no add-ons', { ...cloudServer, addons: [] }],
    ['every documented field', everything],
  ])('accepts %s, and keeps it as it came', async (_, item) => {
    const sandbox = await startSandbox();
    await addCartItem(sandbox, item);
    expect(sandbox.ledger.entries).toEqual([expect.objectContaining({ type: 'cartItemAdded', item })]);
  });

  const without = (field: string) => Object.fromEntries(Object.entries(cloudServer).filter(([name]) => name !== field));

  test.each<[string, unknown, string]>([
    ['billing_cycle', without('billing_cycle'), 'billing_cycle: must be 1, 3 or 12'],
    ['billing_cycle', { ...cloudServer, billing_cycle: 6 }, 'billing_cycle: must be 1, 3 or 12'],
    ['billing_cycle', { ...cloudServer, billing_cycle: '1' }, 'billing_cycle: must be 1, 3 or 12'],
    ['plan_id', { ...cloudServer, plan_id: '17' }, 'plan_id: must be a whole number'],
    ['plan_id', { ...cloudServer, plan_id: 0 }, 'plan_id: must be positive'],
    ['plan_type', { ...cloudServer, plan_type: 'cloud_servers_highstorage' }, 'plan_type: must be one of'],
    ['plan_type', { ...cloudServer, plan_type: 7 }, 'plan_type: must be a string'],
    ['quantity', { ...cloudServer, quantity: 0 }, 'quantity: must be positive'],
    ['quantity', { ...cloudServer, quantity: 1.5 }, 'quantity: must be a whole number'],
    ['addons', { ...cloudServer, addons: { id: 6 } }, 'addons: must be an array'],
    ['addons', { ...cloudServer, addons: [{ additional_value: 1 }] }, 'addons.0.id: must be a whole number'],
    ['addons', { ...cloudServer, addons: [{ id: 6 }] }, 'addons.0.additional_value: must be a whole number'],
    ['password', without('password'), 'password: required for cloud_servers_standard'],
    ['password', { ...cloudServer, password: '' }, 'password: must not be empty'],
    ['os_template_id', without('os_template_id'), 'os_template_id: required for cloud_servers_standard'],
    ['os_template_id', { ...cloudServer, os_template_id: null }, 'os_template_id: must be a whole number'],
    ['custom_ssh_key', { ...cloudServer, custom_ssh_key: 'ssh-ed25519 AAAA' }, 'custom_ssh_key: must be Base64'],
    ['custom_ssh_key', { ...cloudServer, custom_ssh_key: '' }, 'custom_ssh_key: must be Base64'],
    ['custom_script', { ...cloudServer, custom_script: 'ZWNobyBoaQ' }, 'custom_script: must be Base64'],
    ['an unknown field', { ...cloudServer, planId: 17 }, 'planId: not a field of this request'],
    ['what is no object', [cloudServer], 'body: must be a JSON object'],
  ])('refuses for %s: case %#', async (_, item, error) => {
    const sandbox = await startSandbox();
    const reply = await call(sandbox, 'POST', add, item);
    expect(reply.status).toBe(422);
    expect(reply.body).toMatchObject({ code: 422, message: expect.any(String) });
    expect(errorsOf(reply)).toEqual([expect.stringContaining(error)]);
    expect(sandbox.ledger.entries).toEqual([]);
  });

  test.each([
    'cloud_servers_standard',
    'cloud_servers_highmemory',
    'cloud_servers_highstorage',
    'cloud_servers_highfrequency',
    'cloud_servers_dedicatedcpu',
    'cloud_servers_highstorage_sas',
  ])('%s needs a password and a template', async (plan_type) => {
    const sandbox = await startSandbox({ supportedPlanTypes: [plan_type] });
    const reply = await call(sandbox, 'POST', add, { billing_cycle: 1, plan_type });
    expect(errorsOf(reply)).toEqual([
      `password: required for ${plan_type}`,
      `os_template_id: required for ${plan_type}`,
    ]);
  });

  test('another plan type, where one is supported, needs neither', async () => {
    const sandbox = await startSandbox({ supportedPlanTypes: ['object_storage'] });
    await addCartItem(sandbox, { billing_cycle: 1, plan_type: 'object_storage' });
    expect(openCartItems(sandbox.ledger)).toHaveLength(1);
  });

  test('names everything that is wrong at once, and repeats no value', async () => {
    const sandbox = await startSandbox();
    const item = { billing_cycle: 2, plan_type: 'cloud_servers_standard', custom_script: 'canary secret!' };
    const reply = await call(sandbox, 'POST', add, item);
    expect(errorsOf(reply).map((error) => error.split(':')[0])).toEqual([
      'billing_cycle',
      'custom_script',
      'password',
      'os_template_id',
    ]);
    expect(reply.text).not.toContain('canary');
  });

  test.each(['windows', 'custom'] as const)('a %s template takes neither SSH key nor script', async (kind) => {
    const sandbox = await startSandbox({ templates: { 3: kind } });
    const reply = await call(sandbox, 'POST', add, { ...cloudServer, custom_ssh_key: 'AAAA', custom_script: 'AAAA' });
    expect(errorsOf(reply)).toEqual([
      `custom_ssh_key: a ${kind} template does not support it`,
      `custom_script: a ${kind} template does not support it`,
    ]);
    await addCartItem(sandbox, cloudServer);
    await addCartItem(sandbox, { ...cloudServer, os_template_id: 4, custom_ssh_key: 'AAAA' });
  });

  test('a known plan must be of the type that is named', async () => {
    const sandbox = await startSandbox({ plans: { 17: 'cloud_servers_highmemory' } });
    const reply = await call(sandbox, 'POST', add, cloudServer);
    expect(errorsOf(reply)).toEqual(['plan_id: this plan is of type cloud_servers_highmemory']);
    await addCartItem(sandbox, { ...cloudServer, plan_type: 'cloud_servers_highmemory' });
  });

  test('ignores unknown fields where a setting says so', async () => {
    const sandbox = await startSandbox({ unknownFields: 'ignore' });
    await addCartItem(sandbox, { ...cloudServer, planId: 17 });
    expect(openCartItems(sandbox.ledger)).toEqual([expect.objectContaining({ item: cloudServer })]);
  });
});

describe('deleting a cart item (row 3)', () => {
  const remove = (id: number | string) => `/order/cartItems/delete/${id}`;

  test('deletes it, once', async () => {
    const sandbox = await startSandbox();
    const [deleted, kept] = [await addCartItem(sandbox), await addCartItem(sandbox)];
    expect((await call(sandbox, 'DELETE', remove(deleted))).status).toBe(200);
    expect((await call(sandbox, 'DELETE', remove(deleted))).status).toBe(404);
    expect(openCartItems(sandbox.ledger).map((item) => item.cartItemId)).toEqual([kept]);
    expect(sandbox.ledger.entries.filter((entry) => entry.type === 'cartItemDeleted')).toHaveLength(1);
  });

  test.each([999, 'abc', -1])('%s is no cart item', async (id) => {
    const sandbox = await startSandbox();
    expect((await call(sandbox, 'DELETE', remove(id))).status).toBe(404);
  });

  test('refuses an item of a placed order', async () => {
    const sandbox = await startSandbox();
    const id = await addCartItem(sandbox);
    await placeOrder(sandbox, { cartItems: [id] });
    expect((await call(sandbox, 'DELETE', remove(id))).status).toBe(409);
    expect(sandbox.ledger.entries.map((entry) => entry.type)).toEqual(['cartItemAdded', 'orderPlaced']);
  });

  describe('of an item that is no longer open, where a setting takes it', () => {
    const happened = (sandbox: Sandbox) => sandbox.ledger.entries.map((entry) => entry.type);

    test('deletes an item of a placed order; the order and its server stay', async () => {
      const sandbox = await startSandbox({ closedCartItems: 'take' });
      const id = await addCartItem(sandbox);
      await placeOrder(sandbox, { cartItems: [id] });
      expect((await call(sandbox, 'DELETE', remove(id))).status).toBe(200);
      expect(happened(sandbox)).toEqual(['cartItemAdded', 'orderPlaced', 'cartItemDeleted']);
      expect(serversOf(sandbox.ledger, 'AB-12345678')).toHaveLength(1);
    });

    test.each([
      ['none', 204],
      ['opaque', 200],
    ] as const)('answers a second deletion like the first (%s), and has no second effect', async (shape, status) => {
      const sandbox = await startSandbox({ closedCartItems: 'take', plainResponse: shape });
      const id = await addCartItem(sandbox);
      const [first, second] = [await call(sandbox, 'DELETE', remove(id)), await call(sandbox, 'DELETE', remove(id))];
      expect([first.status, second.status]).toEqual([status, status]);
      expect(happened(sandbox)).toEqual(['cartItemAdded', 'cartItemDeleted']);
      const deletion = sandbox.ledger.entries[1]?.seq;
      expect(callsTo(sandbox.ledger, 'delete-cart-item').map((one) => one.effects)).toEqual([[deletion], []]);
    });

    test('deletes again what was ordered after its deletion', async () => {
      const sandbox = await startSandbox({ closedCartItems: 'take' });
      const id = await addCartItem(sandbox);
      await call(sandbox, 'DELETE', remove(id));
      await placeOrder(sandbox, { cartItems: [id] });
      await call(sandbox, 'DELETE', remove(id));
      expect(happened(sandbox)).toEqual(['cartItemAdded', 'cartItemDeleted', 'orderPlaced', 'cartItemDeleted']);
    });

    test('does not find what was never added', async () => {
      const sandbox = await startSandbox({ closedCartItems: 'take' });
      expect((await call(sandbox, 'DELETE', remove(999))).status).toBe(404);
      expect((await call(sandbox, 'DELETE', remove('abc'))).status).toBe(404);
    });
  });

  test.each([
    ['none', 204, ''],
    ['empty', 200, '{}'],
    ['opaque', 200, '{"status":"accepted"}'],
  ] as const)('answers as set: %s', async (plainResponse, status, text) => {
    const sandbox = await startSandbox({ plainResponse });
    expect(await call(sandbox, 'DELETE', remove(await addCartItem(sandbox)))).toMatchObject({ status, text });
  });
});
