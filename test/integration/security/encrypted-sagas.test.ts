import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@temporalio/client';
import type { Payload } from '@temporalio/common';
import { OrderSagaClient } from '../../../src/client/client';
import { createDataConverter } from '../../../src/security/data-converter';
import { parsePayloadKeys } from '../../../src/security/keys';
import { EncryptionCodec } from '../../../src/security/payload-codec';
import { callsTo, openCartItems } from '../../../sandbox/sentences';
import { planIdOf, provisionRequest } from '../../support/requests';
import { Rig } from '../../support/rig';
import { answer, untilWaiting } from '../../support/sagas';

const key = () => randomBytes(32).toString('base64');
const [one, two] = [key(), key()];
const secretsFolder = mkdtempSync(join(tmpdir(), 'order-saga-secrets-'));
let rig: Rig;
beforeAll(async () => {
  rig = await Rig.start({
    payloadKeys: parsePayloadKeys(`k1:${one},k2:${two}`),
    secrets: { folder: secretsFolder, variable: (name) => (name === 'SECRET_SSH_KEY' ? 'c3NoLWtleQ==' : undefined) },
  });
}, 60_000);
afterAll(async () => {
  await rig.close();
  rmSync(secretsFolder, { recursive: true });
});

const canary = 'canary-password-7Qx';
/** All that stands in a history, bytes as the text that they spell. */
const historyOf = async (of: Rig, workflowId: string) =>
  textOf(await of.temporal.workflow.getHandle(workflowId).fetchHistory());
const textOf = (value: unknown): string => {
  if (value instanceof Uint8Array) return Buffer.from(value).toString();
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.entries(value)
    .map(([name, inner]) => `${name}: ${textOf(inner)}`)
    .join('\n');
};
const addsOf = (reference: string) =>
  callsTo(rig.sandbox.ledger, 'add-cart-item').filter(({ names }) => names.planId?.includes(planIdOf(reference)));

/** What only key holders may read, and a saga in whose history it is. */
const confided = [canary, 'the note of a decision', 'billing_cycle', 'add-to-cart', 'was answered 401'];
const confide = async (to: Rig) => {
  const request = provisionRequest({ items: [{ password: canary }] });
  to.sandbox.configure({ echoRequests: true });
  to.sandbox.faults.add({ endpoint: 'place-order', kind: 'unauthorized', match: { label: request.label } });
  const planId = planIdOf(request.reference);
  to.sandbox.faults.add({ endpoint: 'add-cart-item', kind: 'error-before', match: { planId } });
  const saga = await to.sagas.provision(request);
  await untilWaiting(saga);
  await answer(saga, 'retry', { note: 'the note of a decision' });
  await saga.result();
  return saga;
};

it('leaves nothing to read in the history: not the request, not the failure, not the decision', async () => {
  const saga = await confide(rig);
  const history = await historyOf(rig, saga.workflowId);
  for (const text of confided) expect(history).not.toContain(text);
  expect(addsOf(saga.reference).at(-1)?.body).toMatchObject({ password: canary });
});

it('leaves nothing to read of who has cancelled a saga, and why', async () => {
  const request = provisionRequest();
  rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'unauthorized', match: { label: request.label } });
  const saga = await rig.sagas.provision(request);
  await untilWaiting(saga);
  const said = { by: 'the name of a person', note: 'the reason of a person' };
  await saga.cancel(said);
  await expect(saga.result()).rejects.toMatchObject({ report: { decisions: [said] } });
  const history = await historyOf(rig, saga.workflowId);
  for (const text of [said.by, said.note]) expect(history).not.toContain(text);
});

it('would be read there without keys: the search finds all of it', async () => {
  const clear = await Rig.start();
  try {
    const saga = await confide(clear);
    const history = await historyOf(clear, saga.workflowId);
    for (const text of confided) expect(history).toContain(text);
  } finally {
    await clear.close();
  }
});

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

  it('is taken where a setting allows it', async () => {
    const lenient = await Rig.start({
      payloadKeys: parsePayloadKeys(`k1:${one}`),
      activities: { takesClearRequests: true },
    });
    try {
      const request = provisionRequest();
      const clear = new OrderSagaClient(
        new Client({ connection: lenient.temporal.connection, namespace: lenient.namespace }),
      );
      const { workflowId } = await clear.provision(request);
      await lenient.temporal.workflow.getHandle(workflowId).result();
      expect(callsTo(lenient.sandbox.ledger, 'place-order')).toHaveLength(1);
    } finally {
      await lenient.close();
    }
  });
});

describe('a correction in the clear', () => {
  /** A saga whose item waits to be corrected, and its handle for whoever has no keys. */
  const waitingFor = async (of: Rig) => {
    const request = provisionRequest();
    const planId = planIdOf(request.reference);
    of.sandbox.faults.add({ endpoint: 'add-cart-item', kind: 'unauthorized', match: { planId } });
    const saga = await of.sagas.provision(request);
    const { id: question } = await untilWaiting(saga);
    const { connection } = of.temporal;
    // It reads what is encrypted, and encrypts nothing: as the Web UI does where its codec server only decodes.
    const codec = new EncryptionCodec(parsePayloadKeys(`k1:${one}`));
    const decoding = { encode: (payloads: Payload[]) => Promise.resolve(payloads), decode: codec.decode.bind(codec) };
    const dataConverter = { payloadCodecs: [decoding] };
    const temporal = new Client({ connection, namespace: of.namespace, dataConverter });
    return { saga, question, clear: temporal.workflow.getHandle(saga.workflowId) };
  };
  const passwords = ({ ledger }: Rig['sandbox'], reference: string) =>
    callsTo(ledger, 'add-cart-item')
      .filter(({ names }) => names.planId?.includes(planIdOf(reference)))
      .map(({ body }) => (body as { password?: string }).password);
  const correction = { password: canary };

  it('that holds a secret is refused as an update, leaves nothing behind, and is told how to come', async () => {
    const { saga, question, clear } = await waitingFor(rig);
    const refused = clear.executeUpdate('retry', { args: [{ question, correction }] });
    await expect(refused).rejects.toMatchObject({
      cause: {
        type: 'DecisionRefused',
        message: expect.stringMatching(/unencrypted.*`order-saga decide`.*\{"secret":"its name"\}/s) as string,
      },
    });
    expect(await historyOf(rig, saga.workflowId)).not.toContain(canary);
    await answer(saga, 'retry', { correction });
    await saga.result();
    expect(passwords(rig.sandbox, saga.reference).at(-1)).toBe(canary);
  });
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

describe('a secret by its name', () => {
  const withSecret = (changes: object) => provisionRequest({ items: [changes] });

  it('is looked up where the call is made, and never reaches Temporal', async () => {
    writeFileSync(join(secretsFolder, 'web-root'), `${canary}\n`);
    const request = withSecret({ password: { secret: 'web-root' }, custom_ssh_key: { secret: 'ssh-key' } });
    const saga = await rig.sagas.provision(request);
    await saga.result();
    expect(addsOf(request.reference)[0]?.body).toMatchObject({ password: canary, custom_ssh_key: 'c3NoLWtleQ==' });
    const { events } = await rig.temporal.workflow.getHandle(saga.workflowId).fetchHistory();
    const payloads = events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads ?? [];
    const input = await rig.temporal.options.loadedDataConverter.payloadCodecs.at(-1)?.decode(payloads);
    expect(Buffer.from(input?.[0]?.data ?? []).toString()).toContain('"password":{"secret":"web-root"}');
  });

  it.each([
    ['is not there', 'nowhere', undefined, /there is no secret nowhere for custom_script/],
    ['is not base64', 'not-base64', 'not base64!', /the secret not-base64 is not a valid custom_script/],
  ])('that %s leaves the saga stuck, not failed, until it is fixed', async (_title, name, value, message) => {
    if (value !== undefined) writeFileSync(join(secretsFolder, name), value);
    const request = withSecret({ custom_script: { secret: name } });
    const saga = await rig.sagas.provision(request);
    const waiting = await untilWaiting(saga);
    expect(waiting).toMatchObject({ kind: 'stuck', lastFailure: { failure: 'SecretMissing' } });
    expect(waiting.question).toMatch(message);
    expect(addsOf(request.reference)).toEqual([]);
    writeFileSync(join(secretsFolder, name), 'ZWNobyBoaQ==');
    await answer(saga, 'retry');
    await saga.result();
    expect(addsOf(request.reference)[0]?.body).toMatchObject({ custom_script: 'ZWNobyBoaQ==' });
  });

  it('cannot climb out of its folder', async () => {
    const request = withSecret({ password: { secret: '../passwd' } });
    await expect(rig.sagas.provision(request as never)).rejects.toThrow(/items\[0\]\.password/);
    expect(openCartItems(rig.sandbox.ledger)).toEqual([]);
  });
});
