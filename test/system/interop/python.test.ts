/**
 * A backend in another language: Temporal's Python SDK with the standard AES-GCM codec and our keys. What one side
 * encrypts the other reads, in both directions.
 */
import { randomBytes } from 'node:crypto';
import { ordersWithLabel, callsTo } from '../../../sandbox/sentences';
import { ReferenceTakenError } from '../../../src/client/errors';
import type { ProgressView } from '../../../src/domain/progress';
import { parsePayloadKeys } from '../../../src/security/keys';
import { unlessLacking } from '../../support/left-out';
import { planIdOf, provisionRequest } from '../../support/requests';
import { Rig } from '../../support/rig';
import { untilWaiting } from '../../support/sagas';
import { PythonBackend, whyNoPython, type PythonError } from './python-backend';

const whyNot = whyNoPython();
const here = unlessLacking(whyNot);

/** Escapes differ between the languages' JSON; what comes out of it may not. */
const password = 'pass/wörd "of" 🗝';

here('the Python SDK', () => {
  let rig: Rig;
  let backend: PythonBackend;
  beforeAll(async () => {
    if (whyNot !== undefined) throw new Error(whyNot);
    const keys = `py-1:${randomBytes(32).toString('base64')},old:${randomBytes(32).toString('base64')}`;
    rig = await Rig.start({ payloadKeys: parsePayloadKeys(keys) });
    backend = await PythonBackend.start({
      TEMPORAL_ADDRESS: rig.address,
      TEMPORAL_NAMESPACE: rig.namespace,
      PAYLOAD_KEYS: keys,
    });
  }, 300_000);
  afterAll(async () => {
    if (whyNot !== undefined) return;
    await backend.stop();
    await rig.close();
  });

  function order() {
    const request = provisionRequest({ items: [{ password }] });
    return { request, workflowId: `provision/${request.reference}` };
  }
  const startIn = async ({ request, workflowId }: ReturnType<typeof order>) =>
    (await backend.ask({ do: 'start', workflow: 'provisionServers', workflowId, request })) as { runId: string };

  it('starts an order that nobody can read on the way, and reads its result', async () => {
    const { request, workflowId } = order();
    await startIn({ request, workflowId });
    expect(await backend.ask({ do: 'result', workflowId })).toMatchObject({
      reference: request.reference,
      cartItemIds: [expect.any(Number)],
      servers: [{ verified: true }],
      leftovers: [],
    });
    const added = callsTo(rig.sandbox.ledger, 'add-cart-item').filter(({ names }) =>
      names.planId?.includes(planIdOf(request.reference)),
    );
    expect(added).toMatchObject([{ body: { password } }]);
    expect(ordersWithLabel(rig.sandbox.ledger, request.reference)).toHaveLength(1);

    const { events } = await rig.temporal.workflow.getHandle(workflowId).fetchHistory();
    const [payload] = events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads ?? [];
    expect(Buffer.from(payload?.metadata?.['encoding'] ?? []).toString()).toBe('binary/encrypted');
    expect(Buffer.from(payload?.metadata?.['encryption-key-id'] ?? []).toString()).toBe('py-1');
    expect(Buffer.from(payload?.data ?? []).toString('latin1')).not.toContain('cloud_servers');
  });

  it('asks how it stands, and decides', async () => {
    const { request, workflowId } = order();
    const { label } = request;
    rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'error-before', match: { label } });
    await startIn({ request, workflowId });
    const saga = await rig.sagas.get(request.reference, 'provisionServers');
    await untilWaiting(saga, 'outcome-unknown');
    const progress = (await backend.ask({ do: 'progress', workflowId })) as ProgressView;
    expect(progress).toMatchObject({
      state: 'outcome-unknown',
      waiting: { step: 'place-order', choices: ['confirmPlaced', 'confirmNotPlaced', 'markCancelled'] },
    });
    const { waiting } = progress;
    if (waiting === undefined) throw new Error('Python was not told what the saga waits for');
    const { id: question } = waiting;

    const decide = (body: object) => backend.ask({ do: 'decide', workflowId, decision: 'confirmNotPlaced', body });
    const said = { by: 'Grace', note: 'nicht im Warenkörbchen' };
    await expect(decide({ question, by: 'Grace' })).rejects.toMatchObject({
      refusal: { message: expect.stringMatching(/note: is required: say how you know/) },
    });
    await expect(decide(said)).rejects.toMatchObject({
      refusal: { type: 'DecisionRefused', message: expect.stringMatching(/question: is required/) },
    });
    await expect(decide({ ...said, question: 'an older one' })).rejects.toMatchObject({
      refusal: { message: expect.stringContaining(`is not the one that waits now, which is ${question}`) },
    });
    expect(await decide({ ...said, question })).toEqual({ taken: 'confirmNotPlaced', step: 'place-order' });
    expect(await backend.ask({ do: 'result', workflowId })).toMatchObject({ decisions: [{ by: 'Grace', question }] });
    // And the other way round: what Python said, read here.
    expect(await saga.result()).toMatchObject({ decisions: [{ note: 'nicht im Warenkörbchen' }] });
  });

  it('reads why an order failed, which the server cannot', async () => {
    const { request, workflowId } = order();
    const { label } = request;
    rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'refuse-before', match: { label } });
    await startIn({ request, workflowId });
    const { refusal } = (await backend
      .ask({ do: 'result', workflowId })
      .catch((error: unknown) => error)) as PythonError;
    expect(refusal).toMatchObject({
      type: 'OrderRejected',
      message: expect.stringMatching(/^Place the order: POST \/order was answered 422/),
      details: [{ reference: request.reference, outcome: 'reversed', leftovers: [] }],
    });
    const { events } = await rig.temporal.workflow.getHandle(workflowId).fetchHistory();
    expect(events?.at(-1)?.workflowExecutionFailedEventAttributes?.failure).toMatchObject({
      message: 'Encoded failure',
      stackTrace: '',
    });
  });

  it('started it: the same request sent from here finds that run, another one is told what differs', async () => {
    const { request, workflowId } = order();
    const { runId } = await startIn({ request, workflowId });
    const saga = await rig.sagas.provision(request);
    expect(saga).toMatchObject({ existing: true, runId });
    const [item] = request.items;
    const other = { ...request, items: [{ ...item!, password: 'another one' }] };
    const error: unknown = await rig.sagas.provision(other).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ReferenceTakenError);
    expect(error).toMatchObject({ fields: ['items[0].password'] });
    await saga.result();
    expect(ordersWithLabel(rig.sandbox.ledger, request.reference)).toHaveLength(1);
  });
});
