/**
 * What Prometheus reads of a real worker whose sagas go every way: the counts are right, nobody is named in a label,
 * and every panel and every rule returns series.
 */
import { parse } from 'yaml';
import { metrics } from '../../../src/domain/metrics';
import { codesIn, readDocument, tableUnder } from '../../docs/tables';
import { unlessLacking } from '../../support/left-out';
import { whyNoPrometheus, type Prometheus } from '../../support/prometheus';
import { until } from '../../support/rig';
import { journeys, measure, type MeasuredRun } from './measured-run';

let run: MeasuredRun;

beforeAll(async () => {
  run = await measure();
});
afterAll(async () => {
  await run.close();
});

/** What was counted, as `labels: value`; zeroes left out. */
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
    { 'approve taken': 1, 'skip taken': 1, 'skip refused': 1, 'skip ignored': 1 },
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

it('knows how the journal is, that no version lacks workers, who waits, and how old the last good sweep is', () => {
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
  const anchors = new Set(
    [...readDocument('docs/operating.md').matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replace(/[^\w\- ]/g, '')
        .replaceAll(' ', '-'),
    ),
  );
  const silent = alerts.filter(({ labels, annotations: { summary, runbook } }) => {
    const isWritten = anchors.has(runbook.replace('docs/operating.md#', ''));
    return !['page', 'ticket'].includes(labels.severity) || !summary || !isWritten;
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
  const rows = tableUnder(readDocument('docs/observing.md'), 'Metrics');
  const told = Object.fromEntries(
    rows.flatMap((row) => codesIn(row['names']!).map((name) => [name, codesIn(row['labels']!).sort()])),
  );
  const real: Record<string, string[]> = {};
  for (const { name, labels } of run.samples.filter((sample) => sample.name.startsWith('order_saga_'))) {
    const own = Object.keys(labels).filter((label) => !['namespace', 'taskQueue', 'le'].includes(label));
    real[name.replace(/_(bucket|sum|count)$/, '')] = own.sort();
  }
  // The first reminder comes after an hour.
  expect(told).toEqual({ ...real, order_saga_reminders_total: ['kind', 'workflowType'] });
});
