/**
 * What Prometheus reads of a real worker whose sagas meet every kind of trouble that a panel or a rule shows: the counts
 * are right, nobody is named in a label, and every panel and every rule returns series. Where this machine has a
 * Prometheus, it scrapes the worker all the while.
 */
import { parse } from 'yaml';
import { startProcess } from '../../../scripts/processes';
import { lowPorts } from '../../../scripts/reachable';
import { metrics } from '../../../src/domain/metrics';
import { codesIn } from '../../docs/tables';
import { readDocument } from '../../support/project';
import { unlessLacking } from '../../support/left-out';
import { orderThat, requestAtServer } from '../../support/orders';
import { programOf } from '../../support/programs';
import { startPrometheus, whyNoPrometheus, type Prometheus } from '../../support/prometheus';
import { startLink } from '../../support/proxies';
import { WebhookReceiver } from '../../support/receiver';
import { changeRequest } from '../../support/requests';
import { Rig, until } from '../../support/rig';
import { answer, outcomeOf, untilWaiting } from '../../support/sagas';
import { sweepIn } from '../../support/sweeps';
import { deleteRun, terminate } from '../../support/web-ui';

let run: Awaited<ReturnType<typeof measure>>;
beforeAll(async () => {
  run = await measure();
});
afterAll(() => run.close());

const note = { note: 'seen' };

async function measure() {
  const rig = await Rig.start();
  // It waits from before the worker that is measured first looks who does, until the end.
  const { saga: asked } = await orderThat(rig, { endpoint: 'place-order', kind: 'error-before' });
  await untilWaiting(asked, 'outcome-unknown');
  await rig.replaceWorkers({ taskQueue: 'another' });
  const line = await startLink(rig.address);
  const receiver = await WebhookReceiver.start();
  const [port = 0] = await lowPorts(1);
  const worker = await startProcess(programOf('worker'), {
    ...rig.environment,
    TEMPORAL_ADDRESS: line.address,
    METRICS_ADDRESS: `127.0.0.1:${port}`,
    NOTIFICATION_ROUTES: JSON.stringify([{ name: 'ops', url: receiver.url, secret: 'webhook-ops', events: ['ended'] }]),
    NOTIFICATION_ALLOW: '127.0.0.1',
    NOTIFICATION_ALLOW_HTTP: 'true',
    SECRET_WEBHOOK_OPS: receiver.secret,
  });
  const ports = { 'order-saga-worker': port };
  // Undefined where this machine has none.
  const prometheus = whyNoPrometheus === undefined ? await startPrometheus(ports) : undefined;
  // A counter rises where it was seen before.
  await prometheus?.until('max(order_saga_waiting{kind="outcome-unknown"}) > 0');
  const untilScraped = (isIt: (sample: Sample) => boolean) => until(async () => (await scrape(port)).some(isIt));
  await Promise.all(journeys.map((journey) => journey(rig)));
  await sweepAgain(rig, untilScraped);
  // Only panels show it.
  await runBrokenCode(rig, untilScraped);
  line.cut();
  await untilScraped(({ name }) => name === 'temporal_long_request_failure_total');
  // Its first value is no rise.
  await prometheus?.until('sum(increase(temporal_long_request_failure_total[5m])) > 0');
  line.repair();
  await until(async () => new Set(receiver.taken.map(({ id }) => id)).size >= journeys.length);
  await prometheus?.until('order_saga:pages_per_thousand:3d');
  const close = async () => {
    await answer(asked, 'confirmNotPlaced', note);
    await asked.result();
    await prometheus?.stop();
    await worker.kill('SIGKILL');
    await line.close();
    await rig.close();
    await receiver.close();
  };
  return { rig, prometheus, samples: await scrape(port), close };
}

type UntilScraped = (isIt: (sample: Sample) => boolean) => Promise<unknown>;

/**
 * One that finds what the journeys have left, one that cannot look, and the schedule that says how old the first one
 * is.
 */
async function sweepAgain(rig: Rig, untilScraped: UntilScraped): Promise<void> {
  const sweep = () => sweepIn(rig, { clean: false });
  expect(await sweep()).toMatchObject({ outcome: 'found', counts: { 'cart-items': 1, 'placement-unknown': 1 } });
  const restored = (ms: number | null) =>
    rig.withJournal(({ db }) => db.updateTable('journal').set({ restored_ms: ms }).execute());
  await restored(1);
  expect(await sweep()).toMatchObject({ outcome: 'could-not-look' });
  await restored(null);
  // A schedule begins at whole multiples of its time: one of an hour would, now and then, begin in the middle of this.
  const everySeconds = 31 * 24 * 60 * 60;
  await rig.sagas.sweeps.schedule(everySeconds * 1_000, { clean: false });
  await untilScraped(({ name, value }) => name === metrics.sweepEvery.name && value === everySeconds);
}

/** A run whose workflow task fails again and again. */
async function runBrokenCode({ temporal }: Rig, untilScraped: UntilScraped): Promise<void> {
  const broken = await temporal.workflow.start('noSuchSaga', { workflowId: 'broken', taskQueue: 'order-saga' });
  await untilScraped(({ name }) => name === 'temporal_workflow_task_execution_failed_total');
  await terminate(temporal, broken);
  await deleteRun(temporal, { workflowId: broken.workflowId });
  // The rig replays what is left, when it closes.
  await until(async () => (await temporal.workflow.count(`WorkflowType = 'noSuchSaga'`)).count === 0);
}

/** Each ends once. Together they meet every kind of trouble that a panel or a rule shows. */
const journeys: ((rig: Rig) => Promise<unknown>)[] = [
  async (rig) => outcomeOf(await rig.sagas.firewalls(requestAtServer(rig, [], { assign: [143] }))),
  async (rig) =>
    outcomeOf((await orderThat(rig, { endpoint: 'add-cart-item', kind: 'rate-limit' }, { firewalls: [143] })).saga),
  async (rig) => outcomeOf((await orderThat(rig, { endpoint: 'place-order', kind: 'refuse-before' })).saga),
  async (rig) => {
    const saga = await rig.sagas.change(changeRequest({ approval: 'always' }));
    await untilWaiting(saga, 'approval');
    await answer(saga, 'skip', note).catch(() => undefined);
    await answer(saga, 'approve');
    await saga.result();
  },
  async (rig) => {
    const { saga } = await orderThat(rig, { endpoint: 'place-order', kind: 'error-before' });
    await untilWaiting(saga, 'outcome-unknown');
    await saga.cancel();
    await outcomeOf(saga);
  },
  async (rig) => {
    const { saga } = await orderThat(rig, [
      { endpoint: 'place-order', kind: 'refuse-before' },
      { endpoint: 'delete-cart-item', kind: 'unauthorized', times: 'all' },
    ]);
    await untilWaiting(saga, 'stuck');
    await answer(saga, 'skip', note);
    await outcomeOf(saga);
  },
];

/** Prometheus's samples, by name and labels. */
interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

async function scrape(port: number): Promise<Sample[]> {
  const response = await fetch(`http://127.0.0.1:${port}/metrics`);
  return samplesIn(await response.text());
}

function samplesIn(text: string): Sample[] {
  return text.split('\n').flatMap((line) => {
    const [, name, labels = '', value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    return name === undefined ? [] : [{ name, labels: labelsIn(labels), value: Number(value) }];
  });
}

function labelsIn(text: string): Record<string, string> {
  return Object.fromEntries(
    [...text.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, name, value]) => [name, value] as [string, string]),
  );
}

/** The counts, as `labels: value`, without zeroes. */
function counted(metric: { name: string }, ...labels: string[]): Record<string, number> {
  const found: Record<string, number> = {};
  for (const sample of run.samples) {
    if (sample.name !== `${metric.name}_total` || sample.value === 0) continue;
    const key = labels.map((label) => sample.labels[label]).join(' ');
    found[key] = (found[key] ?? 0) + sample.value;
  }
  return found;
}

const gauge = ({ name }: { name: string }, labels: Record<string, string> = {}) =>
  run.samples.find(
    (sample) =>
      sample.name === name && Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
  )?.value;

const waits = { approval: 1, 'outcome-unknown': 1, stuck: 1 };

it.each<[what: string, metric: { name: string }, labels: string[], expected: Record<string, number>]>([
  [
    'what became of the sagas, by workflow',
    metrics.sagas,
    ['workflowType', 'outcome'],
    {
      'setFirewalls done': 1,
      'provisionServers done': 1,
      'changeOrder done': 1,
      'provisionServers OrderRejected': 2,
      'provisionServers cancelled': 1,
    },
  ],
  ['what is left', metrics.leftovers, ['kind'], { 'placement-unknown': 1, 'cart-item': 2 }],
  ['what was undone', metrics.undos, ['fate'], { undone: 1, 'left-behind': 1, 'left-alone': 1 }],
  [
    'sagas that trouble has made wait for a person, and no others',
    metrics.attended,
    ['workflowType'],
    { provisionServers: 2 },
  ],
  [
    'failed calls, and whose trouble they are',
    metrics.failedCalls,
    ['failure', 'whose'],
    {
      'RateLimited provider': 1,
      'Rejected provider': 2,
      'UnknownOutcome provider': 1,
      'Unauthorized us': 1,
      // A sweep's.
      'JournalRestored journal': 1,
    },
  ],
  ['waits as they begin', metrics.waits, ['kind'], waits],
  ['waits as they end', metrics.waitsEnded, ['kind'], waits],
  [
    'what people decide',
    metrics.decisions,
    ['decision', 'fate'],
    { 'approve taken': 1, 'skip taken': 1, 'skip refused': 1 },
  ],
  // Each of them has ended.
  ['what receivers are told', metrics.notifications, ['route', 'result'], { 'ops delivered': journeys.length }],
  ['what receivers are not told', metrics.notificationsLost, ['workflowType'], {}],
  ['sweeps', metrics.sweeps, ['workflowType', 'outcome'], { 'reconcile found': 1, 'reconcile could-not-look': 1 }],
  [
    'what sweeps find',
    metrics.findings,
    ['workflowType', 'kind'],
    { 'reconcile cart-items': 1, 'reconcile placement-unknown': 1 },
  ],
])('counts %s', (_what, metric, labels, expected) => {
  expect(counted(metric, ...labels)).toEqual(expected);
});

it('measures when a server that was bought is protected, and how many calls a step takes', () => {
  expect(gauge({ name: `${metrics.timeToProtected.name}_count` })).toBe(1);
  expect(gauge({ name: `${metrics.timeToProtected.name}_bucket` }, { le: '600' })).toBe(1);
  const failed = run.samples.filter(
    ({ name, labels }) => name === `${metrics.attempts.name}_count` && labels['result'] === 'failed',
  );
  // A refused order twice, an unknown one, an item that cannot be deleted, a journal that was restored.
  expect(failed.reduce((sum, { value }) => sum + value, 0)).toBe(5);
});

it('gauges tell of the journal, unserved versions, waiting sagas and the last good sweep', () => {
  expect(gauge(metrics.journalReachable)).toBe(1);
  expect(gauge(metrics.journalAnswer)).toBeGreaterThan(0);
  expect(gauge(metrics.journalRestored)).toBe(0);
  expect(gauge(metrics.unserved)).toBe(0);
  expect(gauge(metrics.notificationsLate, { route: 'ops' })).toBe(0);
  // Another worker brought it there.
  expect(gauge(metrics.waiting, { kind: 'outcome-unknown' })).toBeGreaterThanOrEqual(1);
  expect(gauge(metrics.oldestWait, { kind: 'outcome-unknown' })).toBeGreaterThan(0);
  expect(gauge(metrics.sweepAge)).toBeGreaterThan(0);
  expect(gauge(metrics.sweepAge)).toBeLessThan(600);
});

it('what a saga expects is no failure to Temporal: no metric of its own counts it', () => {
  const failures = run.samples.filter(
    ({ name, value }) => /^temporal_(local_)?(activity_execution|workflow)_failed/.test(name) && value > 0,
  );
  // A sweep that could not look is one.
  expect(failures.map(({ labels }) => labels['workflow_type'])).toEqual(['reconcile']);
  // The scrape has what they stand beside.
  expect(run.samples.some(({ name }) => name.startsWith('temporal_activity_execution_latency'))).toBe(true);
});

it('measures each call of the provider by its row of the document, in buckets up to its time limit', () => {
  const calls = run.samples.filter(({ name }) => name === `${metrics.providerRequests.name}_count`);
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
  const bounds = run.samples
    .filter(({ name, labels }) => name === `${metrics.providerRequests.name}_bucket` && labels['class'] === 'Rejected')
    .map(({ labels }) => labels['le']);
  expect(bounds).toEqual(['0.025', '0.05', '0.1', '0.25', '0.5', '1', '2.5', '5', '10', '15', '20', '25', '+Inf']);
});

it('names no order, account or run in a label', () => {
  const values = new Set(run.samples.flatMap(({ labels }) => Object.values(labels)));
  values.delete(run.rig.namespace);
  const named = [...values].filter((value) => /T-\d|AB-\d|[0-9a-f]{8}-[0-9a-f]{4}/.test(value));
  expect(named).toEqual([]);
  expect(values.has('setFirewalls')).toBe(true);
});

interface Panel {
  title: string;
  targets?: { expr: string }[];
}
const { panels } = JSON.parse(readDocument('deploy/grafana/dashboards/order-saga.json')) as { panels: Panel[] };

type Rule = AlertRule | { record: string; expr: string };
interface AlertRule {
  alert: string;
  expr: string;
  labels: { severity: string };
  annotations: { summary: string; runbook: string };
}
const rules = ['alerts', 'slos'].flatMap((file) => {
  const { groups } = parse(readDocument(`deploy/prometheus/${file}.yaml`)) as { groups: { rules: Rule[] }[] };
  return groups.flatMap((group) => group.rules);
});
const alerts = rules.filter((rule): rule is AlertRule => 'alert' in rule);

/**
 * What an alert asks, without its threshold, so that it returns series in good times, too: comparisons say 0 or 1 of
 * each series, and each side of what rules something out stands for itself.
 */
function questionsOf({ expr }: AlertRule): string[] {
  return expr
    .split(/\bunless\b/)
    .map((part) => part.replace(/^\s*absent\((.*)\)\s*$/s, '$1').replace(/ (>|<|>=|<=|==|!=) /g, ' $1 bool '));
}

unlessLacking(whyNoPrometheus)('a Prometheus that scraped it', () => {
  let prometheus: Prometheus;
  beforeAll(() => {
    prometheus = run.prometheus!;
  });

  it.each(panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => [title, expr] as const)))(
    'has series for the panel %s: %s',
    async (_title, expression) => {
      const filled = expression.replaceAll('$namespace', run.rig.namespace).replaceAll('$__rate_interval', '5m');
      expect(await prometheus.query(filled)).not.toEqual([]);
    },
  );

  it.each(alerts.map((rule) => [rule.alert, rule] as const))('has series for the alert %s', async (_name, rule) => {
    for (const question of questionsOf(rule)) {
      expect([question, (await prometheus.query(question)).length]).not.toEqual([question, 0]);
    }
  });

  it('evaluates every rule, and fires where the sagas have met trouble', async () => {
    await until(async () => (await prometheus.rules()).every(({ health }) => health !== 'unknown'));
    const evaluated = await prometheus.rules();
    expect(evaluated.filter(({ health }) => health !== 'ok')).toEqual([]);
    expect(evaluated).toHaveLength(rules.length);
    const firing = evaluated.filter(({ state }) => state === 'firing').map(({ name }) => name);
    // Those that wait for no time to pass.
    expect(firing).toEqual(['OrderOutcomeUnknown', 'LeftBehind', 'SweepCouldNotLook', 'SweepFound']);
  });
});

it('every rule says what is wrong, whether somebody is woken for it, and where it is written what to do', () => {
  const pages = ['docs/operating.md', 'docs/operating-by-day.md'];
  const anchors = new Set(
    pages.flatMap((page) =>
      [...readDocument(page).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => {
        const anchor = heading.toLowerCase().replace(/[^\w\- ]/g, '');
        return `${page}#${anchor.replaceAll(' ', '-')}`;
      }),
    ),
  );
  const silent = alerts.filter(({ labels, annotations: { summary, runbook } }) => {
    return !['page', 'ticket'].includes(labels.severity) || !summary || !anchors.has(runbook);
  });
  expect(silent.map(({ alert }) => alert)).toEqual([]);
});

it('the objective of pages counts every page', () => {
  const pages = alerts.filter(({ labels }) => labels.severity === 'page').map(({ alert }) => alert);
  const counting = rules.find((rule) => 'record' in rule && rule.record === 'order_saga:pages:started');
  const lists = [...(counting?.expr ?? '').matchAll(/alertname=~"([^"]*)"/g)].map(([, names = '']) => names.split('|'));
  expect(lists).toEqual([pages, pages]);
});

it('each of ours is in the document, with its labels', () => {
  const lines = readDocument('docs/metrics.md').matchAll(/^- `(\w+)`(?: \((.*?)\))?:/gm);
  const told = Object.fromEntries([...lines].map(([, name, labels = '']) => [name!, codesIn(labels).sort()]));
  const real: Record<string, string[]> = {};
  for (const { name, labels } of run.samples.filter((sample) => sample.name.startsWith('order_saga_'))) {
    const own = Object.keys(labels).filter((label) => !['namespace', 'taskQueue', 'le'].includes(label));
    real[name.replace(/_(bucket|sum|count)$/, '')] = own.sort();
  }
  // The first reminder comes after an hour.
  expect(told).toEqual({ ...real, order_saga_reminders_total: ['kind', 'workflowType'] });
});
