/** Gives back what the global set-up provided. */
import type { TemporalServer } from '../../scripts/dev-server';

interface Provided {
  temporal?: TemporalServer;
}

/** Jest loads set-up and teardown as two modules without a common memory; the process itself is one. */
export const provided: Provided = ((globalThis as { orderSagaProvided?: Provided }).orderSagaProvided ??= {});

export default async function tearDown(): Promise<void> {
  await provided.temporal?.stop();
}
