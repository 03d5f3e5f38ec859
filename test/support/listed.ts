/** What the lists of sagas show. */
import type { OrderSagaClient } from '../../src/client/client';
import type { SagaFilter } from '../../src/client/saga-list';

export async function listOf<T>(rows: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const row of rows) found.push(row);
  return found;
}

export async function idsListed(sagas: Pick<OrderSagaClient, 'list'>, filter: SagaFilter): Promise<string[]> {
  return (await listOf(sagas.list(filter))).map(({ workflowId }) => workflowId);
}
