/** What cannot be decrypted stops nothing but itself, and whoever looks is told which key is missing. */
import { randomUUID } from 'node:crypto';
import { Client } from '@temporalio/client';
import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import { temporal as proto } from '@temporalio/proto';
import { OrderSagaClient } from '../../../src/client/client';
import { KeysDifferError } from '../../../src/client/errors';
import { lookIfTheyGoOn } from '../../../src/client/saga-list';
import { cancelledBySignal } from '../../../src/domain/decisions';
import { createDataConverter } from '../../../src/security/data-converter';
import { parsePayloadKeys } from '../../../src/security/keys';
import { EncryptionCodec } from '../../../src/security/payload-codec';
import { newKey } from '../../support/keys';
import { runHere } from '../../support/command-line';
import { bundleOf } from '../../support/programs';
import { replayAll } from '../../support/replay';
import { changeRequest, provisionRequest } from '../../support/requests';
import { rigForFile, until } from '../../support/rig';
import { requestCancel } from '../../../src/temporal/service';
import { answer, outcomeOf, untilState, untilWaiting } from '../../support/sagas';
import { listOf } from '../../support/listed';

const { UPDATE_WORKFLOW_EXECUTION_LIFECYCLE_STAGE_COMPLETED } =
  proto.api.enums.v1.UpdateWorkflowExecutionLifecycleStage;
const [one, two] = [newKey(), newKey()];
const foreign = 'change/of-others';
const payloadKeys = parsePayloadKeys(`k1:${one}`);
/** They have payloads of a key that the rig lacks. */
const withOtherKeys = new Set([foreign]);
const rig = rigForFile({ payloadKeys, replays: ({ workflowId }) => !withOtherKeys.has(workflowId) });
const both = (first: string, then: string) => parsePayloadKeys(`${first},${then}`);

/** As somebody seals it who has these keys. */
async function sealed(keys: string, value: unknown): Promise<Payload> {
  const [payload] = await new EncryptionCodec(parsePayloadKeys(keys)).encode([
    defaultPayloadConverter.toPayload(value),
  ]);
  return payload!;
}

const clientOf = (keys?: string) => {
  const dataConverter = createDataConverter(keys === undefined ? undefined : parsePayloadKeys(keys));
  return new Client({ connection: rig.temporal.connection, namespace: rig.namespace, dataConverter });
};

const said = { by: 'ann', note: 'withdrawn', token: 'of ann' };

const signal = (workflowId: string, payload: Payload) =>
  rig.temporal.workflowService.signalWorkflowExecution({
    ...{ namespace: rig.namespace, workflowExecution: { workflowId }, requestId: randomUUID() },
    ...{ signalName: cancelledBySignal, input: { payloads: [payload] } },
  });

const missing = /encrypted with key “old”, which is not among PAYLOAD_KEYS \((k1|none are set)\)/;

it('one memo that nobody here can read breaks no list: its row says which key is missing', async () => {
  const saga = await rig.sagas.change(changeRequest({ approval: 'always' }));
  await untilWaiting(saga, 'approval');
  await rig.temporal.workflowService.startWorkflowExecution({
    ...{ namespace: rig.namespace, workflowId: foreign, requestId: randomUUID(), taskQueue: { name: 'nobody' } },
    ...{ workflowType: { name: 'changeOrder' }, memo: { fields: { x: await sealed(`old:${two}`, 1) } } },
  });
  for (const sagas of [rig.sagas, new OrderSagaClient(clientOf())]) {
    const [row, ...others] = await until(async () => {
      const rows = await listOf(sagas.list());
      return (
        rows.length > 1 && rows.sort((a, b) => Number(b.workflowId === foreign) - Number(a.workflowId === foreign))
      );
    });
    expect(row).toMatchObject({ workflowId: foreign, unreadable: expect.stringMatching(missing) as string });
    expect(others.find(({ workflowId }) => workflowId === saga.workflowId)).toBeDefined();
    expect((await (await sagas.get('of-others')).describe()).status.name).toBe('RUNNING');
  }
  await rig.runOf({ workflowId: foreign }).terminate();
  await answer(saga, 'approve');
  await saga.result();
});

it('a signal that is sealed by another key under an id that the worker has is passed over', async () => {
  const saga = await rig.sagas.change(changeRequest({ approval: 'always' }));
  await untilWaiting(saga, 'approval');
  await signal(saga.workflowId, await sealed(`k1:${two}`, said));
  await answer(saga, 'approve', { by: 'bob' });
  expect(await saga.result()).toMatchObject({ decisions: [{ by: 'bob' }] });
});

it('a signal under a key that is missing waits for a worker that has it', async () => {
  const saga = await rig.sagas.change(changeRequest({ approval: 'always' }));
  await untilWaiting(saga, 'approval');
  withOtherKeys.add(saga.workflowId);
  await signal(saga.workflowId, await sealed(`k2:${two}`, said));
  const why = 'encrypted with key “k2”, which is not among PAYLOAD_KEYS (k1)';
  await until(async () => {
    const rows = await listOf(rig.sagas.list());
    await lookIfTheyGoOn(rig.temporal, rows);
    return rows.some(({ workflowId, unreadable }) => workflowId === saga.workflowId && unreadable === why);
  });
  const PAYLOAD_KEYS = `k1:${one}`;
  const { out } = await runHere(['doctor'], '', { ...rig.environment, PAYLOAD_KEYS });
  expect(out).toContain(`${saga.workflowId}: ${why}`);
  await rig.replaceWorkers({ payloadKeys: both(`k1:${one}`, `k2:${two}`) });
  await requestCancel(rig.temporal, saga.workflowId, said.token);
  expect((await outcomeOf(saga)).cancelled).toMatchObject({ decisions: [{ by: 'ann' }] });
  expect((await runHere(['doctor'], '', { ...rig.environment, PAYLOAD_KEYS })).out).toMatch(
    /has k1; .* has k1, k2|has k1, k2; .* has k1/,
  );
  const histories = [{ workflowId: saga.workflowId, history: await rig.runOf(saga).fetchHistory() }];
  for (const keys of [both(`k1:${one}`, `k2:${two}`), both(`k2:${two}`, `k1:${one}`)]) {
    const replayed = await replayAll({ bundle: bundleOf({ encrypted: true }), payloadKeys: keys }, histories);
    expect(replayed).toEqual([{ workflowId: saga.workflowId }]);
  }
  await rig.replaceWorkers({});
});

it('a hold whose words nobody here can read holds, says so, and ends', async () => {
  const memo = { fields: { by: await sealed(`old:${two}`, 'ann') } };
  await rig.temporal.workflowService.startWorkflowExecution({
    ...{ namespace: rig.namespace, workflowId: 'hold', requestId: randomUUID(), taskQueue: { name: 'nobody' } },
    ...{ workflowType: { name: 'hold' }, memo },
  });
  expect(await rig.sagas.holding()).toMatchObject({ note: expect.stringMatching(missing) as string });
  const saga = await rig.sagas.provision(provisionRequest());
  await untilState(saga, 'held');
  await rig.runOf({ workflowId: 'hold' }).terminate();
  await saga.result();
});

it('a client whose key no worker has sends nothing, unless it may send in the clear', async () => {
  const request = changeRequest();
  for (const keys of [undefined, `k9:${two}`]) {
    await expect(new OrderSagaClient(clientOf(keys)).change(request)).rejects.toBeInstanceOf(KeysDifferError);
  }
  expect(await rig.sagas.find(request.reference)).toEqual([]);
  const saga = await new OrderSagaClient(clientOf(), { allowClear: true }).change(request);
  await expect(rig.runOf(saga).result()).rejects.toThrow();
});

it('the reason of a refused decision can be read without a key, as the Web UI shows it', async () => {
  const saga = await rig.sagas.change(changeRequest({ approval: 'always' }));
  await untilWaiting(saga, 'approval');
  const { outcome } = await rig.temporal.workflowService.updateWorkflowExecution({
    ...{ namespace: rig.namespace, workflowExecution: { workflowId: saga.workflowId } },
    request: { meta: { updateId: randomUUID() }, input: { name: 'retry' } },
    waitPolicy: { lifecycleStage: UPDATE_WORKFLOW_EXECUTION_LIFECYCLE_STAGE_COMPLETED },
  });
  expect(outcome?.failure?.message).toContain('retry does not fit: ');
  expect(outcome?.failure?.message).toContain('Decisions that fit: approve, reject, cancel');
  await answer(saga, 'approve');
  await saga.result();
});
