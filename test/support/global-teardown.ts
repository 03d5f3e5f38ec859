/** Gives back what the global set-up provided. */
import type { ChildProcess } from 'node:child_process';
import type { TemporalServer } from '../../scripts/dev-server';

interface Provided {
  temporal?: TemporalServer;
  replayer?: ChildProcess;
}

/** Jest loads set-up and teardown as two modules without a common memory; the process itself is one. */
export const provided: Provided = ((globalThis as { orderSagaProvided?: Provided }).orderSagaProvided ??= {});

export default async function tearDown(): Promise<void> {
  provided.replayer?.disconnect();
  await provided.temporal?.stop();
}
