/** Speaks to a sandbox the way any HTTP client would, one connection per call, and hides nothing of what comes back. */
import { request } from 'node:http';
import { Sandbox, type SandboxOptions } from '../../../sandbox/server';

export interface Reply {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
  /** The text as JSON; undefined where it is none. */
  body: unknown;
}

/** A string is sent as it is, anything else as JSON. Rejects where the connection broke before the answer was whole. */
export function call(
  to: { url: string },
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const outgoing = request(to.url + path, { method, headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text, body: parsed(text) });
      });
    });
    outgoing.on('error', reject);
    if (body === undefined) return void outgoing.end();
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    outgoing.setHeader('content-length', Buffer.byteLength(text));
    outgoing.end(text);
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** What a refused call says is wrong. */
export function errorsOf(reply: Reply): string[] {
  return (reply.body as { errors: string[] }).errors;
}

const running: Sandbox[] = [];

/** A sandbox of the test's own; `closeAll` belongs into `afterEach`. */
export async function startSandbox(options?: SandboxOptions): Promise<Sandbox> {
  const sandbox = await Sandbox.start(options);
  running.push(sandbox);
  return sandbox;
}

export async function closeAll(): Promise<void> {
  await Promise.all(running.splice(0).map((sandbox) => sandbox.close()));
}

export const cloudServer = {
  billing_cycle: 1,
  plan_id: 17,
  plan_type: 'cloud_servers_standard',
  password: 'correct horse',
  os_template_id: 3,
};

export async function addCartItem(sandbox: Sandbox, item: Record<string, unknown> = cloudServer): Promise<number> {
  const reply = await call(sandbox, 'POST', '/order/add-to-cart', item);
  if (reply.status !== 200) throw new Error(`The sandbox refused the cart item: ${reply.text}`);
  return (reply.body as { '0': number })['0'];
}

export async function placeOrder(sandbox: Sandbox, order: Record<string, unknown> = {}): Promise<Reply> {
  const cartItems = order['cartItems'] ?? [await addCartItem(sandbox)];
  return call(sandbox, 'POST', '/order', { account: 'AB-12345678', ...order, cartItems });
}
