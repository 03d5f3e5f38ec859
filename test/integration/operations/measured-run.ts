/**
 * A real worker, sagas that meet every kind of trouble that a panel or a rule shows, and a Prometheus beside it, where
 * this machine has one, which scrapes them all the while.
 */
import { lowPorts } from '../../../scripts/reachable';
import { startProcess } from '../../../scripts/processes';
import { metrics } from '../../../src/domain/metrics';
import { orderThat, requestAtServer } from '../../support/orders';
import { startPrometheus, whyNoPrometheus } from '../../support/prometheus';
import { programOf } from '../../support/programs';
import { startLink } from '../../support/proxies';
import { WebhookReceiver } from '../../support/receiver';
import { changeRequest } from '../../support/requests';
import { Rig, until } from '../../support/rig';
import { answer, outcomeOf, untilWaiting } from '../../support/sagas';
import { sweepIn } from '../../support/sweeps';
import { deleteRun, terminate } from '../../support/web-ui';

const note = { note: 'seen' };

export type MeasuredRun = Awaited<ReturnType<typeof measure>>;

export async function measure() {
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
export const journeys: ((rig: Rig) => Promise<unknown>)[] = [
  async (rig) => outcomeOf(await rig.sagas.firewalls(requestAtServer(rig, [], { assign: [143] }))),
  async (rig) =>
    outcomeOf((await orderThat(rig, { endpoint: 'add-cart-item', kind: 'rate-limit' }, { firewalls: [143] })).saga),
  async (rig) => outcomeOf((await orderThat(rig, { endpoint: 'place-order', kind: 'refuse-before' })).saga),
  async (rig) => {
    const saga = await rig.sagas.change(changeRequest({ approval: 'always' }));
    await untilWaiting(saga, 'approval');
    await rig.temporal.workflow.getHandle(saga.workflowId).signal('skip', note);
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

/** What Prometheus reads: each sample by its name and its labels. */
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
