/**
 * Answers that unpack to more than is read, promise other lengths than they have, or bring along an answer to a question
 * that was not asked yet. Those that never end: test/unit/provider/statuses.test.ts.
 */
import { closeAll, createClient, httpText, onRequest, serveRaw } from '../../support/stand-in';
import { bombs } from './answers';
import { calls } from './calls';
import { nameOf, verdictOn } from './verdict';

afterEach(closeAll);

const limits = { totalTimeoutMs: 20_000, responseBytesMax: 65_536 };

const ok = 'HTTP/1.1 200 OK\r\n';
const chunked = `${ok}transfer-encoding: chunked\r\n\r\n`;

test.each(bombs)('ten megabytes packed into a few bytes of %s are not unpacked', async (encoding, packed) => {
  let status = '200 OK';
  const { url } = await serveRaw((socket) =>
    onRequest(socket, () => {
      const lines = [`HTTP/1.1 ${status}`, `content-encoding: ${encoding}`, `content-length: ${packed.length}`, '', ''];
      socket.write(Buffer.concat([Buffer.from(lines.join('\r\n')), packed]));
    }),
  );
  const client = createClient(url, limits);
  for (const call of calls) expect(nameOf(await verdictOn(client, call))).toBe('UnknownOutcome');
  status = '422 No';
  for (const call of calls) expect(nameOf(await verdictOn(client, call))).toBe('Rejected');
});

const framings: [string, string][] = [
  ['a length that is no number', `${ok}content-length: many\r\n\r\n{}`],
  ['a length below nothing', `${ok}content-length: -1\r\n\r\n{}`],
  ['a length past all numbers', `${ok}content-length: 99999999999999999999999\r\n\r\n{}`],
  ['two lengths', `${ok}content-length: 2\r\ncontent-length: 3\r\n\r\n{} `],
  ['a length and chunks', `${ok}content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`],
  ['a chunk of no length', `${chunked}zz\r\n{}\r\n0\r\n\r\n`],
  ['a chunk of too great a length', `${chunked}ffffffffffffffffff\r\n{}`],
  ['a chunk that goes on', `${chunked}1\r\n{}\r\n0\r\n\r\n`],
  ['no status', 'HTTP/1.1 OK\r\n\r\n{}'],
  ['a status of nothing', 'HTTP/1.1 000 Nothing\r\n\r\n{}'],
  ['a status of four digits', 'HTTP/1.1 2000 OK\r\n\r\n{}'],
  ['a status of 42', 'HTTP/1.1 42 OK\r\n\r\n{}'],
  ['a status of 999', 'HTTP/1.1 999 No\r\n\r\n{}'],
  ['a leap to another protocol', 'HTTP/1.1 101 Switching Protocols\r\nupgrade: h2c\r\nconnection: upgrade\r\n\r\n'],
  ['a wish to go on', 'HTTP/1.1 100 Continue\r\n\r\n'],
  ['another version', 'HTTP/9.9 200 OK\r\n\r\n{}'],
  ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['a request', 'GET / HTTP/1.1\r\n\r\n'],
  ['a header without a name', `${ok}: x\r\n\r\n{}`],
  ['a header with a nought in it', `${ok}x: \0\r\n\r\n{}`],
  ['a header in two lines', `${ok}x: y\r\n z\r\ncontent-length: 3\r\n\r\n{}`],
  ['lines that end otherwise', 'HTTP/1.1 200 OK\n\n{'],
  ['nothing', ''],
];

/** Something answers, and would answer each repeat so: an item is not added again. */
const wrongLengths = ['a length past all numbers', 'two lengths', 'a length and chunks'];

test.each(framings)('%s is no answer', async (framing, wire) => {
  const { url } = await serveRaw((socket) => onRequest(socket, () => socket.end(Buffer.from(wire, 'latin1'))));
  const client = createClient(url, limits);
  for (const call of calls) {
    const isLast = wrongLengths.includes(framing) && call.name === '2 add to cart';
    const name = isLast ? 'UnexpectedResponse' : 'UnknownOutcome';
    expect([call.name, nameOf(await verdictOn(client, call))]).toEqual([call.name, name]);
  }
});

describe('an answer that brings along another one', () => {
  const poison = httpText(JSON.stringify({ poison: true, code: 422 }));
  const carriers: [string, string][] = [
    ['after its body', httpText('[]')],
    ['instead of the body that it may not have', 'HTTP/1.1 204 None\r\n\r\n'],
    ['behind a 304', 'HTTP/1.1 304 Same\r\ncontent-length: 500\r\n\r\n'],
    ['behind a 205', 'HTTP/1.1 205 Reset\r\ncontent-length: 0\r\n\r\n'],
    ['behind its last chunk', `${chunked}2\r\n[]\r\n0\r\n\r\n`],
    ['behind a refusal', httpText('{}', { status: '422 No' })],
  ];

  test.each(carriers)('%s does not answer the next call', async (_, carrier) => {
    let poisoned = 0;
    const { url } = await serveRaw((socket) =>
      onRequest(socket, (request) => {
        if (request.startsWith('GET')) socket.write(httpText(JSON.stringify({ true: true })));
        else socket.write(carrier + poison.repeat(3), () => (poisoned += 1));
      }),
    );
    const client = createClient(url, { ...limits, connections: 1 });
    const list = calls.find(({ name }) => name === '10 list')!;
    const own = { body: { true: true }, isPart: false };
    for (const call of calls.filter(({ name }) => name !== list.name && name !== 'directory')) {
      const [, next] = await Promise.all([verdictOn(client, call), verdictOn(client, list)]);
      expect([call.name, next]).toEqual([call.name, { success: own }]);
      expect([call.name, await verdictOn(client, list)]).toEqual([call.name, { success: own }]);
    }
    expect(poisoned).toBe(9);
  });
});
