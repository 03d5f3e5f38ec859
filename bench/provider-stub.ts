/**
 * A provider that costs as little as one can: it answers every call at once. No rules, no ledger and no faults, for
 * what it takes would be taken for ours; those are the sandbox's. Orders of accounts NO-… are refused (422).
 *
 *   STUB_STAGGER_MS   between one answer and the next: calls that came together end one after the other        (0)
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { runProgram } from '../scripts/program';

const staggerMs = Number(process.env['STUB_STAGGER_MS'] ?? 0);

interface Answer {
  status?: number;
  json: unknown;
}

let lastId = 0;
/** An order has as many servers as its items together. */
const quantities = new Map<number, number>();
const firewallsOf = new Map<number, number[]>();

const quote = { available: true, total: 1, currency: 'usd', date_from: '2026-01-01', date_to: '2026-02-01' };

async function answer(request: IncomingMessage): Promise<Answer> {
  const { method = '', url = '' } = request;
  const body = method === 'GET' || method === 'DELETE' ? {} : (JSON.parse(await text(request)) as Body);
  const id = Number(/\d+$/.exec(url)?.[0]);
  switch (`${method} ${url.replace(/\/\d+$/, '')}`) {
    case 'POST /order/add-to-cart':
      quantities.set(++lastId, body.quantity ?? 1);
      return { json: { '0': lastId, data: { message: 'added', code: 200 } } };
    case 'DELETE /order/cartItems/delete':
      quantities.delete(id);
      return { json: { status: 'accepted' } };
    case 'POST /order':
      return placeOrder(body);
    case 'POST /order/changeorder':
      return { json: { status: 'accepted', id: ++lastId } };
    case 'PUT /order/changeorder/total':
      return { json: { ...quote, inapplicable_resources: [] } };
    case 'PUT /order/switch':
    case 'PUT /order/switch/total':
      return { json: quote };
    case 'POST /firewalls/assign/object':
      firewallsOf.set(id, [...(firewallsOf.get(id) ?? []), ...idsIn(body)]);
      return { json: { status: 'accepted' } };
    case 'POST /firewalls/unassign/object':
      firewallsOf.set(
        id,
        (firewallsOf.get(id) ?? []).filter((firewall) => !idsIn(body).includes(firewall)),
      );
      return { json: { status: 'accepted' } };
    case 'GET /firewalls/object':
      return { json: (firewallsOf.get(id) ?? []).map((one) => ({ id: one, status: 'active' })) };
    default:
      return { status: 404, json: {} };
  }
}

interface Body {
  quantity?: number;
  account?: string;
  cartItems?: number[];
  firewalls?: { id: number }[];
}

const idsIn = ({ firewalls = [] }: Body) => firewalls.map(({ id }) => id);

function placeOrder({ account = '', cartItems = [] }: Body): Answer {
  if (account.startsWith('NO')) return { status: 422, json: { message: 'refused' } };
  const vmObjectIds: number[] = [];
  for (const item of cartItems) {
    for (let n = quantities.get(item) ?? 0; n > 0; n -= 1) vmObjectIds.push(++lastId);
    quantities.delete(item);
  }
  return { json: { status: 'accepted', vm_object_ids: vmObjectIds } };
}

let turn: Promise<unknown> = Promise.resolve();

async function main(): Promise<void> {
  const server = createServer((request, response) => {
    const arrived = answer(request);
    // A connection that closes in the middle of a request is the caller's business.
    arrived.catch(() => response.destroy());
    void arrived.then(async ({ status = 200, json }) => {
      if (staggerMs > 0) await (turn = turn.then(() => pause(staggerMs)));
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json));
    });
  });
  // Between rounds nobody calls for a while; the worker's connections are to be there still.
  server.keepAliveTimeout = 600_000;
  await once(server.listen(0, '127.0.0.1', 1_024), 'listening');
  console.log(`http://127.0.0.1:${String((server.address() as AddressInfo).port)}`);
}

runProgram(module, main);
