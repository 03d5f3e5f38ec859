/**
 * The duties of every client (docs/clients.md), rule by rule: by ours, and by the one in Python out of `examples`, with
 * the worker's keys. Each is asked the same.
 */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { NativeConnection, Worker } from '@temporalio/worker';
import { callsTo, ordersWithLabel } from '../../../sandbox/sentences';
import { OrderSagaClient } from '../../../src/client/client';
import type { DecisionName } from '../../../src/domain/decisions';
import type { Milestone, ProgressView, Reached } from '../../../src/domain/progress';
import { createDataConverter } from '../../../src/security/data-converter';
import { parsePayloadKeys } from '../../../src/security/keys';
import { unlessLacking } from '../../support/left-out';
import { planIdOf, provisionRequest } from '../../support/requests';
import { resetTo, taskBefore } from '../../support/web-ui';
import { Rig } from '../../support/rig';
import { untilWaiting } from '../../support/sagas';
import { examples, python, PythonBackend, whyNoPython } from './python-backend';
import { newKey } from '../../support/keys';

type Request = ReturnType<typeof provisionRequest>;

interface AnyClient {
  start: (request: Request, taskQueue?: string) => Promise<{ existing: boolean }>;
  progress: (reference: string) => Promise<ProgressView>;
  reached: (reference: string, milestone: Milestone) => Promise<Partial<Reached>>;
  decide: (reference: string, decision: DecisionName, body: object) => Promise<unknown>;
  cancel: (reference: string, said: { by: string; note: string }) => Promise<unknown>;
  result: (reference: string) => Promise<unknown>;
}

const keys = `py-1:${newKey()},old:${newKey()}`;
const payloadKeys = parsePayloadKeys(keys);
const whyNot = whyNoPython();

/** Escapes differ between the languages' JSON; what comes out of it may not. */
const password = 'pass/wörd "of" 🗝';

let rig: Rig;
let backend: PythonBackend | undefined;
beforeAll(async () => {
  rig = await Rig.start({ payloadKeys, replays: ({ workflowId }) => !newer.has(workflowId) });
  const at = { TEMPORAL_ADDRESS: rig.address, TEMPORAL_NAMESPACE: rig.namespace };
  if (whyNot === undefined) backend = await PythonBackend.start({ ...at, PAYLOAD_KEYS: keys });
});
afterAll(async () => {
  await backend?.stop();
  await rig.close();
});
const newer = new Set<string>();

const ours: AnyClient = {
  start: (request, taskQueue = 'order-saga') => new OrderSagaClient(rig.temporal, { taskQueue }).provision(request),
  progress: (reference) => of(reference).progress(),
  reached: (reference, milestone) => of(reference).reached(milestone),
  decide: (reference, decision, body) => of(reference).decide(decision, body),
  cancel: (reference, said) => of(reference).cancel(said),
  result: (reference) => of(reference).result(),
};
const of = (reference: string) => rig.latest('provisionServers', { reference });

const ask = async <T>(command: { do: string } & Record<string, unknown>) => (await backend!.ask(command)) as T;
const inPython: AnyClient = {
  start: (request, taskQueue = 'order-saga') => ask({ do: 'start', request, taskQueue }),
  progress: (reference) => ask({ do: 'progress', reference }),
  reached: (reference, milestone) => ask({ do: 'reached', reference, milestone }),
  decide: (reference, decision, body) => ask({ do: 'decide', reference, decision, body }),
  cancel: (reference, said) => ask({ do: 'cancel', reference, ...said }),
  result: (reference) => ask({ do: 'result', reference }),
};

const order = () => provisionRequest({ items: [{ password }], firewalls: [143] });
const struck = (kind: 'error-before' | 'refuse-before') => {
  const request = order();
  rig.sandbox.faults.add({ endpoint: 'place-order', kind, match: { label: request.label } });
  return request;
};
const ordersOf = ({ label }: Request) => ordersWithLabel(rig.sandbox.ledger, label).length;

const rules: Record<number, (client: AnyClient) => Promise<void>> = {
  async 1(client) {
    const request = order();
    expect(await client.start(request)).toMatchObject({ existing: false });
    await client.result(request.reference);
    expect(await client.start(request)).toMatchObject({ existing: true });
    expect(ordersOf(request)).toBe(1);
  },

  async 2(client) {
    const request = order();
    const other = client === ours && backend ? inPython : ours;
    // The one whose start arrived, and whoever was not told so.
    await client.start(request);
    expect(await other.start(request)).toMatchObject({ existing: true });
    await client.result(request.reference);
    expect(ordersOf(request)).toBe(1);
  },

  async 3(client) {
    const request = order();
    await client.start(request);
    const [item] = request.items;
    const another = { ...request, account: 'ZZ-99', items: [{ ...item!, password: 'another one' }] };
    const error = await client.start(another).catch((reason: unknown) => reason as Error);
    expect(error).toMatchObject({ name: 'ReferenceTakenError', fields: ['account', 'items[0].password'] });
    expect((error as Error).message).toContain('account, items[0].password');
    expect(JSON.stringify([error, (error as Error).message])).not.toMatch(/another one|pass\/|ZZ-99/);
    await client.result(request.reference);
  },

  async 4(client) {
    const request = order();
    const wrong = { ...request, items: [] };
    const workflowId = `provision/${request.reference}`;
    const refused = await rig.temporal.workflow.start('provisionServers', {
      ...{ workflowId, taskQueue: 'order-saga', args: [wrong] },
    });
    await expect(refused.result()).rejects.toThrow();
    expect(await client.start(request)).toMatchObject({ existing: false });
    await client.result(request.reference);
    expect(ordersOf(request)).toBe(1);
  },

  async 5(client) {
    const request = struck('error-before');
    const { reference } = request;
    await client.start(request);
    await untilWaiting(of(reference), 'outcome-unknown');
    const ending = client.result(reference);
    const run = { workflowId: `provision/${reference}` };
    await resetTo(rig.temporal, run, await taskBefore(rig.temporal, run, 'placeOrder'));
    const { id: question } = await untilWaiting(of(reference), 'outcome-unknown');
    await ours.decide(reference, 'confirmNotPlaced', { question, by: 'Grace', note: 'seen in the panel' });
    expect(await ending).toMatchObject({ outcome: 'done' });
  },

  async 6(client) {
    const refused = struck('refuse-before');
    await client.start(refused);
    const failed = await client.result(refused.reference).catch((error: unknown) => error);
    const report = { reference: refused.reference, outcome: 'reversed', leftovers: [] };
    expect(failed).toMatchObject({ name: 'SagaFailedError', type: 'OrderRejected', report });
    expect((failed as Error).message).toMatch(/^Place the order: POST \/order was answered 422/);

    const ended = struck('error-before');
    await client.start(ended);
    await untilWaiting(of(ended.reference), 'outcome-unknown');
    await rig.temporal.workflow.getHandle(`provision/${ended.reference}`).terminate('a test');
    await expect(client.result(ended.reference)).rejects.toMatchObject({ name: 'SagaLostError' });
    // Its last question is still in what a query answers.
    await expect(client.reached(ended.reference, 'placed')).rejects.toMatchObject({ name: 'SagaLostError' });
  },

  async 7(client) {
    const request = struck('error-before');
    const { reference } = request;
    await client.start(request);
    await expect(client.reached(reference, 'servers')).rejects.toMatchObject({ name: 'SagaWaitsError' });
    const { state, waiting } = await client.progress(reference);
    expect([state, waiting?.choices]).toEqual([
      'outcome-unknown',
      ['confirmPlaced', 'confirmNotPlaced', 'markCancelled'],
    ]);
    const question = waiting!.id;
    const decide = (body: object) => client.decide(reference, 'confirmNotPlaced', body);
    const said = { by: 'Grace', note: 'nicht im Warenkörbchen' };
    const wrong: [object, RegExp][] = [
      [{ question, by: 'Grace' }, /note: is required/],
      [said, /question: is required/],
      [{ ...said, question: 'an older one' }, /is not the one that waits now/],
    ];
    for (const [body, message] of wrong) {
      const refusal = await decide(body).catch((error: unknown) => error);
      expect(refusal).toMatchObject({ name: 'DecisionRefusedError', message: expect.stringMatching(message) });
    }
    expect(await decide({ ...said, question })).toEqual({ taken: 'confirmNotPlaced', step: 'place-order' });
    expect(await client.result(reference)).toMatchObject({ decisions: [{ ...said, question }] });
  },

  async 8(client) {
    const request = struck('error-before');
    const { reference } = request;
    await client.start(request);
    const { id: question } = await untilWaiting(of(reference), 'outcome-unknown');
    const said = { question, by: 'Grace', note: 'seen in the panel' };
    await rig.withoutWorkers(async () => {
      const unanswered = [client.decide(reference, 'confirmNotPlaced', said), client.progress(reference)];
      for (const { status, reason } of (await Promise.allSettled(unanswered)) as PromiseRejectedResult[])
        expect([status, (reason as Error).name]).toEqual(['rejected', 'NoWorkerError']);
    });
    await client.result(reference);
    // It was taken when a worker came: the progress says so.
    expect((await client.progress(reference)).decisions).toMatchObject([said]);
  },

  async 9(client) {
    const request = struck('error-before');
    const { reference } = request;
    await client.start(request);
    await untilWaiting(of(reference), 'outcome-unknown');
    const said = { by: 'Grace', note: 'ordered elsewhere' };
    await client.cancel(reference, said);
    const error = await client.result(reference).catch((reason: unknown) => reason);
    expect(error).toMatchObject({
      name: 'SagaCancelledError',
      report: { decisions: [{ decision: 'cancel', ...said }], leftovers: [{ kind: 'placement-unknown' }, {}] },
    });
  },

  async 10(client) {
    const request = order();
    await client.start(request);
    const { vmObjectIds } = await client.reached(request.reference, 'servers');
    expect(vmObjectIds).toHaveLength(1);
    await client.result(request.reference);
    const unprotected = { ...order(), firewalls: undefined };
    await client.start(unprotected);
    const missed = client.reached(unprotected.reference, 'protected');
    await expect(missed).rejects.toMatchObject({ name: 'MilestoneMissedError' });
  },

  async 11(client) {
    const request = order();
    await client.start(request);
    expect(await client.result(request.reference)).toMatchObject({ servers: [{ verified: true }] });
    const added = callsTo(rig.sandbox.ledger, 'add-cart-item').filter(({ names }) =>
      names.planId?.includes(planIdOf(request.reference)),
    );
    expect(added).toMatchObject([{ body: { password } }]);
    const { events } = await rig.temporal.workflow.getHandle(`provision/${request.reference}`).fetchHistory();
    const [payload] = events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads ?? [];
    expect(Buffer.from(payload?.metadata?.['encryption-key-id'] ?? []).toString()).toBe('py-1');
    expect(Buffer.from(payload?.data ?? []).toString('latin1')).not.toContain('cloud_servers');
  },

  async 12(client) {
    const connection = await NativeConnection.connect({ address: rig.address });
    const worker = await Worker.create({
      ...{ connection, namespace: rig.namespace, taskQueue: 'newer', dataConverter: createDataConverter(payloadKeys) },
      workflowsPath: require.resolve('./newer-release'),
    });
    await worker.runUntil(async () => {
      const request = order();
      const workflowId = `provision/${request.reference}`;
      newer.add(workflowId);
      await client.start(request, 'newer');
      expect(await client.progress(request.reference)).toMatchObject({ state: 'negotiating', price: 'high' });
      await rig.runOf({ workflowId }).signal('over');
      const failed = await client.result(request.reference).catch((error: unknown) => error);
      expect(failed).toMatchObject({ name: 'SagaFailedError', type: 'TooDear', report: { refunds: [1] } });
    });
    await connection.close();
  },
};

const page = readFileSync(join(__dirname, '..', '..', '..', 'docs', 'clients.md'), 'utf8');
const asked = [...page.matchAll(/^(\d+)\. \*\*(.+?)\*\*/gm)].map(([, number, rule]) => [Number(number), rule] as const);

it('is asked of both in full', () => {
  expect(asked.map(([number]) => number)).toEqual(Object.keys(rules).map(Number));
});

describe('our client', () => {
  it.each(asked)('keeps rule %d: %s', (number) => rules[number]!(ours));
});

unlessLacking(whyNot)('the client in Python', () => {
  it.each(asked)('keeps rule %d: %s', (number) => rules[number]!(inPython));

  it('orders as its page says', async () => {
    const env = { ...process.env, ...rig.environment, PAYLOAD_KEYS: keys };
    const run = () => promisify(execFile)(interpreter, [join(examples, 'order.py'), 'PO-PY-1'], { env });
    const interpreter = await python();
    expect((await run()).stdout).toMatch(
      /has begun\napproved: .*\nservers \[\d+, \d+\]\ndone: \[\[143\], \[143\]\]\n$/s,
    );
    expect((await run()).stdout).toMatch(/goes on\nservers/);
    expect(ordersWithLabel(rig.sandbox.ledger, 'PO-PY-1')).toHaveLength(1);
  });
});
