/** A namespace of its own that no worker ever comes to: what is started there stands at its first event. */
import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time';
import { OrderSagaClient } from '../../../src/client/client';
import { until } from '../../support/rig';

export interface BareNamespace {
  connection: Connection;
  namespace: string;
  temporal: Client;
  sagas: OrderSagaClient;
}

export async function bareNamespace(): Promise<BareNamespace> {
  const connection = await Connection.connect({ address: process.env['ORDER_SAGA_TEST_TEMPORAL_ADDRESS'] ?? '' });
  const namespace = `bare-${randomUUID()}`;
  await connection.workflowService.registerNamespace({
    namespace,
    workflowExecutionRetentionPeriod: msToTs('24 hours'),
  });
  await until(() =>
    connection.workflowService.listWorkflowExecutions({ namespace }).then(
      () => true,
      () => false,
    ),
  );
  const temporal = new Client({ connection, namespace });
  return { connection, namespace, temporal, sagas: new OrderSagaClient(temporal) };
}
