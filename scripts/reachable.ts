/** Finds free ports, and waits until a server answers. */
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { ExpectedError } from './program';

/** On an idle machine it takes less than a second. */
const readyMaxMs = 60_000;
/** The time for one answer; then the question is repeated. */
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
      if (Date.now() > deadline) {
        throw new Error(`${what} is not ready after a minute: ${(error as Error).message}`, { cause: error });
      }
      await pause(50, undefined, { signal });
    }
  }
}

/** Ready means that a client can list the namespace's workflows. */
export async function untilNamespaceReady(
  address: string,
  namespace: string,
  signal?: AbortSignal,
  metadata: Record<string, string> = {},
): Promise<void> {
  // First a plain socket: a gRPC channel that was refused once waits a second before it tries again.
  await untilReady(`the Temporal server at ${address}`, () => touch(address), signal);
  const connection = Connection.lazy({ address, metadata });
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

/** @throws when no server accepts a connection there */
export async function touch(address: string): Promise<void> {
  const { hostname, port } = new URL(`tcp://${address}`);
  const socket = connect({ host: hostname, port: Number(port) });
  try {
    await once(socket, 'connect');
  } finally {
    socket.destroy();
  }
}

/** @throws when the port is in use */
export async function assertFree(port: number): Promise<void> {
  const server = createServer();
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening');
  } catch (error) {
    throw new ExpectedError(`port ${port} is in use: does a server of before still run?`, { cause: error });
  }
  await once(server.close(), 'close');
}

/**
 * Free ports below the system's ephemeral range, so that no other process gets one by chance. A Temporal server on
 * PostgreSQL needs them: it stores ports in a column with a maximum of 32767.
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
