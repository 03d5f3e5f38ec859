import { firewallMoments, firewallsOf, servers } from '../../../sandbox/sentences';
import { call, closeAll, errorsOf, placeOrder, startSandbox } from './calling';

afterEach(closeAll);

const ids = (...firewalls: number[]) => ({ firewalls: firewalls.map((id) => ({ id })) });
const assign = (id: number | string) => `/firewalls/assign/object/${id}`;
const unassign = (id: number | string) => `/firewalls/unassign/object/${id}`;

describe('the firewalls of a server (rows 8–10)', () => {
  test('assigning is a union, unassigning a difference, and doing either again changes nothing', async () => {
    const sandbox = await startSandbox({ servers: [{ vmObjectId: 77, firewalls: [150] }] });
    const steps: [string, unknown, number[]][] = [
      [assign(77), ids(143, 150), [150, 143]],
      [assign(77), ids(143), [150, 143]],
      [unassign(77), ids(150, 999), [143]],
      [unassign(77), ids(150), [143]],
      [assign(77), ids(), [143]],
    ];
    for (const [path, body, after] of steps) {
      expect(await call(sandbox, 'POST', path, body)).toMatchObject({ status: 200, body: { status: 'accepted' } });
      expect(firewallsOf(sandbox.ledger, 77)).toEqual(after);
      const listed = await call(sandbox, 'GET', '/firewalls/object/77');
      expect(listed.body).toEqual(after.map((id) => ({ id, name: `firewall-${id}` })));
    }
    expect(sandbox.ledger.entries[0]).toMatchObject({
      type: 'firewallsAssigned',
      vmObjectId: 77,
      firewalls: [143, 150],
      before: [150],
      after: [150, 143],
    });
    expect(firewallMoments(sandbox.ledger, 77).map((moment) => moment.firewalls)).toEqual([
      [150],
      ...steps.map(([, , after]) => after),
    ]);
  });

  test('a server of an order starts without any, and keeps its own', async () => {
    const sandbox = await startSandbox({ servers: [{ vmObjectId: 9001 }] });
    await placeOrder(sandbox);
    expect(servers(sandbox.ledger).map((server) => server.vmObjectId)).toEqual([9001, 9002]);
    expect((await call(sandbox, 'GET', '/firewalls/object/9002')).body).toEqual([]);
    await call(sandbox, 'POST', assign(9002), ids(143));
    expect(firewallsOf(sandbox.ledger, 9002)).toEqual([143]);
    expect(firewallsOf(sandbox.ledger, 9001)).toEqual([]);
  });

  test.each<[string, string, unknown]>([
    ['POST', assign(9001), ids(1)],
    ['POST', unassign(9001), ids(1)],
    ['GET', '/firewalls/object/9001', undefined],
    ['GET', '/firewalls/object/abc', undefined],
  ])('%s %s: no such server', async (method, path, body) => {
    const sandbox = await startSandbox();
    expect((await call(sandbox, method, path, body)).status).toBe(404);
    expect(sandbox.ledger.entries).toEqual([]);
  });

  test('every positive id is a server where a setting says so', async () => {
    const sandbox = await startSandbox({ anyServer: true });
    expect((await call(sandbox, 'POST', assign(4), ids(1))).status).toBe(200);
    expect((await call(sandbox, 'GET', '/firewalls/object/5')).body).toEqual([]);
    expect((await call(sandbox, 'GET', '/firewalls/object/0')).status).toBe(404);
  });

  test.each<[unknown, string]>([
    [{}, 'firewalls: must be an array'],
    [{ firewalls: { id: 1 } }, 'firewalls: must be an array'],
    [{ firewalls: [143] }, 'firewalls.0: must be an object'],
    [{ firewalls: [{ id: '143' }] }, 'firewalls.0.id: must be a whole number'],
    [{ firewalls: [{ id: 143, name: 'web' }] }, 'firewalls.0.name: not a field of this request'],
  ])('refuses %j', async (body, error) => {
    const sandbox = await startSandbox({ anyServer: true });
    for (const path of [assign(1), unassign(1)]) {
      const reply = await call(sandbox, 'POST', path, body);
      expect(reply.status).toBe(422);
      expect(errorsOf(reply)).toEqual([expect.stringContaining(error)]);
    }
    expect(sandbox.ledger.entries).toEqual([]);
  });

  test('refuses firewalls that do not exist, and then assigns none of them', async () => {
    const sandbox = await startSandbox({ anyServer: true, knownFirewalls: [143] });
    const reply = await call(sandbox, 'POST', assign(1), ids(143, 144));
    expect(reply.status).toBe(422);
    expect(errorsOf(reply)).toEqual(['firewalls: 144 does not exist']);
    expect(firewallsOf(sandbox.ledger, 1)).toEqual([]);
    expect((await call(sandbox, 'POST', assign(1), ids(143))).status).toBe(200);
  });

  const object = { id: 143, name: 'firewall-143' };

  test.each([
    ['ids', [143]],
    ['objects', [object]],
    ['firewalls', { firewalls: [object] }],
    ['firewall-ids', { firewalls: [143] }],
    ['data', { data: [object] }],
    ['data-ids', { data: [143] }],
    ['opaque', { status: 'ok' }],
  ] as const)('the list, which the document does not show, as %s', async (firewallListResponse, body) => {
    const sandbox = await startSandbox({ firewallListResponse, servers: [{ vmObjectId: 77, firewalls: [143] }] });
    expect((await call(sandbox, 'GET', '/firewalls/object/77')).body).toEqual(body);
  });

  test('the list as a function of the ids', async () => {
    const servers = [{ vmObjectId: 77, firewalls: [143] }];
    const sandbox = await startSandbox({ firewallListResponse: (list) => ({ rules: list }), servers });
    expect((await call(sandbox, 'GET', '/firewalls/object/77')).body).toEqual({ rules: [143] });
  });

  test('a server is seeded once', async () => {
    const sandbox = await startSandbox({ servers: [{ vmObjectId: 77 }] });
    expect(() => sandbox.addServer({ vmObjectId: 77 })).toThrow('There is a server 77 already');
    sandbox.addServer({ vmObjectId: 78, firewalls: [1, 1] });
    expect(firewallsOf(sandbox.ledger, 78)).toEqual([1]);
  });
});

describe('the directory of servers', () => {
  const find = (query: string) => `/servers?${query}`;

  test('is not there unless a setting says so', async () => {
    expect((await call(await startSandbox(), 'GET', find('account=AB-1'))).status).toBe(404);
  });

  test('finds servers by account and label', async () => {
    const sandbox = await startSandbox({
      directory: { lag: 0 },
      servers: [{ vmObjectId: 77, account: 'AB-1', label: 'old' }, { vmObjectId: 78 }],
    });
    await placeOrder(sandbox, { account: 'AB-1', label: 'web-1' });
    await placeOrder(sandbox, { account: 'CD-1', label: 'web-1' });
    const found = async (query: string) => (await call(sandbox, 'GET', find(query))).body;
    expect(await found('account=AB-1&label=web-1')).toEqual({
      data: [{ vm_object_id: 9001, label: 'web-1', account: 'AB-1' }],
    });
    expect(await found('account=AB-1&label=old')).toEqual({
      data: [{ vm_object_id: 77, label: 'old', account: 'AB-1' }],
    });
    expect(await found('label=web-1')).toMatchObject({ data: [{ vm_object_id: 9001 }, { vm_object_id: 9002 }] });
    expect(await found('account=AB-1&label=none')).toEqual({ data: [] });
  });

  test('shows an order only after so many vain looks, each order for itself', async () => {
    const sandbox = await startSandbox({ directory: { lag: 2 } });
    const found = async (label: string) => {
      const reply = await call(sandbox, 'GET', find(`account=AB-12345678&label=${label}`));
      return (reply.body as { data: unknown[] }).data.length;
    };
    expect(await found('one')).toBe(0);
    await placeOrder(sandbox, { label: 'one' });
    await placeOrder(sandbox, { label: 'two' });
    expect([await found('one'), await found('one'), await found('two'), await found('one')]).toEqual([0, 0, 0, 1]);
    expect([await found('two'), await found('two')]).toEqual([0, 1]);
  });
});
