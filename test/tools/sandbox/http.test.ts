import { connect } from 'node:net';
import { callsTo, openCartItems } from '../../../sandbox/sentences';
import { addCartItem, call, closeAll, cloudServer, placeOrder, startSandbox } from './calling';

afterEach(closeAll);

const add = '/order/add-to-cart';

describe('what the interface does not have', () => {
  test.each(['/', '/orders', '/order/', '/order/cartItems/delete/', '/firewalls/object/1/2', '/elsewhere'])(
    '%s is unknown',
    async (path) => {
      const sandbox = await startSandbox();
      expect((await call(sandbox, 'POST', path, {})).status).toBe(404);
      expect(sandbox.ledger.calls).toEqual([expect.objectContaining({ endpoint: null, row: null, path, status: 404 })]);
    },
  );

  test.each([
    ['GET', '/order', 'POST'],
    ['GET', add, 'POST'],
    ['POST', '/order/cartItems/delete/1', 'DELETE'],
    ['PUT', '/order/changeorder', 'POST'],
    ['POST', '/order/changeorder/total', 'PUT, GET'],
    ['POST', '/order/switch/1', 'PUT'],
    ['GET', '/order/switch/total', 'PUT'],
    ['PUT', '/firewalls/assign/object/1', 'POST'],
    ['DELETE', '/firewalls/unassign/object/1', 'POST'],
    ['POST', '/firewalls/object/1', 'GET'],
  ])('%s %s is not allowed', async (method, path, allow) => {
    const reply = await call(await startSandbox(), method, path);
    expect(reply.status).toBe(405);
    expect(reply.headers['allow']).toBe(allow);
  });
});

describe('bodies', () => {
  test.each(['', '{', 'plan_id=17'])('%j is not JSON', async (text) => {
    const sandbox = await startSandbox();
    expect((await call(sandbox, 'POST', add, text)).status).toBe(400);
    expect(sandbox.ledger.calls[0]).toMatchObject({ body: text || null, status: 400 });
  });

  const bodyOf = (size: number) => {
    const empty = JSON.stringify({ ...cloudServer, password: '' });
    return JSON.stringify({ ...cloudServer, password: 'x'.repeat(size - empty.length) });
  };

  test('2 MiB are taken, one byte more is refused', async () => {
    const sandbox = await startSandbox();
    expect((await call(sandbox, 'POST', add, bodyOf(2 * 1024 * 1024))).status).toBe(200);
    expect((await call(sandbox, 'POST', add, bodyOf(2 * 1024 * 1024 + 1))).status).toBe(413);
    expect(openCartItems(sandbox.ledger)).toHaveLength(1);
  });

  test('a request that was never sent to its end is no request', async () => {
    const sandbox = await startSandbox();
    const { port } = new URL(sandbox.url);
    await new Promise<void>((resolve) => {
      const socket = connect(Number(port), '127.0.0.1', () => {
        socket.write(`POST ${add} HTTP/1.1\r\nhost: x\r\ncontent-length: 500\r\n\r\n{"billing_cycle":`, () => {
          socket.destroy();
          resolve();
        });
      });
    });
    await addCartItem(sandbox);
    expect(callsTo(sandbox.ledger, 2)).toHaveLength(1);
  });
});

describe('the bearer token', () => {
  test('is not asked for by default', async () => {
    const sandbox = await startSandbox();
    expect((await call(sandbox, 'POST', add, cloudServer, { authorization: 'Bearer anything' })).status).toBe(200);
  });

  test.each([{}, { authorization: 'Bearer wrong' }, { authorization: 'right' }, { authorization: 'Basic right' }])(
    '%j is refused, and nothing takes effect',
    async (headers) => {
      const sandbox = await startSandbox({ token: 'right' });
      expect((await call(sandbox, 'POST', add, cloudServer, headers as Record<string, string>)).status).toBe(401);
      expect(sandbox.ledger.entries).toEqual([]);
    },
  );

  test('can be changed while the sandbox runs', async () => {
    const sandbox = await startSandbox({ token: 'old' });
    const status = async (token: string) =>
      (await call(sandbox, 'POST', add, cloudServer, { authorization: `Bearer ${token}` })).status;
    expect(await status('old')).toBe(200);
    sandbox.configure({ token: 'new' });
    expect([await status('old'), await status('new')]).toEqual([401, 200]);
    sandbox.configure({ token: null });
    expect(await status('whatever')).toBe(200);
  });
});

test('a base path stands before every path', async () => {
  const sandbox = await startSandbox({ basePath: '/api/v1' });
  expect(sandbox.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/api\/v1$/);
  expect((await call(sandbox, 'POST', add, cloudServer)).status).toBe(200);
  const bare = { url: sandbox.url.replace('/api/v1', '') };
  expect((await call(bare, 'POST', add, cloudServer)).status).toBe(404);
  expect((await call(bare, 'POST', `/api/v1x${add}`, cloudServer)).status).toBe(404);
});

test('errors repeat the request where a setting says so, faults included', async () => {
  const sandbox = await startSandbox({ echoRequests: 'json' });
  const item = { ...cloudServer, billing_cycle: 5 };
  expect((await call(sandbox, 'POST', add, item)).body).toMatchObject({ code: 422, request: item });
  sandbox.faults.add({ endpoint: 'add-cart-item', kind: 'error-after' });
  expect((await call(sandbox, 'POST', add, cloudServer)).body).toMatchObject({ code: 500, request: cloudServer });
  expect((await call(sandbox, 'POST', add, cloudServer)).text).not.toContain(cloudServer.password);
});

test('an unknown setting is refused', async () => {
  const sandbox = await startSandbox();
  expect(() => sandbox.configure({ latency: 5 } as never)).toThrow(/latency/);
  await expect(startSandbox({ latencyMs: -1 })).rejects.toThrow(/latencyMs/);
});

test('latency comes before the effect', async () => {
  const sandbox = await startSandbox({ latencyMs: 60_000 });
  const answered = call(sandbox, 'POST', add, cloudServer);
  await sandbox.whenCalled({ endpoint: 'add-cart-item' });
  sandbox.configure({ latencyMs: 0 });
  await addCartItem(sandbox); // A later call overtakes it: its own latency was taken when it came.
  expect(openCartItems(sandbox.ledger)).toHaveLength(1);
  expect(sandbox.ledger.calls[0]).toMatchObject({ status: null, effects: [] });
  const broken = expect(answered).rejects.toThrow();
  await sandbox.close();
  await broken;
  expect(openCartItems(sandbox.ledger)).toHaveLength(1);
});

test('a little latency only delays', async () => {
  const sandbox = await startSandbox({ latencyMs: 1 });
  await addCartItem(sandbox);
  expect(openCartItems(sandbox.ledger)).toHaveLength(1);
});

test('a port that is taken is said at once', async () => {
  const { port } = new URL((await startSandbox()).url);
  await expect(startSandbox({ port: Number(port) })).rejects.toMatchObject({ code: 'EADDRINUSE' });
});

test('the log has a line per call, and no body', async () => {
  const lines: string[] = [];
  const logged = new Promise<void>((resolve) => {
    const log = (line: string) => {
      if (lines.push(line) === 2) resolve();
    };
    void startSandbox({ log }).then((sandbox) => {
      sandbox.faults.add({ endpoint: 'place-order', kind: 'error-after' });
      return placeOrder(sandbox);
    });
  });
  await logged;
  expect(lines).toEqual(['POST /order/add-to-cart 200', 'POST /order 500 (error-after)']);
});
