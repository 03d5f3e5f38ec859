/**
 * The control plane: over HTTP, what a test can do with a sandbox in its own process. Loopback only: it returns the
 * ledger with every secret in it.
 *
 *     GET    /_sandbox/ledger    the whole ledger
 *     POST   /_sandbox/faults    a fault  -> { id }
 *     DELETE /_sandbox/faults    removes all faults; gates open
 *     POST   /_sandbox/wait      answers when so many calls have arrived, or a fault has struck so often  -> these
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { z } from 'zod';
import { type AwaitedCalls, awaitedCallsSchema } from './call-match';
import { type Faults, faultSchema } from './faults';
import type { Ledger } from './ledger';

/** The sandbox, as an interface: `server.ts` imports this file. */
interface Controlled {
  readonly ledger: Pick<Ledger, 'snapshot'>;
  readonly faults: Faults;
  whenCalled(awaited: AwaitedCalls): Promise<unknown[]>;
}

export const controlPrefix = '/_sandbox/';

const waitSchema = z.union([
  z.strictObject({ fault: z.string(), times: z.int().positive().optional() }),
  awaitedCallsSchema,
]);

export async function handleControl(
  sandbox: Controlled,
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
  body: unknown,
): Promise<void> {
  const reply = (status: number, value: unknown) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(value));
  };
  if (!/^(::ffff:)?127\.|^::1$/.test(request.socket.remoteAddress ?? '')) {
    return reply(403, { error: 'The control plane is for loopback only' });
  }
  try {
    const value = await answerTo(sandbox, `${request.method} ${path.slice(controlPrefix.length)}`, body);
    if (value === undefined) return reply(404, { error: 'The control plane has no such path and method' });
    reply(200, value);
  } catch (error) {
    reply(400, { error: error instanceof z.ZodError ? z.prettifyError(error) : (error as Error).message });
  }
}

async function answerTo(sandbox: Controlled, what: string, body: unknown): Promise<unknown> {
  const { ledger, faults } = sandbox;
  switch (what) {
    case 'GET ledger':
      return ledger.snapshot();
    case 'POST faults':
      return { id: faults.add(faultSchema.parse(body)) };
    case 'DELETE faults':
      faults.clear();
      return {};
    case 'POST wait': {
      const awaited = waitSchema.parse(body);
      if ('fault' in awaited) return faults.whenStruck(awaited.fault, awaited.times);
      return sandbox.whenCalled(awaited);
    }
    default:
      return undefined;
  }
}
