import { Client, Connection } from '@temporalio/client';
import { OrderSagaClient, SagaFailedError } from '../../src/client';

/** One connection for the whole process. */
const connection = Connection.lazy({ address: process.env['TEMPORAL_ADDRESS'] ?? 'localhost:7233' });
const sagas = new OrderSagaClient(new Client({ connection }));

/** The object ids of the servers; the same reference never buys twice. */
export async function buyServers(reference: string, account: string, password: string): Promise<number[]> {
  const server = { billing_cycle: 1, plan_id: 17, plan_type: 'cloud_servers_standard', os_template_id: 3 } as const;
  const items = [{ ...server, quantity: 2, password }];
  try {
    const saga = await sagas.provision({ reference, account, label: reference, items, firewalls: [143] });
    const { servers } = await saga.result(); // however long it takes, decisions of people included
    return servers.map(({ vmObjectId }) => vmObjectId);
  } catch (error) {
    if (error instanceof SagaFailedError) console.error(error.type, error.report.leftovers);
    throw error;
  }
}

void buyServers('PO-2026-0100', 'AB-12345678', 'from your vault')
  .then((ids) => console.log(ids))
  .finally(() => connection.close()); // when the process ends
