import { connect } from 'node:net';
import { type FaultKind, faultKinds } from '../../../sandbox/fault-kinds';
import type { FaultSpec } from '../../../sandbox/faults';
import { openCartItems } from '../../../sandbox/sentences';
import type { Sandbox } from '../../../sandbox/server';
import { addCartItem, call, closeAll, cloudServer, placeOrder, type Reply, startSandbox } from './calling';

afterEach(closeAll);

const add = (sandbox: Sandbox) => call(sandbox, 'POST', '/order/add-to-cart', cloudServer);

/** A sandbox whose next cart item is struck. */
async function struckBy(fault: Omit<FaultSpec, 'endpoint'>) {
  const sandbox = await startSandbox();
  const id = sandbox.faults.add({ endpoint: 'add-cart-item', ...fault });
  return { sandbox, id };
}

describe('an answer that is spoilt', () => {
  const effect: Record<string, number> = { none: 0, taken: 1 };

  test.each<[FaultKind, Partial<FaultSpec>, number, unknown, keyof typeof effect]>([
    ['refuse-before', {}, 422, { code: 422 }, 'none'],
    ['refuse-before', { status: 409, body: { why: 'so' } }, 409, { why: 'so' }, 'none'],
    ['refuse-after', { status: 422 }, 422, { code: 422 }, 'taken'],
    ['refuse-after', { status: 408 }, 408, { code: 408 }, 'taken'],
    ['error-before', {}, 500, { code: 500 }, 'none'],
    ['error-before', { status: 503 }, 503, { code: 503 }, 'none'],
    ['error-after', {}, 500, { code: 500 }, 'taken'],
    ['error-after', { status: 502, body: 'bad gateway' }, 502, 'bad gateway', 'taken'],
    ['rate-limit', {}, 429, { code: 429 }, 'none'],
    ['unauthorized', {}, 401, { code: 401 }, 'none'],
    ['forbidden', {}, 403, { code: 403 }, 'none'],
    ['error-code', {}, 200, { data: { code: 500 } }, 'none'],
    ['error-code', { code: 409, codeAt: 'top' }, 200, { code: 409 }, 'none'],
    ['says-no-before', { body: { success: false } }, 200, { success: false }, 'none'],
    ['says-no-after', { body: { code: '400' } }, 200, { code: '400' }, 'taken'],
    ['odd', { oddity: 'texts' }, 200, { '0': '501', data: { code: '200' } }, 'taken'],
    ['other-body', {}, 200, {}, 'taken'],
    ['other-body', { body: { '0': 'five' } }, 200, { '0': 'five' }, 'taken'],
    ['other-body', { body: null }, 200, null, 'taken'],
    ['slow', { delayMs: 1 }, 200, { '0': 501, data: { code: 200 } }, 'taken'],
  ])('%s %j', async (kind, more, status, body, taken) => {
    const { sandbox, id } = await struckBy({ kind, ...more });
    const reply = await add(sandbox);
    expect(reply.status).toBe(status);
    if (typeof body === 'object' && body !== null) expect(reply.body).toMatchObject(body);
    else expect(reply.body).toBe(body);
    expect(openCartItems(sandbox.ledger)).toHaveLength(effect[taken] ?? NaN);
    expect(sandbox.ledger.calls).toMatchObject([{ status, faults: [{ id, kind }] }]);
    expect(sandbox.ledger.faultsStruck).toMatchObject([{ faultId: id, kind, endpoint: 'add-cart-item' }]);
    // Struck once: the next call is answered as ever.
    expect((await add(sandbox)).status).toBe(200);
  });

  test.each<FaultKind>(['other-body', 'garbage', 'empty', 'oversized'])(
    '%s: what it has refused it does not call a success',
    async (kind) => {
      const sandbox = await startSandbox();
      sandbox.faults.add({ endpoint: 'place-order', kind });
      const reply = await call(sandbox, 'POST', '/order', { account: 'AB-1', cartItems: [999_999] });
      expect(reply.status).toBeGreaterThanOrEqual(400);
    },
  );

  test.each([
    [undefined, undefined],
    [7, '7'],
    ['Wed, 21 Oct 2037 07:28:00 GMT', 'Wed, 21 Oct 2037 07:28:00 GMT'],
  ])('rate-limit with retryAfter %s', async (retryAfter, header) => {
    const { sandbox } = await struckBy({ kind: 'rate-limit', retryAfter });
    expect((await add(sandbox)).headers['retry-after']).toBe(header);
  });

  test.each([
    ['redirect', 302, []],
    ['redirect-after', 303, ['cartItemAdded']],
  ] as const)('%s points elsewhere; who follows it gets nothing and is noticed', async (kind, status, effects) => {
    const { sandbox } = await struckBy({ kind });
    const reply = await add(sandbox);
    expect(reply).toMatchObject({ status, text: '' });
    const location = String(reply.headers['location']);
    expect(location).toBe(`${sandbox.url}/elsewhere`);
    expect((await call({ url: location }, 'GET', '')).status).toBe(404);
    expect(sandbox.ledger.calls).toMatchObject([
      { status, faults: [{ kind }] },
      { path: '/elsewhere', faults: [] },
    ]);
    expect(sandbox.ledger.entries.map((entry) => entry.type)).toEqual(effects);
  });

  test.each([
    ['redirect', 308, 0],
    ['redirect', 300, 0],
    ['redirect-after', 307, 1],
    ['redirect-after', 399, 1],
  ] as const)('%s with a status (%s) and a location of its own', async (kind, status, added) => {
    const { sandbox } = await struckBy({ kind, status, location: 'https://example.com/' });
    expect(await add(sandbox)).toMatchObject({ status, headers: { location: 'https://example.com/' } });
    expect(openCartItems(sandbox.ledger)).toHaveLength(added);
  });

  test('garbage is no JSON, under a success', async () => {
    const { sandbox } = await struckBy({ kind: 'garbage' });
    const reply = await add(sandbox);
    expect(reply.status).toBe(200);
    expect(reply.text).not.toBe('');
    expect(reply.body).toBeUndefined();
    expect(openCartItems(sandbox.ledger)).toHaveLength(1);
  });

  test('empty has no body, under a success', async () => {
    const { sandbox } = await struckBy({ kind: 'empty' });
    expect(await add(sandbox)).toMatchObject({ status: 200, text: '', headers: { 'content-length': '0' } });
    expect(openCartItems(sandbox.ledger)).toHaveLength(1);
  });

  test.each([
    [undefined, 5 * 1024 * 1024],
    [1000, 1000],
  ])('oversized, sizeBytes %s, is the usual answer only too long', async (sizeBytes, length) => {
    const { sandbox } = await struckBy({ kind: 'oversized', sizeBytes });
    const reply = await add(sandbox);
    expect(reply.status).toBe(200);
    expect(reply.text).toHaveLength(length);
    expect(reply.body).toMatchObject({ '0': 501, data: { code: 200 } });
    expect(openCartItems(sandbox.ledger)).toHaveLength(1);
  });
});

describe('a connection that breaks', () => {
  /** Sends a cart item over a bare socket, and tells how it ended: every byte, and the error if there was one. */
  function bareCall(sandbox: Sandbox): Promise<{ text: string; error: string | undefined }> {
    return new Promise((resolve) => {
      const body = JSON.stringify(cloudServer);
      const socket = connect(Number(new URL(sandbox.url).port), '127.0.0.1');
      let text = '';
      let error: string | undefined;
      socket.on('data', (chunk) => (text += chunk.toString()));
      socket.on('error', (problem: NodeJS.ErrnoException) => (error = problem.code));
      socket.on('close', () => resolve({ text, error }));
      socket.write(`POST /order/add-to-cart HTTP/1.1\r\nhost: x\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
    });
  }

  test.each([
    ['reset-before', 0],
    ['reset-after', 1],
  ] as const)('%s: RST, not a byte of an answer', async (kind, added) => {
    const { sandbox } = await struckBy({ kind });
    expect(await bareCall(sandbox)).toEqual({ text: '', error: 'ECONNRESET' });
    expect(openCartItems(sandbox.ledger)).toHaveLength(added);
    expect(sandbox.ledger.calls[0]?.status).toBeNull();
  });

  test('truncated: a success that promises more than comes, then an end in good order', async () => {
    const { sandbox } = await struckBy({ kind: 'truncated' });
    const { text, error } = await bareCall(sandbox);
    expect(error).toBeUndefined();
    const [head = '', body = ''] = text.split('\r\n\r\n');
    const promised = Number(/content-length: (\d+)/i.exec(head)?.[1]);
    expect(head).toContain('200 OK');
    expect(body).toMatch(/^\{"0":501/);
    expect(body.length).toBeLessThan(promised);
    expect(openCartItems(sandbox.ledger)).toHaveLength(1);
  });

  test('truncated, as a client of HTTP sees it', async () => {
    const { sandbox } = await struckBy({ kind: 'truncated' });
    await expect(add(sandbox)).rejects.toMatchObject({ code: 'ECONNRESET' });
  });
});

describe('an answer that is late or never comes', () => {
  test.each([
    ['hang-before', 0],
    ['hang-after', 1],
  ] as const)('%s: nothing comes until the sandbox closes', async (kind, added) => {
    const { sandbox, id } = await struckBy({ kind });
    let settled = false;
    const hanging = add(sandbox).finally(() => (settled = true));
    const broken = expect(hanging).rejects.toThrow();
    await sandbox.whenStruck(id);
    expect(openCartItems(sandbox.ledger)).toHaveLength(added);
    await add(sandbox);
    sandbox.faults.clear();
    await add(sandbox);
    expect(settled).toBe(false);
    await sandbox.close();
    await broken;
    expect(sandbox.ledger.calls[0]?.status).toBeNull();
  });

  test('slow: in the ledger before the answer is out', async () => {
    const { sandbox, id } = await struckBy({ kind: 'slow', delayMs: 20 });
    const answered = add(sandbox);
    await sandbox.whenStruck(id);
    expect(openCartItems(sandbox.ledger)).toHaveLength(1);
    expect(sandbox.ledger.calls[0]?.status).toBeNull();
    expect((await answered).status).toBe(200);
    expect(sandbox.ledger.calls[0]?.status).toBe(200);
  });
});

test('every kind can be set on every endpoint at once', async () => {
  const sandbox = await startSandbox();
  for (const kind of faultKinds) sandbox.faults.add({ endpoint: '*', kind, from: 1000 });
  expect(sandbox.faults.list()).toHaveLength(faultKinds.length);
  expect((await add(sandbox)).status).toBe(200);
});

describe('which calls are struck', () => {
  const statuses = async (sandbox: Sandbox, calls: number, one: (sandbox: Sandbox) => Promise<Reply> = add) => {
    const seen: number[] = [];
    for (let nth = 0; nth < calls; nth++) seen.push((await one(sandbox)).status);
    return seen;
  };

  test.each<[Partial<FaultSpec>, number[]]>([
    [{}, [500, 200, 200, 200]],
    [{ nth: 3 }, [200, 200, 500, 200]],
    [{ times: 2 }, [500, 500, 200, 200]],
    [{ from: 2, times: 2 }, [200, 500, 500, 200]],
    [{ from: 3, times: 'all' }, [200, 200, 500, 500]],
    [{ times: 'all' }, [500, 500, 500, 500]],
  ])('%j', async (which, expected) => {
    const sandbox = await startSandbox();
    await add(sandbox); // Counted from when the fault was added, so this one is not.
    sandbox.faults.add({ endpoint: 'add-cart-item', kind: 'error-before', ...which });
    await call(sandbox, 'GET', '/firewalls/object/1'); // Nor is a call to another endpoint.
    expect(await statuses(sandbox, 4)).toEqual(expected);
  });

  test('the first added wins, and both count', async () => {
    const sandbox = await startSandbox();
    sandbox.faults.add({ endpoint: 'add-cart-item', kind: 'rate-limit', times: 2 });
    sandbox.faults.add({ endpoint: '*', kind: 'error-before', times: 3 });
    expect(await statuses(sandbox, 4)).toEqual([429, 429, 500, 200]);
  });

  test('* is any endpoint, but no unknown path', async () => {
    const sandbox = await startSandbox();
    sandbox.faults.add({ endpoint: '*', kind: 'error-before' });
    expect((await call(sandbox, 'GET', '/nowhere')).status).toBe(404);
    expect((await call(sandbox, 'GET', '/firewalls/object/1')).status).toBe(500);
  });

  test('cleared faults strike no more', async () => {
    const sandbox = await startSandbox();
    sandbox.faults.add({ endpoint: '*', kind: 'error-before', times: 'all' });
    expect(await statuses(sandbox, 1)).toEqual([500]);
    sandbox.faults.clear();
    expect(await statuses(sandbox, 1)).toEqual([200]);
  });

  const resources = [{ resource_name: 'vm_backup', delta_value: '1' }];

  test.each<[FaultSpec['match'], [string, string, unknown], [string, string, unknown]]>([
    [
      { account: 'AB-1' },
      ['POST', '/order', { account: 'AB-1', cartItems: [1] }],
      ['POST', '/order', { account: 'CD-1', cartItems: [1] }],
    ],
    [
      { label: 'web' },
      ['POST', '/order', { account: 'AB-1', label: 'web', cartItems: [1] }],
      ['POST', '/order', { account: 'AB-1', cartItems: [1] }],
    ],
    [
      { account: 'AB-1', label: 'web' },
      ['GET', '/servers?account=AB-1&label=web', undefined],
      ['GET', '/servers?account=AB-1', undefined],
    ],
    [
      { planId: 17 },
      ['POST', '/order/add-to-cart', cloudServer],
      ['POST', '/order/add-to-cart', { ...cloudServer, plan_id: 18 }],
    ],
    [
      { subscriptionId: 5 },
      ['PUT', '/order/changeorder/total', { subscription_id: 5, resources }],
      ['PUT', '/order/changeorder/total', { subscription_id: 6, resources }],
    ],
    [{ subscriptionId: 5 }, ['PUT', '/order/switch/5', { plan_id: 1 }], ['PUT', '/order/switch/6', { plan_id: 5 }]],
    [{ vmObjectId: 5 }, ['GET', '/firewalls/object/5', undefined], ['GET', '/firewalls/object/6', undefined]],
    [
      { vmObjectId: 5 },
      ['POST', '/firewalls/assign/object/5', { firewalls: [] }],
      ['POST', '/firewalls/unassign/object/6', { firewalls: [] }],
    ],
    [
      { cartItemId: 5 },
      ['DELETE', '/order/cartItems/delete/5', undefined],
      ['DELETE', '/order/cartItems/delete/6', undefined],
    ],
    [
      { cartItemId: 5 },
      ['POST', '/order', { account: 'AB-1', cartItems: [4, 5] }],
      ['POST', '/order', { account: 'AB-1', cartItems: [4, 6] }],
    ],
  ])('aimed at %j', async (match, hit, missed) => {
    const sandbox = await startSandbox();
    sandbox.faults.add({ endpoint: '*', kind: 'error-before', status: 599, match });
    expect((await call(sandbox, ...missed)).status).not.toBe(599);
    expect((await call(sandbox, ...hit)).status).toBe(599);
  });

  test.each<unknown>([
    { endpoint: 'order', kind: 'garbage' },
    { endpoint: '*', kind: 'explode' },
    { endpoint: '*', kind: 'garbage', nth: 1, times: 2 },
    { endpoint: '*', kind: 'garbage', nth: 0 },
    { endpoint: '*', kind: 'garbage', delay: 5 },
    { endpoint: '*', kind: 'redirect', status: 400 },
    { endpoint: '*', kind: 'redirect-after', status: 400 },
    { endpoint: '*', kind: 'redirect-after', status: 299 },
    { endpoint: '*', kind: 'garbage', match: { plan_id: 17 } },
  ])('%j makes no sense and is refused', async (fault) => {
    const sandbox = await startSandbox();
    expect(() => sandbox.faults.add(fault as FaultSpec)).toThrow();
    expect(sandbox.faults.list()).toEqual([]);
  });
});

test('a fault after the effect of a call that the rules refuse has no effect to come after', async () => {
  const sandbox = await startSandbox();
  sandbox.faults.add({ endpoint: 'place-order', kind: 'error-after' });
  expect((await placeOrder(sandbox, { account: 'nobody' })).status).toBe(500);
  expect(sandbox.ledger.entries.map((entry) => entry.type)).toEqual(['cartItemAdded']);
});

test('faults given at the start strike from the first call on', async () => {
  const sandbox = await startSandbox({ faults: [{ endpoint: 'add-cart-item', kind: 'unauthorized' }] });
  expect((await add(sandbox)).status).toBe(401);
  await addCartItem(sandbox);
});
