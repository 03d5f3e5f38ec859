/** Health checks over HTTP: `/live` while the process can answer at all; `/ready` while this worker takes work. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { NativeConnection, Worker } from '@temporalio/worker';
import { cannotListen, inUrl, type ListenAddress } from '../config';

/** Why this worker takes no work now, as a sentence; undefined when it does. */
export type WhyNotReady = () => Promise<string | undefined>;

export interface HealthServer {
  readonly url: string;
  /** Until it is set, the worker is starting. */
  whyNotReady: WhyNotReady;
  close: () => Promise<void>;
}

/** @throws CannotStart */
export async function startHealthServer(address: ListenAddress): Promise<HealthServer> {
  const server = createServer((request, response) => {
    const answer = (status: number, text: string) =>
      response
        .writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'no-store' })
        .end(`${text}\n`);
    if (request.url === '/live') answer(200, 'live');
    else if (request.url !== '/ready') answer(404, 'not found: there are only /live and /ready');
    else void health.whyNotReady().then((why) => (why === undefined ? answer(200, 'ready') : answer(503, why)));
  });
  await once(server.listen(address), 'listening').catch((error: unknown) => {
    throw cannotListen('HEALTH_ADDRESS', address, error);
  });
  const { port } = server.address() as AddressInfo;
  const health: HealthServer = {
    url: `http://${inUrl({ ...address, port })}`,
    whyNotReady: () => Promise.resolve('the worker is starting'),
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
  return health;
}

/** The SDK itself would keep asking for longer than any probe waits. */
const patienceMs = 2_000;

/** A worker is ready while it polls and the server answers. */
export function readinessOf(worker: Worker, connection: NativeConnection): WhyNotReady {
  const ask = () => connection.workflowService.getSystemInfo({});
  return async () => {
    const state = worker.getState();
    if (state !== 'RUNNING') return `the worker takes no work: it is ${state}`;
    const answered = await connection.withDeadline(Date.now() + patienceMs, ask).catch(() => undefined);
    return answered ? undefined : 'Temporal does not answer';
  };
}
