/**
 * The control plane: over HTTP, what a test can do with a sandbox in its own process. Loopback only: it returns the
 * ledger with every secret in it.
 *
 *     GET    /_sandbox/ledger                the whole ledger
 *     GET    /_sandbox/faults                the plans that are set
 *     POST   /_sandbox/faults                a fault                        -> { id }
 *     POST   /_sandbox/faults/random         a seeded random plan           -> { id }
 *     DELETE /_sandbox/faults                removes all faults; gates open
 *     POST   /_sandbox/faults/:id/release    opens a gate
 *     GET    /_sandbox/settings              all settings
 *     PATCH  /_sandbox/settings              some settings                  -> all settings
 *     POST   /_sandbox/servers               a server that no order made
 *     POST   /_sandbox/orders/:id/cancel     the provider cancels an order
 *     GET    /_sandbox/wait?endpoint=&times=&account=&…   answers when so many calls have arrived -> the calls
 *     GET    /_sandbox/wait?fault=&times=                 answers when the fault struck so often  -> the strikes
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { z } from 'zod';
import { type AwaitedCalls, callMatchSchema } from './call-match';
import { endpointNames } from './endpoints';
import type { ReceivedBody } from './request';
import { type Faults, faultSchema, randomFaultsSchema } from './faults';
import type { Ledger } from './ledger';
import { type ServerSeed, serverSeedSchema } from './servers';
import { type Settings, type SettingsPatch, settingsPatchSchema } from './settings';

/** The sandbox, as an interface: `server.ts` imports this file. */
interface Controlled {
  readonly ledger: Pick<Ledger, 'snapshot'>;
  readonly faults: Faults;
  readonly settings: Readonly<Settings>;
  configure(patch: SettingsPatch): void;
  addServer(server: ServerSeed): void;
  cancelOrder(orderId: number): void;
  whenCalled(awaited: AwaitedCalls): Promise<unknown[]>;
  whenStruck(faultId: string, times?: number): Promise<unknown[]>;
}

export const controlPrefix = '/_sandbox/';

const times = z.coerce.number().int().positive().optional();
const number = z.coerce.number().optional();
const waitSchema = z.union([
  z.strictObject({ fault: z.string(), times }),
  z.strictObject({
    ...callMatchSchema.shape,
    endpoint: z.enum([...endpointNames, '*']).optional(),
    times,
    // In a query every value is text.
    planId: number,
    subscriptionId: number,
    vmObjectId: number,
    cartItemId: number,
  }),
]);

export function isLoopback(address: string | undefined): boolean {
  return address !== undefined && /^(::ffff:)?127\.|^::1$/.test(address);
}

export async function handleControl(
  sandbox: Controlled,
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
  body: ReceivedBody,
): Promise<void> {
  const reply = (status: number, value: unknown) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(value));
  };
  if (!isLoopback(request.socket.remoteAddress)) return reply(403, { error: 'The control plane is for loopback only' });
  try {
    const value = await answerTo(sandbox, `${request.method} ${url.pathname.slice(controlPrefix.length)}`, url, body);
    if (value === undefined) return reply(404, { error: 'The control plane has no such path and method' });
    reply(200, value);
  } catch (error) {
    reply(400, { error: error instanceof z.ZodError ? z.prettifyError(error) : (error as Error).message });
  }
}

async function answerTo(sandbox: Controlled, what: string, url: URL, body: ReceivedBody): Promise<unknown> {
  const { faults } = sandbox;
  const value = body.json?.value;
  const released = /^POST faults\/([^/]+)\/release$/.exec(what)?.[1];
  if (released !== undefined) {
    faults.release(released);
    return {};
  }
  const cancelled = /^POST orders\/(\d+)\/cancel$/.exec(what)?.[1];
  if (cancelled !== undefined) {
    sandbox.cancelOrder(Number(cancelled));
    return {};
  }
  switch (what) {
    case 'GET ledger':
      return sandbox.ledger.snapshot();
    case 'GET faults':
      return faults.list();
    case 'POST faults':
      return { id: faults.add(faultSchema.parse(value)) };
    case 'POST faults/random':
      return { id: faults.random(randomFaultsSchema.parse(value)) };
    case 'DELETE faults':
      faults.clear();
      return {};
    case 'GET settings':
      return sandbox.settings;
    case 'PATCH settings':
      sandbox.configure(settingsPatchSchema.parse(value));
      return sandbox.settings;
    case 'POST servers':
      sandbox.addServer(serverSeedSchema.parse(value));
      return {};
    case 'GET wait':
      return wait(sandbox, waitSchema.parse(Object.fromEntries(url.searchParams)));
    default:
      return undefined;
  }
}

function wait(sandbox: Controlled, awaited: z.infer<typeof waitSchema>): Promise<unknown[]> {
  if ('fault' in awaited) return sandbox.whenStruck(awaited.fault, awaited.times);
  const { endpoint, times, ...match } = awaited;
  return sandbox.whenCalled({ endpoint, match, times });
}
