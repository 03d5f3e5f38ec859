/**
 * Replays histories for all test files, in one process: `fork('replayer.ts')`. The SDK hooks itself into every promise
 * of a process that replays, and of each of Jest's contexts that did so once some 45 MB are never let go.
 *
 * It sends its parent the URL that takes a {@link Replay} and answers with the {@link Replayed} of each history, and
 * ends with its parent.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { temporal } from '@temporalio/proto';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { parsePayloadKeys } from '../../src/security/keys';
import { createDataConverter } from '../../src/security/data-converter';
import { payloadConverterPath } from '../../src/operations/workflow-modules';

export interface Replay {
  bundle: string;
  /** As `PAYLOAD_KEYS` has them, where payloads are encrypted. */
  payloadKeys?: string;
  /** Each in its binary form, in base64. */
  histories: { workflowId: string; history: string }[];
}

export interface Replayed {
  workflowId: string;
  /** Why it does not replay, where it does not. */
  error?: string;
}

async function replay({ bundle, payloadKeys, histories }: Replay): Promise<Replayed[]> {
  const keys = payloadKeys === undefined ? undefined : parsePayloadKeys(payloadKeys);
  const dataConverter = createDataConverter(keys, payloadConverterPath);
  const decoded = histories.map(({ workflowId, history }) => ({
    workflowId,
    history: temporal.api.history.v1.History.decode(Buffer.from(history, 'base64')),
  }));
  const replayed: Replayed[] = [];
  for await (const { workflowId, error } of Worker.runReplayHistories(
    { workflowBundle: { codePath: bundle }, dataConverter },
    decoded,
  )) {
    replayed.push({ workflowId, ...(error ? { error: error.message } : {}) });
  }
  return replayed;
}

async function read(request: IncomingMessage): Promise<Replay> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString()) as Replay;
}

async function main(): Promise<void> {
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  // One after the other: the SDK's hooks are one set for the process.
  let before: Promise<unknown> = Promise.resolve();
  const server = createServer((request, response) => {
    const answer = Promise.all([read(request), before]).then(([asked]) => replay(asked));
    before = answer.catch(() => undefined);
    answer.then(
      (replayed) => response.end(JSON.stringify(replayed)),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  // Whoever asks again on a connection must not find it closed at that moment.
  server.keepAliveTimeout = 0;
  await once(server.listen(0, '127.0.0.1'), 'listening');
  process.once('disconnect', () => process.exit());
  process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
}

if (require.main === module) void main();
