/**
 * A real worker, sagas that go every way, and what Prometheus then reads of it: the counts are right, nobody is named in a
 * label, and nothing that a panel or a rule asks for is missing.
 */
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import type { FaultSpec } from '../../../sandbox/faults';
import { startProcess, type RunningProcess } from '../../../scripts/processes';
import type { SagaHandle } from '../../../src/client/handle';
import { metrics } from '../../../src/domain/metrics';
import { codesIn, readDocument, tableUnder } from '../../docs/tables';
import { programOf } from '../../support/programs';
import { changeRequest, firewallsRequest, planIdOf, provisionRequest } from '../../support/requests';
import { WebhookReceiver } from '../../support/receiver';
import { Rig, until } from '../../support/rig';
import { answer, outcomeOf, untilWaiting } from '../../support/sagas';
import { startLine, type Line } from '../worker/line';
import { scrape, selectorsIn, selects, type Sample } from './scrape';

const note = { note: 'seen' };

let rig: Rig;
let line: Line;
let worker: RunningProcess;
let port: number;
let receiver: WebhookReceiver;
let inboxPort: number;
let samples: Sample[];
/** On a page of its own, because its labels name sagas. */
let inbox: Sample[];
let asked: SagaHandle;

beforeAll(async () => {
  rig = await Rig.start();
  // It waits before the worker that is measured first looks who does.
  const waiting = await provision([{ endpoint: 'place-order', kind: 'error-before' }]);
  await untilWaiting(waiting, 'outcome-unknown');
  await rig.replaceWorkers({ taskQueue: 'another' });
  line = await startLine(rig.address);
  port = await freePort();
  receiver = await WebhookReceiver.start();
  inboxPort = await freePort();
  worker = await startProcess(programOf('worker'), {
    ...rig.environment,
    TEMPORAL_ADDRESS: line.address,
    METRICS_ADDRESS: `127.0.0.1:${port}`,
    NOTIFICATION_ROUTES: JSON.stringify([{ name: 'ops', url: receiver.url, secret: 'webhook-ops', events: ['ended'] }]),
    NOTIFICATION_ALLOW: '127.0.0.1',
    NOTIFICATION_ALLOW_HTTP: 'true',
    SECRET_WEBHOOK_OPS: receiver.secret,
    INBOX_ADDRESS: `127.0.0.1:${inboxPort}`,
    TEMPORAL_UI_URL: 'http://ui.example',
  });
  await Promise.all(journeys.map((journey) => journey()));
  await sweepAgain();
  await breakDown();
  await until(async () => receiver.taken.length === journeys.length);
  samples = await scrape(port);
  inbox = await scrape(inboxPort);
  asked = waiting;
  await answer(waiting, 'confirmNotPlaced', note);
  await waiting.result();
});
afterAll(async () => {
  await worker.kill('SIGKILL');
  await line.close();
  await rig.close();
  await receiver.close();
});

/** Each ends once. Together they meet every kind of trouble that a panel or a rule shows. */
const journeys: (() => Promise<unknown>)[] = [
  async () => outcomeOf(await rig.sagas.firewalls(aServer())),
  async () => outcomeOf(await provision([{ endpoint: 'add-cart-item', kind: 'rate-limit' }])),
  async () => outcomeOf(await provision([{ endpoint: 'place-order', kind: 'refuse-before' }])),
  async () => {
    const saga = await rig.sagas.change(changeRequest({ approval: 'always' }));
    await untilWaiting(saga, 'approval');
    await rig.temporal.workflow.getHandle(saga.workflowId).signal('skip', note);
    await saga.decide('skip', note).catch(() => undefined);
    await answer(saga, 'approve');
    await saga.result();
  },
  async () => {
    const saga = await provision([{ endpoint: 'place-order', kind: 'error-before' }]);
    await untilWaiting(saga, 'outcome-unknown');
    await saga.cancel();
    await outcomeOf(saga);
  },
  async () => {
    const saga = await provision([
      { endpoint: 'place-order', kind: 'refuse-before' },
      { endpoint: 'delete-cart-item', kind: 'unauthorized', times: 'all' },
    ]);
    await untilWaiting(saga, 'stuck');
    await saga.decide('skip', note);
    await outcomeOf(saga);
  },
];

async function provision(faults: Omit<FaultSpec, 'match'>[]): Promise<SagaHandle> {
  const request = provisionRequest();
  const match = { planId: planIdOf(request.reference) };
  for (const fault of faults) rig.sandbox.faults.add({ ...fault, match });
  return rig.sagas.provision(request);
}

function aServer() {
  const request = firewallsRequest();
  rig.sandbox.addServer({ vmObjectId: request.vmObjectId, firewalls: [] });
  return request;
}

/** One that finds what the journeys have left, one that cannot look, and the schedule that says how old the first one is. */
async function sweepAgain(): Promise<void> {
  const { sweeps } = rig.sagas;
  const sweep = async () => sweeps.ended((await sweeps.start({ clean: false })).runId);
  expect((await sweep()).report).toMatchObject({
    outcome: 'found',
    counts: { 'cart-items': 1, 'placement-unknown': 1 },
  });
  const putBack = (ms: number | null) =>
    rig.withJournal(({ db }) => db.updateTable('journal').set({ put_back_ms: ms }).execute());
  await putBack(1);
  expect((await sweep()).report).toMatchObject({ outcome: 'could-not-look' });
  await putBack(null);
  await sweeps.schedule(60 * 60_000);
  await until(async () =>
    (await scrape(port)).some(({ name, value }) => name === metrics.sweepEvery.name && value === 60 * 60),
  );
}

/** A run whose workflow task fails again and again, and a moment without Temporal. */
async function breakDown(): Promise<void> {
  const broken = await rig.temporal.workflow.start('noSuchSaga', { workflowId: 'broken', taskQueue: 'order-saga' });
  await until(async () =>
    (await scrape(port)).some(({ name }) => name === 'temporal_workflow_task_execution_failed_total'),
  );
  await rig.temporal.workflow.getHandle(broken.workflowId).terminate('it was seen');
  await rig.temporal.workflowService.deleteWorkflowExecution({
    namespace: rig.namespace,
    workflowExecution: { workflowId: 'broken' },
  });
  // The rig replays what is left, when it closes.
  await until(async () => (await rig.temporal.workflow.count(`WorkflowType = 'noSuchSaga'`)).count === 0);
  line.cut();
  await until(async () => (await scrape(port)).some(({ name }) => name === 'temporal_long_request_failure_total'));
  line.fix();
}

/** What was counted, as `labels: value`; zeroes left out. */
function counted(metric: { name: string }, ...labels: string[]): Record<string, number> {
  const found: Record<string, number> = {};
  for (const sample of samples) {
    if (sample.name !== `${metric.name}_total` || sample.value === 0) continue;
    const key = labels.map((label) => sample.labels[label]).join(' ');
    found[key] = (found[key] ?? 0) + sample.value;
  }
  return found;
}

it('counts what became of the sagas, by workflow', () => {
  expect(counted(metrics.sagas, 'workflowType', 'outcome')).toEqual({
    'setFirewalls done': 1,
    'provisionServers done': 1,
    'changeOrder done': 1,
    'provisionServers OrderRejected': 2,
    'provisionServers cancelled': 1,
  });
  expect(counted(metrics.leftovers, 'kind')).toEqual({ 'placement-unknown': 1, 'cart-item': 2 });
  expect(counted(metrics.undos, 'fate')).toEqual({ undone: 1, 'left-behind': 1, 'left-alone': 1 });
});

it('counts failed calls, and whose trouble they are', () => {
  expect(counted(metrics.failedCalls, 'failure', 'whose')).toEqual({
    'RateLimited provider': 1,
    'Rejected provider': 2,
    'UnknownOutcome provider': 1,
    'Unauthorized us': 1,
    // A sweep's.
    'JournalPutBack journal': 1,
  });
});

it('what a saga expects is no failure to Temporal: no metric of its own counts it', () => {
  const failures = samples.filter(
    ({ name, value }) => /^temporal_(local_)?(activity_execution|workflow)_failed/.test(name) && value > 0,
  );
  // A sweep that could not look is one.
  expect(failures.map(({ labels }) => labels['workflow_type'])).toEqual(['reconcile']);
  // The scrape has what they stand beside.
  expect(samples.some(({ name }) => name.startsWith('temporal_activity_execution_latency'))).toBe(true);
});

it('counts waits as they begin and end, and what people decide', () => {
  const waits = { approval: 1, 'outcome-unknown': 1, stuck: 1 };
  expect(counted(metrics.waits, 'kind')).toEqual(waits);
  expect(counted(metrics.waitsEnded, 'kind')).toEqual(waits);
  expect(counted(metrics.decisions, 'decision', 'fate')).toEqual({
    'approve taken': 1,
    'skip taken': 1,
    'skip refused': 1,
    'skip ignored': 1,
  });
});

it('counts what receivers are told, and what they are not', () => {
  // Each of them has ended.
  expect(counted(metrics.notifications, 'route', 'result')).toEqual({ 'ops delivered': journeys.length });
  const gauge = ({ name }: { name: string }) =>
    samples.find((sample) => sample.name === name && sample.labels['route'] === 'ops');
  for (const metric of [metrics.notificationsDead, metrics.notificationsOpen]) expect(gauge(metric)?.value).toBe(0);
  expect(counted(metrics.notificationsLost, 'workflowType')).toEqual({});
});

it('knows who waits, and since when, also where another worker brought it there', () => {
  const gauge = ({ name }: { name: string }, kind: string) =>
    samples.find((sample) => sample.name === name && sample.labels['kind'] === kind)?.value;
  expect(gauge(metrics.waiting, 'outcome-unknown')).toBeGreaterThanOrEqual(1);
  expect(gauge(metrics.oldestWait, 'outcome-unknown')).toBeGreaterThan(0);
  expect(gauge(metrics.oldestWait, 'held')).toBe(0);
});

it('counts sweeps and what they find, and knows how long ago the last good one was', () => {
  expect(counted(metrics.sweeps, 'workflowType', 'outcome')).toEqual({
    'reconcile found': 1,
    'reconcile could-not-look': 1,
  });
  expect(counted(metrics.findings, 'workflowType', 'kind')).toEqual({
    'reconcile cart-items': 1,
    'reconcile placement-unknown': 1,
  });
  const age = samples.find(({ name }) => name === metrics.sweepAge.name)?.value;
  expect(age).toBeGreaterThan(0);
  expect(age).toBeLessThan(600);
});

it('measures each call of the provider by its row of the document, in buckets up to its time limit', () => {
  const calls = samples.filter(({ name }) => name === `${metrics.providerRequests.name}_count`);
  const classes = new Set(calls.map(({ labels }) => `${labels['endpoint'] ?? ''} ${labels['class'] ?? ''}`));
  expect(classes).toEqual(
    new Set([
      'POST /order/add-to-cart ok',
      'POST /order/add-to-cart RateLimited',
      'POST /order ok',
      'POST /order Rejected',
      'POST /order UnknownOutcome',
      'DELETE /order/cartItems/delete/{cart_item_id} ok',
      'DELETE /order/cartItems/delete/{cart_item_id} Unauthorized',
      'PUT /order/changeorder/total ok',
      'POST /order/changeorder ok',
      'POST /firewalls/assign/object/{vm_object_id} ok',
      'GET /firewalls/object/{vm_object_id} ok',
    ]),
  );
  const bounds = samples
    .filter(({ name, labels }) => name === `${metrics.providerRequests.name}_bucket` && labels['class'] === 'Rejected')
    .map(({ labels }) => labels['le']);
  expect(bounds).toEqual(['0.025', '0.05', '0.1', '0.25', '0.5', '1', '2.5', '5', '10', '15', '20', '25', '+Inf']);
});

it('names no order, account or run in a label', () => {
  const values = new Set(samples.flatMap(({ labels }) => Object.values(labels)));
  values.delete(rig.namespace);
  const named = [...values].filter((value) => /T-\d|AB-\d|[0-9a-f]{8}-[0-9a-f]{4}/.test(value));
  expect(named).toEqual([]);
  expect(values.has('setFirewalls')).toBe(true);
});

it('names the saga that waits on a page of its own, with a link', () => {
  expect(inbox).toEqual([
    {
      name: metrics.inboxAge.name,
      labels: {
        namespace: rig.namespace,
        kind: 'outcome-unknown',
        step: 'place-order',
        account: expect.stringMatching(/^AB-\d+$/) as string,
        reference: asked.reference,
        workflowId: asked.workflowId,
        link: `http://ui.example/namespaces/${rig.namespace}/workflows/provision%2F${asked.reference}/${asked.runId}`,
      },
      value: expect.any(Number) as number,
    },
  ]);
  expect(inbox[0]?.value).toBeGreaterThan(0);
});

describe('all that is asked for is there', () => {
  interface Panel {
    title: string;
    targets?: { expr: string }[];
  }
  const { panels } = JSON.parse(readDocument('deploy/grafana/dashboards/order-saga.json')) as { panels: Panel[] };
  const rules = readDocument('deploy/prometheus/alerts.yaml');
  const missing = (expression: string) =>
    selectorsIn(expression).filter((selector) => ![...samples, ...inbox].some((sample) => selects(selector, sample)));

  it.each(panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => [title, expr] as const)))(
    'in the panel %s: %s',
    (_title, expression) => {
      expect(missing(expression)).toEqual([]);
    },
  );

  it('in the rules', () => {
    expect(selectorsIn(rules).length).toBeGreaterThan(15);
    expect(missing(rules)).toEqual([]);
  });

  it('and every rule says where it is written what to do', () => {
    const anchors = new Set(
      [...readDocument('docs/operating.md').matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
        heading
          .toLowerCase()
          .replace(/[^\w\- ]/g, '')
          .replaceAll(' ', '-'),
      ),
    );
    const runbooks = [...rules.matchAll(/runbook: docs\/operating\.md#(\S+)/g)].map(([, anchor = '']) => anchor);
    expect(runbooks).toHaveLength([...rules.matchAll(/- alert: /g)].length);
    expect(runbooks.filter((anchor) => !anchors.has(anchor))).toEqual([]);
  });

  it('and every rule is in the document, as loud as it is', () => {
    const loud = [...rules.matchAll(/- alert: (\w+)[^]*?severity: (\w+)/g)].map(([, name, severity]) => [
      name,
      severity,
    ]);
    const rows = tableUnder(readDocument('docs/observing.md'), 'Alerts');
    expect(rows.map((row) => [codesIn(row['alert']!)[0], row['severity']])).toEqual(loud);
  });

  it('and each of ours is in the document, with its labels', () => {
    const rows = tableUnder(readDocument('docs/observing.md'), 'Metrics');
    const told = Object.fromEntries(rows.map((row) => [codesIn(row['name']!)[0], codesIn(row['labels']!).sort()]));
    const real: Record<string, string[]> = {};
    for (const { name, labels } of samples.filter((sample) => sample.name.startsWith('order_saga_'))) {
      const own = Object.keys(labels).filter((label) => !['namespace', 'taskQueue', 'le'].includes(label));
      real[name.replace(/_(bucket|sum|count)$/, '')] = own.sort();
    }
    // The first reminder comes after an hour.
    expect(told).toEqual({ ...real, order_saga_reminders_total: ['kind', 'workflowType'] });
  });
});

async function freePort(): Promise<number> {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port: free } = server.address() as AddressInfo;
  server.close();
  return free;
}
