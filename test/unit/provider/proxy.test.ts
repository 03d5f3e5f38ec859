/** Calls of the provider through a proxy: in a tunnel that it opens, and what its failures say. */
import http from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import { selfSigned } from '../../support/certificates';
import { closeAll, closedPort, createClient, failureOf, listen, proxyTo, serve } from '../../support/stand-in';

afterEach(closeAll);

const order = { account: 'ab-12', cartItems: [1] };
it.each(['http', 'https'])('an order goes to a provider of %s through a tunnel', async (scheme) => {
  const { key, cert } = selfSigned('127.0.0.2');
  const provider =
    scheme === 'http'
      ? (await serve({ body: '{"over":"http"}' })).url
      : await listen(https.createServer({ key, cert }, (_, response) => response.end('{"over":"https"}')));
  const { url, connects } = await proxyTo(new URL(provider).port);
  const proxy = url.replace('//', '//ann:pass%20word@');
  const client = createClient(`${scheme}://127.0.0.2`, { proxy, ca: cert });
  expect(await client.placeOrder(order)).toEqual({ over: scheme });
  const credentials = `Basic ${Buffer.from('ann:pass word').toString('base64')}`;
  expect(connects).toEqual([[`127.0.0.2:${scheme === 'http' ? 80 : 443}`, credentials]]);
});

it('a proxy may speak TLS itself', async () => {
  const secure = selfSigned('127.0.0.1');
  const { url } = await serve({ body: '{"over":"http"}' });
  const { url: proxy } = await proxyTo(new URL(url).port, secure);
  const client = createClient('http://provider.invalid', { proxy, ca: secure.cert });
  expect(await client.placeOrder(order)).toEqual({ over: 'http' });
});

const answering = (answer: (socket: Socket) => void) => async () => {
  const server = http.createServer();
  server.on('connect', (_request, socket: Socket) => answer(socket));
  return listen(server);
};

it.each<[string, () => Promise<string>, RegExp]>([
  ['refuses us', answering((socket) => socket.end('HTTP/1.1 407 No\r\n\r\n')), /proxy, which answered 407/],
  ['closes the connection', answering((socket) => socket.destroy()), /through the proxy: .*(closed|reset)/],
  ['is none', () => listen(http.createServer()), /through the proxy: .*(closed|reset)/],
  ['is not there', async () => `http://127.0.0.1:${await closedPort()}`, /through the proxy: .*ECONNREFUSED/],
])('nothing is sent where the proxy %s, and it says so', async (_why, proxy, message) => {
  const failure = await failureOf(createClient('https://provider.invalid', { proxy: await proxy() }).placeOrder(order));
  expect(failure).toHaveProperty('name', 'NotSent');
  expect(failure.message).toMatch(message);
});
