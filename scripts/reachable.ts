/** Ports that are free, and waiting until the server that was started there answers. */
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { Connection } from '@temporalio/client';

/** On a quiet machine it takes less than a second. */
const readyMaxMs = 60_000;
/** One answer; what does not come by then is asked for again. */
const answerMaxMs = 5_000;

/** @throws when it still fails after a minute, or with the signal's reason */
export async function untilReady(
  what: string,
  attempt: () => Promise<unknown>,
  signal: AbortSignal = new AbortController().signal,
): Promise<void> {
  const deadline = Date.now() + readyMaxMs;
  for (;;) {
    try {
      await attempt();
      return;
    } catch (error) {
      if (Date.now() > deadline) throw new Error(`${what} is not ready after a minute`, { cause: error });
      await pause(50, undefined, { signal });
    }
  }
}

/** Ready is: a client can list the namespace's workflows. */
export async function untilNamespaceReady(address: string, namespace: string, signal?: AbortSignal): Promise<void> {
  // First a bare socket: a gRPC channel that is refused once waits a second before it tries again.
  await untilReady(`the Temporal server at ${address}`, () => touch(address), signal);
  const connection = Connection.lazy({ address });
  const list = () => connection.workflowService.listWorkflowExecutions({ namespace, pageSize: 1 });
  try {
    await untilReady(
      `the namespace ${namespace} at ${address}`,
      () => connection.withDeadline(Date.now() + answerMaxMs, list),
      signal,
    );
  } finally {
    await connection.close();
  }
}

export async function untilPageReady(what: string, url: string, signal?: AbortSignal): Promise<void> {
  const look = async () => {
    const { ok, status } = await fetch(url, { signal: AbortSignal.timeout(answerMaxMs) });
    if (!ok) throw new Error(`it answers ${status}`);
  };
  await untilReady(`${what} at ${url}`, look, signal);
}

/** @throws when nobody takes a connection there */
export async function touch(address: string): Promise<void> {
  const { hostname, port } = new URL(`tcp://${address}`);
  const socket = connect({ host: hostname, port: Number(port) });
  try {
    await once(socket, 'connect');
  } finally {
    socket.destroy();
  }
}

/** @throws with a sentence, when somebody has it */
export async function assertFree(port: number): Promise<void> {
  const server = createServer();
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening');
  } catch (error) {
    throw new Error(`port ${port} cannot be read: it is in use`, { cause: error });
  }
  await once(server.close(), 'close');
}

/** They differ: all are held until all are known. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer());
  for (const server of servers) await once(server.listen(0, '127.0.0.1'), 'listening');
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  for (const server of servers) await once(server.close(), 'close');
  return ports;
}

/**
 * Below those that the system hands out by itself, so that nobody gets one by chance before it is used. A Temporal server
 * on PostgreSQL can have no others: it keeps them in a column that ends at 32767.
 */
export async function lowPorts(count: number): Promise<number[]> {
  const found = new Set<number>();
  while (found.size < count) {
    const port = randomInt(20_000, 32_768);
    await assertFree(port).then(
      () => found.add(port),
      () => undefined,
    );
  }
  return [...found];
}
