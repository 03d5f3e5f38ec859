/** `getaddrinfo` takes a thread of the process until it ends: two are there for it, and the provider is found by them. */
import dns from 'node:dns';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { Sender } from '../../../src/notifications/sender';
import { closeAll, serve } from '../../support/stand-in';
import { noticeOf, routeTo } from '../../support/receiver';

const secret = `whsec_${Buffer.from('a secret').toString('base64')}`;
const { Resolver } = dns;
const notice = noticeOf('waiting');
let silent: Socket;
beforeAll(async () => {
  silent = createSocket('udp4').bind(0, '127.0.0.1');
  await once(silent, 'listening');
  jest.spyOn(dns, 'Resolver').mockImplementation((options) => {
    const resolver = new Resolver({ ...options, timeout: 100 });
    resolver.setServers([`127.0.0.1:${silent.address().port}`]);
    return resolver;
  });
});
afterAll(() => silent.close());
afterEach(closeAll);

it('a receiver whose name nobody answers for takes no thread', async () => {
  const lookedUp = jest.spyOn(dns, 'lookup');
  const sender = new Sender({ allowed: [], timeoutMs: 5_000 });
  const route = routeTo('https://hooks.example/');
  const came = await Promise.all(Array.from({ length: 5 }, () => sender.send(route, notice, secret)));
  expect(lookedUp).not.toHaveBeenCalled();
  expect(came).toEqual(Array.from({ length: 5 }, () => ({ why: 'its receiver could not be reached (ETIMEOUT)' })));
  await sender.close();
});

it.each(['127.0.0.1', '[::1]', '0x7f.1', 'localhost'])('a receiver at %s, inside, is not notified', async (host) => {
  // Somebody answers for this name; the system says where it leads.
  const asked = jest.spyOn(Resolver.prototype, 'resolve4');
  asked.mockImplementation(((_host: string, done: (silence: null) => void) => done(null)) as never);
  const { url, seen } = await serve({});
  const sender = new Sender({ allowed: [], timeoutMs: 5_000 });
  const { port } = new URL(url);
  const told = await sender.send(routeTo(`http://${host}:${port}/`), notice, secret);
  expect(told).toEqual({ why: 'its receiver has an inner address, which NOTIFICATION_ALLOW does not name' });
  expect(seen).toEqual([]);
  asked.mockRestore();
  await sender.close();
});

it('a receiver that is gone (410) is called no more; one of another secret, and that address, is', async () => {
  const { url, seen } = await serve({ status: 410 }, { status: 202 });
  const sender = new Sender({ allowed: ['127.0.0.1'], timeoutMs: 5_000 });
  const [one, other] = ['A', 'B'].map((key) => key.repeat(32)) as [string, string];
  const route = routeTo(url, 'pagerduty');
  expect(await sender.send(route, notice, one)).toMatchObject({ isGone: true });
  expect(await sender.send(route, notice, one)).toMatchObject({ isGone: true });
  expect(await sender.send(route, notice, other)).toBeUndefined();
  expect(seen).toHaveLength(2);
  await sender.close();
});
