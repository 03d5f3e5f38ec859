/** Answers that are as documented and would not fit where they end up: a question, a report, a result of 2 MiB. */
import { UnknownOutcome } from '../../../src/provider/errors';
import { readFirewallIds } from '../../../src/provider/schemas';
import { closeAll, createClient, failureOf, onRequest, quote, serve, serveRaw } from '../../support/stand-in';

afterEach(closeAll);

const change = { subscription_id: 1, resources: [] };

test.each([
  ['currency', { currency: 'x'.repeat(101) }],
  ['inapplicable_resources', { inapplicable_resources: ['x'.repeat(8_192)] }],
])('a quote whose %s is endless is not as documented', async (field, long) => {
  const { url } = await serve({ body: JSON.stringify({ ...quote, inapplicable_resources: [], ...long }) });
  const failure = await failureOf(createClient(url).quoteChangeOrder(change));
  expect(failure).toBeInstanceOf(UnknownOutcome);
  expect(failure.message).toContain(`not as documented: ${field}`);
});

test('a list of more firewalls than any server has is not read', () => {
  const ids = Array.from({ length: 501 }, (_, index) => index + 1);
  expect(readFirewallIds(ids.slice(1))?.ids).toHaveLength(500);
  expect(readFirewallIds(ids)).toBeUndefined();
});

test('an answer that goes on beside its body is left, however fast it comes', async () => {
  const server = await serveRaw((socket) =>
    onRequest(socket, () => {
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1;');
      const more = () => socket.write('x'.repeat(10_000));
      socket.on('drain', more);
      while (more());
    }),
  );
  const failure = await failureOf(createClient(server.url, { responseBytesMax: 1_024 }).placeChangeOrder(change));
  expect(failure).toBeInstanceOf(UnknownOutcome);
  expect(failure.message).toContain('does not end');
});

test('a kept connection may bring many answers that are long together', async () => {
  const server = await serve({ body: JSON.stringify({ text: 'x'.repeat(1_000) }) });
  const client = createClient(server.url, { responseBytesMax: 1_024, connections: 1 });
  // More bytes in all than any one answer may have on the wire.
  for (let nth = 0; nth < 100; nth += 1) await client.listFirewalls(1);
  expect(server.connections.length).toBeLessThanOrEqual(2);
});
