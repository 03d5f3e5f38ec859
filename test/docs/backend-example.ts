import { Client, Connection } from '@temporalio/client';
import { OrderSagaClient, SagaFailedError } from '../../src/client';

/** The object ids of the servers; the same reference never buys twice. */
export async function buyServers(reference: string, account: string, password: string): Promise<number[]> {
  const connection = await Connection.connect({ address: process.env['TEMPORAL_ADDRESS'] ?? 'localhost:7233' });
  const sagas = new OrderSagaClient(new Client({ connection }));
  const server = { billing_cycle: 1, plan_id: 17, plan_type: 'cloud_servers_standard', os_template_id: 3 } as const;
  try {
    const items = [{ ...server, quantity: 2, password }];
    const saga = await sagas.provision({ reference, account, label: reference, items, firewalls: [143] });
    const { servers } = await saga.result(); // however long it takes, decisions of people included
    return servers.map(({ vmObjectId }) => vmObjectId);
  } catch (error) {
    if (error instanceof SagaFailedError) console.error(error.type, error.report.leftovers);
    throw error;
  } finally {
    await connection.close();
  }
}

void buyServers('PO-2026-0100', 'AB-12345678', 'from your vault').then((ids) => console.log(ids));
