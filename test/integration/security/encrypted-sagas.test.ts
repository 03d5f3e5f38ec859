import { randomBytes } from 'node:crypto';
import { Client } from '@temporalio/client';
import type { Payload } from '@temporalio/common';
import { OrderSagaClient } from '../../../src/client/client';
import { createDataConverter } from '../../../src/security/data-converter';
import { parsePayloadKeys } from '../../../src/security/keys';
import { EncryptionCodec } from '../../../src/security/payload-codec';
import { callsTo } from '../../../sandbox/sentences';
import { folderForFile } from '../../support/folder';
import { planIdOf, provisionRequest } from '../../support/requests';
import { inRig, rigForFile } from '../../support/rig';
import { answer, untilWaiting } from '../../support/sagas';

const key = () => randomBytes(32).toString('base64');
const [one, two] = [key(), key()];
const secrets = folderForFile();
const rig = rigForFile({
  payloadKeys: parsePayloadKeys(`k1:${one},k2:${two}`),
  secrets: { folder: secrets.path, variable: (name) => (name === 'SECRET_SSH_KEY' ? 'c3NoLWtleQ==' : undefined) },
});

const canary = 'canary-password-7Qx';
/** Bytes as the text that they spell. */
const textOf = (value: unknown): string => {
  if (value instanceof Uint8Array) return Buffer.from(value).toString();
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.entries(value)
    .map(([name, inner]) => `${name}: ${textOf(inner)}`)
    .join('\n');
};
const addsOf = (reference: string) => rig.callsOf({ reference }, 'add-cart-item');

describe('a request in the clear', () => {
  const inTheClear = () =>
    new OrderSagaClient(new Client({ connection: rig.temporal.connection, namespace: rig.namespace }));

  it('is refused, and calls nobody', async () => {
    const request = provisionRequest();
    const { workflowId } = await inTheClear().provision(request);
    await expect(rig.temporal.workflow.getHandle(workflowId).result()).rejects.toMatchObject({
      cause: { type: 'InvalidRequest', message: expect.stringMatching(/unencrypted.*another password/s) },
    });
    expect(addsOf(request.reference)).toEqual([]);
  });

  it('is taken where a setting allows it', () =>
    inRig({ payloadKeys: parsePayloadKeys(`k1:${one}`), activities: { takesClearRequests: true } }, async (lenient) => {
      const { connection } = lenient.temporal;
      const clear = new OrderSagaClient(new Client({ connection, namespace: lenient.namespace }));
      const { workflowId } = await clear.provision(provisionRequest());
      await lenient.temporal.workflow.getHandle(workflowId).result();
      expect(callsTo(lenient.sandbox.ledger, 'place-order')).toHaveLength(1);
    }));
});

it('a correction in the clear that holds a secret is refused, leaves nothing behind, and is told how to come', async () => {
  const request = provisionRequest();
  rig.sandbox.faults.add({ endpoint: 'add-cart-item', kind: 'unauthorized' });
  const saga = await rig.sagas.provision(request);
  const { id: question } = await untilWaiting(saga);
  const { connection } = rig.temporal;
  // It reads what is encrypted, and encrypts nothing: as the Web UI does where its codec server only decodes.
  const codec = new EncryptionCodec(parsePayloadKeys(`k1:${one}`));
  const decoding = { encode: (payloads: Payload[]) => Promise.resolve(payloads), decode: codec.decode.bind(codec) };
  const temporal = new Client({
    ...{ connection, namespace: rig.namespace },
    dataConverter: { payloadCodecs: [decoding] },
  });
  const correction = { password: canary };
  const sent = { args: [{ question, correction }] as [object] };
  await expect(temporal.workflow.getHandle(saga.workflowId).executeUpdate('retry', sent)).rejects.toMatchObject({
    cause: {
      type: 'DecisionRefused',
      message: expect.stringMatching(/unencrypted.*`order-saga decide`.*\{"secret":"its name"\}/s) as string,
    },
  });
  const history = await rig.temporal.workflow.getHandle(saga.workflowId).fetchHistory();
  expect(textOf(history)).not.toContain(canary);
  await answer(saga, 'retry', { correction });
  await saga.result();
  expect(addsOf(saga.reference).at(-1)?.body).toMatchObject(correction);
});

it('goes on under a new key, and reads what the old one wrote', async () => {
  const request = provisionRequest();
  rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'unauthorized', match: { label: request.label } });
  await untilWaiting(await rig.sagas.provision(request));
  const dataConverter = createDataConverter(parsePayloadKeys(`k2:${two},k1:${one}`));
  const { connection } = rig.temporal;
  const rotated = new OrderSagaClient(new Client({ connection, namespace: rig.namespace, dataConverter }));
  // Every process knows the new key before one encrypts with it.
  const worker = await rig.replaceWorkers({ payloadKeys: parsePayloadKeys(`k2:${two},k1:${one}`) });
  const saga = await rotated.get(request.reference, 'provisionServers');
  await answer(saga, 'retry', { note: 'with the new key' });
  expect(await saga.result()).toMatchObject({ decisions: [{ note: 'with the new key' }] });
  expect((await rotated.provision(request)).existing).toBe(true);
  await worker.stop();
  await rig.startWorker();
});

it('a secret by its name is looked up where the call is made, and never reaches Temporal', async () => {
  secrets.write('web-root', `${canary}\n`);
  const item = { password: { secret: 'web-root' }, custom_ssh_key: { secret: 'ssh-key' } };
  const request = provisionRequest({ items: [item] });
  const saga = await rig.sagas.provision(request);
  await saga.result();
  expect(addsOf(request.reference)[0]?.body).toMatchObject({ password: canary, custom_ssh_key: 'c3NoLWtleQ==' });
  const { events } = await rig.temporal.workflow.getHandle(saga.workflowId).fetchHistory();
  const payloads = events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads ?? [];
  const input = await rig.temporal.options.loadedDataConverter.payloadCodecs.at(-1)?.decode(payloads);
  expect(Buffer.from(input?.[0]?.data ?? []).toString()).toContain('"password":{"secret":"web-root"}');
});

it('a job in the clear whose correction holds a secret is refused, and no saga is told of it', async () => {
  const request = provisionRequest();
  const planId = planIdOf(request.reference);
  rig.sandbox.faults.add({ endpoint: 'add-cart-item', kind: 'unauthorized', match: { planId } });
  const saga = await rig.sagas.provision(request);
  const { id: question } = await untilWaiting(saga);
  const clear = new Client({ connection: rig.temporal.connection, namespace: rig.namespace });
  const line = { saga: saga.workflowId, decision: 'retry', question, correction: { password: canary } };
  const workflowId = 'decide-many/in-the-clear';
  const args = [{ by: 'ann', note: 'another password', decisions: [line] }];
  await clear.workflow.start('decideMany', { workflowId, taskQueue: 'order-saga', args });
  await expect(rig.temporal.workflow.getHandle(workflowId).result()).rejects.toMatchObject({
    cause: { type: 'InvalidRequest', message: expect.stringMatching(/unencrypted.*another password/s) as string },
  });
  expect((await saga.progress()).decisions).toEqual([]);
  await answer(saga, 'retry', { correction: { password: canary } });
  await saga.result();
});
