import { changeOrdersOf, switchesOf } from '../../../sandbox/sentences';
import { call, closeAll, errorsOf, startSandbox } from './calling';

afterEach(closeAll);

const backup = { subscription_id: 5512, resources: [{ resource_name: 'vm_backup', delta_value: '2' }] };
const period = { date_from: '2026-01-01', date_to: '2026-02-01' };

describe('quoting a change order (row 5)', () => {
  test.each(['PUT', 'GET'])('%s with the payload answers with a quote and places nothing', async (method) => {
    const sandbox = await startSandbox();
    const reply = await call(sandbox, method, '/order/changeorder/total', backup);
    expect(reply.status).toBe(200);
    expect(reply.body).toEqual({
      available: true,
      total: 10,
      currency: 'usd',
      ...period,
      inapplicable_resources: [],
    });
    expect(sandbox.ledger.entries).toEqual([]);
  });

  test('adds up the resources, in whole cents, without the inapplicable ones', async () => {
    const sandbox = await startSandbox({
      resourcePrices: { vm_backup: 0.1, china_route: 0.2 },
      inapplicableResources: ['vm_antiddos'],
    });
    const resources = ['vm_backup', 'china_route', 'vm_antiddos'].map((resource_name) => ({
      resource_name,
      delta_value: '1',
    }));
    const reply = await call(sandbox, 'PUT', '/order/changeorder/total', { subscription_id: 1, resources });
    expect(reply.body).toMatchObject({ available: true, total: 0.3, inapplicable_resources: ['vm_antiddos'] });
  });

  test('price, availability and currency move at run time', async () => {
    const sandbox = await startSandbox();
    const quote = async () => (await call(sandbox, 'PUT', '/order/changeorder/total', backup)).body;
    expect(await quote()).toMatchObject({ total: 10, available: true });
    sandbox.configure({ resourcePrices: { vm_backup: 7.5 }, quoteCurrency: 'eur' });
    expect(await quote()).toMatchObject({ total: 15, available: true, currency: 'eur' });
    sandbox.configure({ unavailableResources: ['vm_backup'] });
    expect(await quote()).toMatchObject({ total: 15, available: false });
    sandbox.configure({ unavailableResources: [], unavailableSubscriptions: [5512] });
    expect(await quote()).toMatchObject({ available: false });
  });

  test('a subscription has its own currency where one is set', async () => {
    const sandbox = await startSandbox({ subscriptions: { 5512: { currency: 'gbp' } } });
    expect((await call(sandbox, 'PUT', '/order/changeorder/total', backup)).body).toMatchObject({ currency: 'gbp' });
  });
});

describe.each([
  ['placing (row 4)', 'POST', '/order/changeorder'],
  ['quoting (row 5)', 'PUT', '/order/changeorder/total'],
])('the payload of a change order, when %s', (_, method, path) => {
  test.each(['vm_backup', 'china_route', 'vm_antiddos'])('accepts %s', async (resource_name) => {
    const body = { subscription_id: 1, resources: [{ resource_name, delta_value: '1' }] };
    expect((await call(await startSandbox(), method, path, body)).status).toBe(200);
  });

  test.each<[unknown, string]>([
    [{ ...backup, subscription_id: undefined }, 'subscription_id: must be a whole number'],
    [{ ...backup, subscription_id: '5512' }, 'subscription_id: must be a whole number'],
    [{ ...backup, resources: undefined }, 'resources: must be an array'],
    [{ ...backup, resources: [] }, 'resources: must name at least one resource'],
    [
      { ...backup, resources: [{ resource_name: 'cpu', delta_value: '1' }] },
      'resources.0.resource_name: must be one of',
    ],
    [
      { ...backup, resources: [{ resource_name: 'vm_backup', delta_value: 1 }] },
      'resources.0.delta_value: must be a num',
    ],
    [
      { ...backup, resources: [{ resource_name: 'vm_backup', delta_value: 'x' }] },
      'resources.0.delta_value: must be a num',
    ],
    [{ ...backup, guard: {} }, 'guard: not a field of this request'],
  ])('refuses %j', async (body, error) => {
    const sandbox = await startSandbox();
    const reply = await call(sandbox, method, path, body);
    expect(reply.status).toBe(422);
    expect(errorsOf(reply)).toEqual([expect.stringContaining(error)]);
    expect(sandbox.ledger.entries).toEqual([]);
  });

  test('refuses a subscription that is not known, where not every one is', async () => {
    const sandbox = await startSandbox({ anySubscription: false, subscriptions: { 7: {} } });
    expect((await call(sandbox, method, path, backup)).status).toBe(422);
    expect((await call(sandbox, method, path, { ...backup, subscription_id: 7 })).status).toBe(200);
  });
});

describe('placing a change order (row 4)', () => {
  test('places it', async () => {
    const sandbox = await startSandbox();
    const reply = await call(sandbox, 'POST', '/order/changeorder', backup);
    expect(reply).toMatchObject({ status: 200, body: { status: 'accepted' } });
    expect(changeOrdersOf(sandbox.ledger, 5512)).toEqual([
      expect.objectContaining({ changeOrderId: 301, resources: backup.resources, total: 10, currency: 'usd' }),
    ]);
    expect(changeOrdersOf(sandbox.ledger, 5513)).toEqual([]);
  });

  test.each([{ unavailableResources: ['vm_backup'] }, { unavailableSubscriptions: [5512] }])(
    'refuses what is not available: %j',
    async (settings) => {
      const sandbox = await startSandbox(settings);
      expect((await call(sandbox, 'POST', '/order/changeorder', backup)).status).toBe(422);
      expect(sandbox.ledger.entries).toEqual([]);
    },
  );

  test('answers with an id where set so', async () => {
    const sandbox = await startSandbox({ changeOrderResponse: 'ids' });
    expect((await call(sandbox, 'POST', '/order/changeorder', backup)).body).toEqual({ change_order_id: 301 });
  });
});

describe('quoting a plan switch (row 7)', () => {
  const quote = (plan_id: unknown, subscription_id: unknown = 5512) => ({ subscription_id, plan_id });

  test('answers with a quote and switches nothing', async () => {
    const sandbox = await startSandbox();
    const reply = await call(sandbox, 'PUT', '/order/switch/total', quote(21));
    expect(reply.status).toBe(200);
    expect(reply.body).toEqual({ available: true, total: 31, currency: 'usd', ...period });
    expect(sandbox.ledger.entries).toEqual([]);
  });

  test('price and availability move at run time', async () => {
    const sandbox = await startSandbox({ planPrices: { 21: 9.99, 22: 5 } });
    sandbox.configure({ planPrices: { 21: 12.5 }, unavailablePlans: [22] });
    const answers = [21, 22].map((plan) => call(sandbox, 'PUT', '/order/switch/total', quote(plan)));
    expect((await Promise.all(answers)).map((reply) => reply.body)).toMatchObject([
      { available: true, total: 12.5 },
      { available: false, total: 5 },
    ]);
  });

  test.each<[unknown, string]>([
    [{ plan_id: 21 }, 'subscription_id: must be a whole number'],
    [{ subscription_id: 5512 }, 'plan_id: must be a whole number'],
    [quote('21'), 'plan_id: must be a whole number'],
    [{ ...quote(21), quoteOnly: true }, 'quoteOnly: not a field of this request'],
  ])('refuses %j', async (body, error) => {
    const reply = await call(await startSandbox(), 'PUT', '/order/switch/total', body);
    expect(reply.status).toBe(422);
    expect(errorsOf(reply)).toEqual([error]);
  });

  test('refuses an unknown subscription', async () => {
    const sandbox = await startSandbox({ anySubscription: false });
    expect((await call(sandbox, 'PUT', '/order/switch/total', quote(21))).status).toBe(422);
  });
});

describe('switching a plan (row 6)', () => {
  test('answers with a quote, and takes effect', async () => {
    const sandbox = await startSandbox({ subscriptions: { 5512: { plan_id: 20 } } });
    const reply = await call(sandbox, 'PUT', '/order/switch/5512', { plan_id: 21 });
    expect(reply.body).toEqual({ available: true, total: 31, currency: 'usd', ...period });
    await call(sandbox, 'PUT', '/order/switch/5512', { plan_id: 22 });
    expect(switchesOf(sandbox.ledger, 5512)).toEqual([
      expect.objectContaining({ fromPlanId: 20, planId: 21, total: 31, currency: 'usd' }),
      expect.objectContaining({ fromPlanId: 21, planId: 22 }),
    ]);
    expect(switchesOf(sandbox.ledger, 5513)).toEqual([]);
  });

  test('answers that it is not available, and takes effect all the same, where a setting says so', async () => {
    const sandbox = await startSandbox({ switchAnswersAvailable: false });
    const reply = await call(sandbox, 'PUT', '/order/switch/5512', { plan_id: 21 });
    expect(reply).toMatchObject({ status: 200, body: { available: false, total: 31, currency: 'usd', ...period } });
    expect(switchesOf(sandbox.ledger, 5512)).toEqual([expect.objectContaining({ planId: 21, total: 31 })]);
    // Row 7 quotes a switch that is still to come.
    const quoted = await call(sandbox, 'PUT', '/order/switch/total', { subscription_id: 5512, plan_id: 22 });
    expect(quoted.body).toMatchObject({ available: true });
  });

  test('quotes the truth where it only quotes, whatever it would answer to a switch', async () => {
    const sandbox = await startSandbox({ switchTakesEffect: false, switchAnswersAvailable: false });
    const reply = await call(sandbox, 'PUT', '/order/switch/5512', { plan_id: 21 });
    expect(reply.body).toMatchObject({ available: true });
    expect(sandbox.ledger.entries).toEqual([]);
  });

  test('only quotes where a setting says so', async () => {
    const sandbox = await startSandbox({ switchTakesEffect: false, unavailablePlans: [21] });
    const reply = await call(sandbox, 'PUT', '/order/switch/5512', { plan_id: 21 });
    expect(reply).toMatchObject({ status: 200, body: { available: false } });
    expect(sandbox.ledger.entries).toEqual([]);
  });

  test('refuses a plan that is not available', async () => {
    const sandbox = await startSandbox({ unavailablePlans: [21] });
    const reply = await call(sandbox, 'PUT', '/order/switch/5512', { plan_id: 21 });
    expect(reply.status).toBe(422);
    expect(errorsOf(reply)).toEqual(['plan_id: not available']);
    expect(sandbox.ledger.entries).toEqual([]);
  });

  test('the body has the plan only', async () => {
    const reply = await call(await startSandbox(), 'PUT', '/order/switch/5512', { subscription_id: 5512, plan_id: 21 });
    expect(errorsOf(reply)).toEqual(['subscription_id: not a field of this request']);
  });

  test.each(['0', 'abc'])('subscription %s does not exist', async (id) => {
    const reply = await call(await startSandbox(), 'PUT', `/order/switch/${id}`, { plan_id: 21 });
    expect(reply.status).toBe(404);
  });
});

test('a target plan of another type is quoted as not available, and refused', async () => {
  const sandbox = await startSandbox({
    subscriptions: { 5512: { plan_id: 20 }, 5513: { plan_type: 'memory' } },
    plans: { 20: 'standard', 21: 'standard', 30: 'memory' },
  });
  const available = async (subscription_id: number, plan_id: number) => {
    const reply = await call(sandbox, 'PUT', '/order/switch/total', { subscription_id, plan_id });
    return (reply.body as { available: boolean }).available;
  };
  expect(await available(5512, 21)).toBe(true);
  expect(await available(5512, 30)).toBe(false);
  expect(await available(5512, 99)).toBe(true);
  expect(await available(5513, 30)).toBe(true);
  expect(await available(5513, 20)).toBe(false);
  expect(await available(5514, 30)).toBe(true);

  const refused = await call(sandbox, 'PUT', '/order/switch/5512', { plan_id: 30 });
  expect(refused.status).toBe(422);
  expect(errorsOf(refused)).toEqual(['plan_id: the target plan must have the same plan type as the current plan']);
  expect(switchesOf(sandbox.ledger, 5512)).toEqual([]);
});
