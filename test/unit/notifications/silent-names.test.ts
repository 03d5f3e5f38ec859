/** `getaddrinfo` takes a thread of the process until it ends: two are there for it, and the provider is found by them. */
import dns from 'node:dns';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { Sender } from '../../../src/notifications/sender';

const secret = `whsec_${Buffer.from('a secret').toString('base64')}`;
const { Resolver } = dns;
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

it('a receiver whose name nobody answers for takes no thread', async () => {
  const lookedUp = jest.spyOn(dns, 'lookup');
  const sender = new Sender({ allowed: [], timeoutMs: 5_000 });
  const webhook = { url: 'https://hooks.example/', id: 'one', body: '{}', secret };
  const came = await Promise.all(Array.from({ length: 5 }, () => sender.send(webhook)));
  expect(lookedUp).not.toHaveBeenCalled();
  expect(came).toEqual(Array.from({ length: 5 }, () => 'its receiver could not be reached (ETIMEOUT)'));
  await sender.close();
});

it('a receiver with an inner address is told nothing', async () => {
  const sender = new Sender({ allowed: [], timeoutMs: 5_000 });
  expect(await sender.send({ url: 'http://127.0.0.1:9/', id: 'one', body: '{}', secret })).toBe(
    'its receiver has an inner address, which NOTIFICATION_ALLOW does not name',
  );
  await sender.close();
});
