import { Client } from '@temporalio/client';
import type { Payload } from '@temporalio/common';
import { OrderSagaClient } from '../../../src/client/client';
import { createDataConverter } from '../../../src/security/data-converter';
import { parsePayloadKeys } from '../../../src/security/keys';
import { EncryptionCodec } from '../../../src/security/payload-codec';
import { folderForFile } from '../../support/folder';
import { stuckOrder } from '../../support/orders';
import { provisionRequest } from '../../support/requests';
import { rigForFile, until } from '../../support/rig';
import { answer, untilState } from '../../support/sagas';
import { newKey } from '../../support/keys';

const [one, two] = [newKey(), newKey()];
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
/** Everything that Temporal keeps of it, as text. */
const historyOf = async (workflowId: string) => textOf(await rig.runOf({ workflowId }).fetchHistory());
/** As the Web UI starts what it starts, without a codec server. */
const inTheClear = () => new Client({ connection: rig.temporal.connection, namespace: rig.namespace });
const addsOf = (reference: string) => rig.callsOf({ reference }, 'add-cart-item');

it('a request in the clear is refused, and calls nobody', async () => {
  const request = provisionRequest();
  const { workflowId } = await new OrderSagaClient(inTheClear(), { allowClear: true }).provision(request);
  await expect(rig.runOf({ workflowId }).result()).rejects.toMatchObject({
    cause: { type: 'InvalidRequest', message: expect.stringMatching(/unencrypted.*another password/s) },
  });
  expect(addsOf(request.reference)).toEqual([]);
});

it('a correction in the clear that holds a secret is refused, and leaves nothing behind', async () => {
  const { saga, waiting } = await stuckOrder(rig, {}, 'add-cart-item');
  const { id: question } = waiting;
  const { connection } = rig.temporal;
  // It reads what is encrypted, and encrypts nothing: as the Web UI does where its codec server only decodes.
  const codec = new EncryptionCodec(parsePayloadKeys(`k1:${one}`));
  const decoding = { encode: (payloads: Payload[]) => Promise.resolve(payloads), decode: codec.decode.bind(codec) };
  const temporal = new Client({
    ...{ connection, namespace: rig.namespace },
    dataConverter: { payloadCodecs: [decoding] },
  });
  const correction = { password: canary };
  const sent = { args: [{ question, by: 'op', correction }] as [object] };
  await expect(temporal.workflow.getHandle(saga.workflowId).executeUpdate('retry', sent)).rejects.toMatchObject({
    cause: {
      type: 'DecisionRefused',
      message: expect.stringMatching(/unencrypted.*`order-saga decide`.*\{"secret":"its name"\}/s) as string,
    },
  });
  expect(await historyOf(saga.workflowId)).not.toContain(canary);
  await answer(saga, 'retry', { correction });
  await saga.result();
  expect(addsOf(saga.reference).at(-1)?.body).toMatchObject(correction);
});

it('goes on under a new key, and reads what the old one wrote', async () => {
  const { request } = await stuckOrder(rig);
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
  const { events } = await rig.runOf(saga).fetchHistory();
  const payloads = events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads ?? [];
  const input = await rig.temporal.options.loadedDataConverter.payloadCodecs.at(-1)?.decode(payloads);
  expect(Buffer.from(input?.[0]?.data ?? []).toString()).toContain('"password":{"secret":"web-root"}');
});

it('a hold in the clear holds, and who and why are read all the same', async () => {
  const args = [{ by: 'ann', note: 'a move' }];
  await inTheClear().workflow.start('hold', { workflowId: 'hold', taskQueue: 'order-saga', args });
  await until(async () => (await rig.sagas.holding())?.by === 'ann');
  const saga = await rig.sagas.provision(provisionRequest());
  const { steps } = await untilState(saga, 'held');
  expect(steps[0]?.detail).toContain(' by ann; nothing was sent');
  await rig.sagas.release({ by: 'bob' });
  await saga.result();
});

it('a request in the clear is taken where a setting allows it', async () => {
  await rig.restartWith({ takesClearRequests: true });
  const request = provisionRequest();
  const { workflowId } = await new OrderSagaClient(inTheClear(), { allowClear: true }).provision(request);
  await rig.runOf({ workflowId }).result();
  expect(rig.ordersOf(request)).toHaveLength(1);
});
