/** Requests are sent or not: on sockets that do what sockets do. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import https from 'node:https';
import net from 'node:net';
import type { CallEvent, CallOptions, ProviderClient, ProviderClientOptions } from '../../../src/provider/client';
import { selfSigned } from '../../support/certificates';
import { fc } from '../../support/properties';
import { providerCalls } from '../../support/provider-calls';
import {
  closeAll,
  closeLater,
  closedPort,
  createClient,
  failureOf,
  httpText,
  listen,
  onRequest,
  quote,
  serve,
  serveRaw,
  reading,
} from '../../support/stand-in';

afterEach(closeAll);

const order = { account: 'ab-12', cartItems: [1] };
/** Until a busy machine has connected, and read a head. */
const soonMs = 800;

/** Each test of what was sent is made for both ways out: kept connections and fresh ones. */
const ways: [string, (client: ProviderClient, options?: CallOptions) => Promise<unknown>][] = [
  ['a pivot', (client, options) => client.placeOrder(order, options)],
  ['a repeatable call', (client, options) => client.findServers({ path: '/servers' }, options)],
];

const overTls = (url: string) => url.replace('http:', 'https:');
/** Half of what tests say of connections is said once more over TLS. */
const transports: [string, ReturnType<typeof selfSigned> | undefined][] = [
  ['plain', undefined],
  ['TLS', selfSigned('127.0.0.1')],
];

describe.each(ways)('%s is surely not sent', (_, act) => {
  /** It never finishes the handshake. */
  const silent = async () => overTls((await serveRaw(() => undefined)).url);

  test.each<[string, () => Promise<string> | string, Partial<ProviderClientOptions>, RegExp]>([
    ['the connection is refused', async () => `http://127.0.0.1:${await closedPort()}`, {}, /ECONNREFUSED/],
    ['the host name does not exist', () => 'https://no-such-host.invalid', {}, /host name/],
    ['TLS meets a port that does not speak it', async () => overTls((await serve({})).url), {}, /./],
    ['the handshake is never finished', silent, { connectTimeoutMs: 50 }, /no connection in time/],
    ['the total time ends before', silent, { connectTimeoutMs: 900, totalTimeoutMs: 50 }, /50 ms/],
  ])('when %s', async (_why, url, options, message) => {
    const failure = await failureOf(act(createClient(await url(), options)));
    expect(failure).toHaveProperty('name', 'NotSent');
    expect(failure.message).toMatch(message);
    expect(failure.status).toBeUndefined();
  });

  test.each([
    ['not trusted', '127.0.0.1', false, /SELF_SIGNED/],
    ['another host’s', '127.0.0.2', true, /ALTNAME/],
  ])('when the certificate is %s', async (_why, address, isTrusted, message) => {
    const { key, cert } = selfSigned(address);
    const answer = jest.fn();
    const server = https.createServer({ key, cert }, answer).on('tlsClientError', () => undefined);
    const url = overTls(await listen(server));
    const failure = await failureOf(act(createClient(url, isTrusted ? { ca: cert } : {})));
    expect(failure).toHaveProperty('name', 'NotSent');
    expect(failure.message).toMatch(message);
    expect(answer).not.toHaveBeenCalled();
  });

  test('when no connection is free in time, and it does not leave later either', async () => {
    const { client, requests, release } = await oneConnection();
    const first = act(client);
    await until(() => requests.length === 1);
    expect(await failureOf(act(client, { withinMs: 50 }))).toHaveProperty('name', 'NotSent');
    release();
    expect(await first).toEqual(['first']);
    // A third call shows that the queue has moved past the one that was given up.
    expect(await act(client)).toEqual(['later']);
    expect(requests).toHaveLength(2);
  });
});

describe.each(ways)('the outcome of %s is unknown', (_, act) => {
  test('when the connection is reset before the request is read', async () => {
    const server = await serveUnread();
    const failure = await failureOf(act(createClient(server.url)));
    expect(failure).toHaveProperty('name', 'UnknownOutcome');
    expect(server.connections()).toBe(1);
  });

  const chunked = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';
  const drip = (socket: net.Socket) => {
    socket.write(chunked);
    const dripping = setInterval(() => socket.write('1\r\n \r\n'), 10);
    socket.on('close', () => clearInterval(dripping));
  };
  const noStatus = { status: undefined };
  const soon = { totalTimeoutMs: soonMs };

  test.each<[string, (socket: net.Socket) => void, object, RegExp, Partial<ProviderClientOptions>?]>([
    ['is reset', (socket) => socket.resetAndDestroy(), noStatus, /was sent and not answered/],
    ['is closed without an answer', (socket) => socket.end(), noStatus, /./],
    ['ends in the head of a success', (socket) => socket.end('HTTP/1.1 200 O'), noStatus, /./],
    ['ends in its body', (socket) => socket.end(httpText('[1]').slice(0, -1)), { status: 200 }, /./],
    ['ends in the middle of a chunked success', (socket) => socket.end(`${chunked}4\r\nnull\r\n`), {}, /./],
    ['answers what is not HTTP', (socket) => socket.end('220 smtp ready\r\n'), noStatus, /not HTTP/],
    ['only announces something', (socket) => socket.end('HTTP/1.1 103 Early Hints\r\n\r\n'), noStatus, /./],
    ['has no head in time', () => undefined, noStatus, /800 ms/, soon],
    ['stops in the body', (socket) => socket.write(httpText('[1]').slice(0, -1)), {}, /800 ms/, soon],
    ['drips without end: the total time bounds it', drip, {}, /800 ms/, soon],
  ])('when the connection, the request read, %s', async (_how, answer, fields, message, options = {}) => {
    const server = await serveRaw((socket) => onRequest(socket, () => answer(socket)));
    const failure = await failureOf(act(createClient(server.url, options)));
    expect(failure).toHaveProperty('name', 'UnknownOutcome');
    expect({ status: failure.status }).toMatchObject(fields);
    expect(failure.message).toMatch(message);
    expect(server.connections()).toBe(1);
  });

  test('when its own time ends after it was sent, which says nothing of the provider', async () => {
    const server = await serveRaw((socket) => onRequest(socket, () => undefined));
    const events: CallEvent[] = [];
    const client = createClient(server.url, { onCall: (event) => events.push(event) });
    const failure = await failureOf(act(client, { withinMs: soonMs }));
    expect(failure).toHaveProperty('name', 'UnknownOutcome');
    expect(failure.message).toContain('not done within 800 ms');
    expect(events).toMatchObject([{ sent: true }]);
  });
});

describe.each(ways)('%s is asked whether it may leave', (_, act) => {
  const keptHere = () => 'it is too late for it';

  /** Counts how often it is asked; the sentences are the answers by turns. */
  function questions(...sentences: (string | undefined)[]) {
    const asked = { times: 0, mayLeave: () => sentences[asked.times++] };
    return asked;
  }

  test('and where a sentence keeps it, not a byte of it arrives', async () => {
    let bytes = 0;
    const left: Promise<void>[] = [];
    const server = await serveRaw((socket) => {
      socket.on('data', (chunk: Buffer) => (bytes += chunk.length));
      left.push(new Promise((resolve) => socket.on('close', () => resolve())));
    });
    const events: CallEvent[] = [];
    const client = createClient(server.url, { onCall: (event) => events.push(event) });
    const failure = await failureOf(act(client, { mayLeave: keptHere }));
    expect(failure).toHaveProperty('name', 'NotSent');
    expect(failure.message).toMatch(/ was not sent: it is too late for it$/);
    expect(failure.status).toBeUndefined();
    expect(events).toMatchObject([{ failure: 'NotSent', sent: false }]);
    await client.close();
    await until(() => left.length === 1);
    // Bytes that were on their way have arrived when the other side sees the end.
    await left[0];
    expect(bytes).toBe(0);
  });

  test('when the connection is there, its handshake included, and not before', async () => {
    const { key, cert } = selfSigned('127.0.0.1');
    const secure = https.createServer({ key, cert }, (_request, response) => response.end('{"over":"tls"}'));
    const waiting: net.Socket[] = [];
    const server = net.createServer({ pauseOnConnect: true }, (socket) => waiting.push(socket));
    const url = overTls(await listen(server));
    const asked = questions();
    const answered = act(createClient(url, { ca: cert }), asked);
    await until(() => waiting.length === 1);
    expect(asked.times).toBe(0);
    secure.emit('connection', waiting[0]);
    expect(await answered).toEqual({ over: 'tls' });
    expect(asked.times).toBe(1);
  });

  test('in the tick in which it is written to the socket', async () => {
    const server = await serve({});
    const order: string[] = [];
    const { write } = net.Socket.prototype;
    const spied = jest.spyOn(net.Socket.prototype, 'write').mockImplementation(function (
      this: net.Socket,
      ...written: unknown[]
    ) {
      if (/^(?:POST|GET) \//.test(String(written[0]))) order.push('written');
      return Reflect.apply(write, this, written) as boolean;
    });
    closeLater(() => spied.mockRestore());
    await act(createClient(server.url), {
      mayLeave: () => {
        order.push('asked');
        process.nextTick(() => order.push('the next tick'));
        return undefined;
      },
    });
    expect(order).toEqual(['asked', 'written', 'the next tick']);
  });

  test('when its turn comes, where all connections were taken; and nobody behind it is held up', async () => {
    const { client, requests, release } = await oneConnection();
    const first = act(client);
    await until(() => requests.length === 1);
    const asked = questions('not any more');
    const second = failureOf(act(client, asked));
    const third = act(client);
    // By then it stands in the queue.
    await new Promise((resolve) => setImmediate(resolve));
    expect(asked.times).toBe(0);
    release();
    expect(await Promise.all([first, third])).toEqual([['first'], ['later']]);
    expect(await second).toHaveProperty('name', 'NotSent');
    expect(asked.times).toBe(1);
    expect(requests).toHaveLength(2);
  });

  test('once more, where a 401 is answered with another token', async () => {
    const tokens = ({ seen }: Awaited<ReturnType<typeof serve>>) => seen.map(({ headers }) => headers.authorization);

    const both = await serve({ status: 401 }, { body: '["done"]' });
    const twice = questions();
    expect(await act(createClient(both.url, { readToken: reading('old', 'new') }), twice)).toEqual(['done']);
    expect([twice.times, tokens(both)]).toEqual([2, ['Bearer old', 'Bearer new']]);
    expect(both.seen[0]?.body).toBe(both.seen[1]?.body);

    const one = await serve({ status: 401 }, { body: '["done"]' });
    const failure = await failureOf(
      act(createClient(one.url, { readToken: reading('old', 'new') }), questions(undefined, 'too late now')),
    );
    expect(failure).toHaveProperty('name', 'NotSent');
    expect(failure.message).toContain('too late now');
    expect(tokens(one)).toEqual(['Bearer old']);
  });

  test('and does not leave where the question itself fails', async () => {
    const server = await serve({});
    const mayLeave = () => {
      throw new Error('no clock');
    };
    const client = createClient(server.url);
    expect(await failureOf(act(client, { mayLeave }))).toHaveProperty('name', 'NotSent');
    expect(await act(client)).toEqual({});
    expect(server.seen).toHaveLength(1);
  });
});

test('an error’s status counts even where its body is lost or stalls', async () => {
  const text = httpText('{"error":"no such plan"}', { status: '422 Unprocessable' });
  const server = await serveRaw((socket, nth) =>
    onRequest(socket, () => (nth === 0 ? socket.end(text.slice(0, -5)) : socket.write(text.slice(0, -5)))),
  );
  const client = createClient(server.url, { totalTimeoutMs: soonMs });
  for (const call of [client.placeOrder(order), client.placeOrder(order)]) {
    const failure = await failureOf(call);
    expect(failure).toHaveProperty('name', 'Rejected');
    expect(failure.body).toContain('no such');
  }
});

describe.each(transports)('announcements that nobody asked for, %s', (_, certificate) => {
  /** Writes the pieces one by one, each as a packet of its own. */
  const writeApart = async (socket: net.Socket, pieces: string[]) => {
    for (const piece of pieces) {
      await new Promise((resolve) => socket.write(piece, resolve));
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const announcement = fc.constantFrom(
    'HTTP/1.1 100 Continue\r\n\r\n',
    'HTTP/1.0 100 \r\nserver: a\r\nx: HTTP/1.1 200 OK\r\n\r\n',
    'HTTP/1.1 102 Processing\r\n\r\n',
    'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n',
    '\r\nHTTP/1.1 199 Soon\r\n\r\n',
  );
  const body = '{"id": "HTTP/1.1 100 Continue"}';

  test('go before an answer that is taken, in whatever pieces all of it comes', async () => {
    let pieces: string[] = [];
    const server = await serveRaw((socket) => {
      socket.setNoDelay(true);
      onRequest(socket, () => void writeApart(socket, pieces));
    }, certificate);
    const client = createClient(server.url, { connections: 1, ...(certificate ? { ca: certificate.cert } : {}) });
    await fc.assert(
      fc.asyncProperty(
        fc.array(announcement, { maxLength: 4 }),
        fc.array(fc.nat(400), { maxLength: 12 }),
        fc.constantFrom(...ways),
        async (announcements, cuts, [, act]) => {
          const text = announcements.join('') + httpText(body);
          const at = [0, ...new Set(cuts.filter((cut) => cut < text.length))].sort((a, b) => a - b);
          pieces = at.map((from, nth) => text.slice(from, at[nth + 1]));
          expect(await act(client)).toEqual({ id: 'HTTP/1.1 100 Continue' });
        },
      ),
      { numRuns: 100 },
    );
  });

  test('are no answer, and do not go on for ever', async () => {
    const texts = ['HTTP/1.1 100 Continue\r\n\r\n', `HTTP/1.1 100 ${'x'.repeat(20_000)}`];
    const server = await serveRaw((socket, nth) => {
      onRequest(socket, () => {
        if (nth < 2) socket.end(texts[nth] ?? '');
        else socket.on('drain', () => socket.write('HTTP/1.1 100 Continue\r\n\r\n'.repeat(1_000)) || undefined);
        if (nth === 2) while (socket.write('HTTP/1.1 100 Continue\r\n\r\n'.repeat(1_000)));
      });
    }, certificate);
    const ca = certificate ? { ca: certificate.cert } : {};
    const client = createClient(server.url, { responseBytesMax: 1_024, ...ca });
    const failures = [];
    for (let nth = 0; nth < 3; nth += 1) failures.push(await failureOf(client.placeOrder(order)));
    expect(failures.map(({ name, status }) => [name, status])).toEqual(Array(3).fill(['UnknownOutcome', undefined]));
    expect(failures[2]?.message).toMatch(/does not end|connection was closed/);
  });
});

describe.each(transports)('the connection of a pivot, %s', (_, certificate) => {
  const half = httpText('{"id":1}').slice(0, -3);
  const tooLong = httpText(`"${'x'.repeat(2_000)}"`);
  const ca = certificate ? { ca: certificate.cert } : {};

  /** How the other side sees the connection end. */
  async function endOf(answer: string, options: Partial<ProviderClientOptions> = {}) {
    let ended: Promise<unknown> = Promise.resolve();
    const server = await serveRaw((socket) => {
      ended = new Promise((resolve) => {
        socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code));
        socket.on('close', () => resolve('closed'));
      });
      onRequest(socket, () => void socket.write(answer));
    }, certificate);
    const client = createClient(server.url, { responseBytesMax: 1_024, ...ca, ...options });
    const outcome = await client.placeOrder(order).then(
      () => 'answered',
      (error: unknown) => (error as Error).message,
    );
    return [outcome, await ended];
  }

  test.each([
    ['the answer does not come', 'not done within 1000 ms', '', { totalTimeoutMs: 1_000 }],
    ['the answer stops in the middle', 'not done within 1000 ms', half, { totalTimeoutMs: 1_000 }],
    ['the answer is too long', 'longer than 1024 bytes', tooLong, {}],
  ])('is reset when %s', async (_why, message, answer, options) => {
    const [outcome, end] = await endOf(answer, options);
    // A reset below TLS ends the connection before undici says why.
    expect(outcome).toMatch(certificate ? new RegExp(`${message}|UND_ERR_SOCKET`) : message);
    expect(end).toBe('ECONNRESET');
  });

  test('is closed when the answer is whole', async () => {
    expect(await endOf(httpText('{"id":1}'))).toEqual(['answered', 'closed']);
  });
});

describe('connections', () => {
  test('a pivot takes none that another call left open, and leaves none', async () => {
    const server = await serve({});
    const client = createClient(server.url);
    await client.listFirewalls(1);
    await client.placeOrder(order);
    await client.listFirewalls(1);
    expect(server.seen.map(({ connection }) => connection)).toEqual([0, 1, 0]);
  });

  test('repeatable calls share one', async () => {
    const server = await serve({});
    const client = createClient(server.url);
    for (let nth = 0; nth < 6; nth++) await client.listFirewalls(1);
    // A call right after another takes a second one: undici rests a connection for one turn of the event loop.
    expect(server.connections.length).toBeLessThanOrEqual(2);
  });

  // The second request on a connection meets its end: what a kept connection risks and a pivot must not.
  const closesWhenUsedAgain = () =>
    serveRaw((socket) =>
      onRequest(socket, (_, nth) => {
        if (nth === 0) socket.write(httpText(JSON.stringify(quote), { headers: ['connection: keep-alive'] }));
        else socket.resetAndDestroy();
      }),
    );

  test.each(['order', 'changeOrder', 'switch'] as const)('%s does not fall for a stale one', async (pivot) => {
    const server = await closesWhenUsedAgain();
    const client = createClient(server.url);
    for (let nth = 0; nth < 3; nth++) expect(await providerCalls[pivot](client)).toEqual(quote);
    expect(server.connections()).toBe(3);
  });

  test('a repeatable call may, and says that its outcome is unknown', async () => {
    const server = await closesWhenUsedAgain();
    const client = createClient(server.url, { connections: 1 });
    await client.listFirewalls(1);
    expect(await failureOf(client.listFirewalls(1))).toHaveProperty('name', 'UnknownOutcome');
    expect((await client.listFirewalls(1)).body).toEqual(quote);
  });

  test('closing waits for the call in flight', async () => {
    const waiting: net.Socket[] = [];
    const server = await serveRaw((socket) => onRequest(socket, () => waiting.push(socket)));
    const client = createClient(server.url);
    const placed = client.placeOrder(order);
    await until(() => waiting.length === 1);
    const closed = client.close();
    expect(await failureOf(client.placeOrder(order))).toHaveProperty('name', 'NotSent');
    waiting[0]?.write(httpText('{"id":1}'));
    expect(await placed).toEqual({ id: 1 });
    await closed;
  });
});

describe('onCall', () => {
  test('gets every call once, without bodies', async () => {
    const server = await serve({ status: 401 }, { body: '{}' }, { status: 429 });
    const events: CallEvent[] = [];
    const readToken = reading('a', 'b');
    const client = createClient(server.url, { readToken, onCall: (event) => events.push(event) });
    await client.deleteCartItem(12);
    await failureOf(client.placeOrder(order));
    await failureOf(client.listFirewalls(0));
    const durationMs = expect.any(Number) as number;
    const told = (endpoint: string, rest: object) => {
      return { endpoint, durationMs, ...rest };
    };
    expect(events).toEqual([
      told('DELETE /order/cartItems/delete/{cart_item_id}', { status: 200, sent: true }),
      told('POST /order', { status: 429, failure: 'RateLimited', sent: true }),
      told('GET /firewalls/object/{vm_object_id}', { failure: 'Rejected', sent: false }),
    ]);
  });

  test('knows what was sent of a call that failed', async () => {
    const server = await serveRaw((socket) => onRequest(socket, () => socket.resetAndDestroy()));
    const events: CallEvent[] = [];
    const onCall = (event: CallEvent) => events.push(event);
    await failureOf(createClient(server.url, { onCall }).placeOrder(order));
    const nowhere = `http://127.0.0.1:${await closedPort()}`;
    await failureOf(createClient(nowhere, { onCall }).placeOrder(order));
    expect(events.map(({ failure, sent }) => [failure, sent])).toEqual([
      ['UnknownOutcome', true],
      ['NotSent', false],
    ]);
  });

  test('cannot change a call’s outcome by throwing', async () => {
    const server = await serve({ body: '{"id":1}' });
    const onCall = () => {
      throw new Error('broken counter');
    };
    expect(await createClient(server.url, { onCall }).placeOrder(order)).toEqual({ id: 1 });
  });
});

/** A client of one connection; its first call is answered when it is released, the others at once. */
async function oneConnection() {
  let answerFirst: () => void = () => undefined;
  const requests: string[] = [];
  const server = await serveRaw((socket) =>
    onRequest(socket, (request) => {
      requests.push(request);
      if (requests.length === 1) answerFirst = () => socket.write(httpText('["first"]'));
      else socket.write(httpText('["later"]'));
    }),
  );
  return { client: createClient(server.url, { connections: 1 }), requests, release: () => answerFirst() };
}

/** Accepts, reads nothing, and resets once undici has written the request: nothing of it was taken in. */
async function serveUnread() {
  const channel = 'undici:client:sendHeaders';
  const sockets: net.Socket[] = [];
  const server = net.createServer({ pauseOnConnect: true }, (socket) => sockets.push(socket));
  const onSent = () =>
    setImmediate(() => void until(() => sockets.length > 0).then(() => sockets[0]?.resetAndDestroy()));
  subscribe(channel, onSent);
  closeLater(() => void unsubscribe(channel, onSent));
  return { url: await listen(server), connections: () => sockets.length };
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 2));
}
