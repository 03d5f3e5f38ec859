/**
 * A real worker, sagas that meet every kind of trouble that a panel or a rule shows, and a Prometheus beside it, where
 * this machine has one, which scrapes them all the while.
 */
import { lowPorts } from '../../../scripts/reachable';
import { startProcess, type RunningProcess } from '../../../scripts/processes';
import type { FaultSpec } from '../../../sandbox/faults';
import type { SagaHandle } from '../../../src/client/handle';
import { metrics } from '../../../src/domain/metrics';
import { startPrometheus, whyNoPrometheus, type Prometheus } from '../../support/prometheus';
import { programOf } from '../../support/programs';
import { startLink, type Link } from '../../support/proxies';
import { WebhookReceiver } from '../../support/receiver';
import { changeRequest, firewallsRequest, planIdOf, provisionRequest } from '../../support/requests';
import { Rig, until } from '../../support/rig';
import { answer, outcomeOf, untilWaiting } from '../../support/sagas';

const note = { note: 'seen' };

export class MeasuredRun {
  samples: Sample[] = [];

  private constructor(
    readonly rig: Rig,
    /** Waits from before the worker that is measured began, until the end. */
    readonly asked: SagaHandle,
    private readonly line: Link,
    private readonly receiver: WebhookReceiver,
    private readonly worker: RunningProcess,
    private readonly port: number,
    /** Undefined where this machine has none, and in `npm test`. */
    readonly prometheus: Prometheus | undefined,
  ) {}

  static async start(): Promise<MeasuredRun> {
    const rig = await Rig.start();
    // It waits before the worker that is measured first looks who does.
    const waiting = await provision(rig, [{ endpoint: 'place-order', kind: 'error-before' }]);
    await untilWaiting(waiting, 'outcome-unknown');
    await rig.replaceWorkers({ taskQueue: 'another' });
    const line = await startLink(rig.address);
    const receiver = await WebhookReceiver.start();
    const [port = 0] = await lowPorts(1);
    const worker = await startProcess(programOf('worker'), {
      ...rig.environment,
      TEMPORAL_ADDRESS: line.address,
      METRICS_ADDRESS: `127.0.0.1:${port}`,
      NOTIFICATION_ROUTES: JSON.stringify([
        { name: 'ops', url: receiver.url, secret: 'webhook-ops', events: ['ended'] },
      ]),
      NOTIFICATION_ALLOW: '127.0.0.1',
      NOTIFICATION_ALLOW_HTTP: 'true',
      SECRET_WEBHOOK_OPS: receiver.secret,
    });
    const ports = { 'order-saga-worker': port };
    const prometheus = whyNoPrometheus === undefined ? await startPrometheus(ports) : undefined;
    // A counter rises where it was seen before.
    await prometheus?.until('max(order_saga_waiting{kind="outcome-unknown"}) > 0');
    const run = new MeasuredRun(rig, waiting, line, receiver, worker, port, prometheus);
    await Promise.all(journeys.map((journey) => journey(rig)));
    await run.sweepAgain();
    // Only panels show it.
    await run.breakDown();
    await until(async () => new Set(receiver.taken.map(({ id }) => id)).size >= journeys.length);
    await prometheus?.until('order_saga:pages_per_thousand:3d');
    run.samples = await scrape(port);
    return run;
  }

  async close(): Promise<void> {
    await answer(this.asked, 'confirmNotPlaced', note);
    await this.asked.result();
    await this.prometheus?.stop();
    await this.worker.kill('SIGKILL');
    await this.line.close();
    await this.rig.close();
    await this.receiver.close();
  }

  /**
   * One that finds what the journeys have left, one that cannot look, and the schedule that says how old the first one
   * is.
   */
  private async sweepAgain(): Promise<void> {
    const { sweeps } = this.rig.sagas;
    const sweep = async () => sweeps.ended((await sweeps.start({ clean: false })).runId);
    expect((await sweep()).report).toMatchObject({
      outcome: 'found',
      counts: { 'cart-items': 1, 'placement-unknown': 1 },
    });
    const restored = (ms: number | null) =>
      this.rig.withJournal(({ db }) => db.updateTable('journal').set({ restored_ms: ms }).execute());
    await restored(1);
    expect((await sweep()).report).toMatchObject({ outcome: 'could-not-look' });
    await restored(null);
    // A schedule begins at whole multiples of its time: one of an hour would, now and then, begin in the middle of this.
    const everySeconds = 31 * 24 * 60 * 60;
    await sweeps.schedule(everySeconds * 1_000, { clean: false });
    await this.untilScraped(({ name, value }) => name === metrics.sweepEvery.name && value === everySeconds);
  }

  /** A run whose workflow task fails again and again, and a moment without Temporal. */
  private async breakDown(): Promise<void> {
    const { temporal, namespace } = this.rig;
    const broken = await temporal.workflow.start('noSuchSaga', { workflowId: 'broken', taskQueue: 'order-saga' });
    await this.untilScraped(({ name }) => name === 'temporal_workflow_task_execution_failed_total');
    await temporal.workflow.getHandle(broken.workflowId).terminate('it was seen');
    await temporal.workflowService.deleteWorkflowExecution({ namespace, workflowExecution: { workflowId: 'broken' } });
    // The rig replays what is left, when it closes.
    await until(async () => (await temporal.workflow.count(`WorkflowType = 'noSuchSaga'`)).count === 0);
    this.line.cut();
    await this.untilScraped(({ name }) => name === 'temporal_long_request_failure_total');
    // Its first value is no rise.
    await this.prometheus?.until('sum(increase(temporal_long_request_failure_total[5m])) > 0');
    this.line.repair();
  }

  private async untilScraped(isIt: (sample: Sample) => boolean): Promise<void> {
    await until(async () => (await scrape(this.port)).some(isIt));
  }
}

/** Each ends once. Together they meet every kind of trouble that a panel or a rule shows. */
export const journeys: ((rig: Rig) => Promise<unknown>)[] = [
  async (rig) => outcomeOf(await rig.sagas.firewalls(aServer(rig))),
  async (rig) =>
    outcomeOf(await provision(rig, [{ endpoint: 'add-cart-item', kind: 'rate-limit' }], { firewalls: [143] })),
  async (rig) => outcomeOf(await provision(rig, [{ endpoint: 'place-order', kind: 'refuse-before' }])),
  async (rig) => {
    const saga = await rig.sagas.change(changeRequest({ approval: 'always' }));
    await untilWaiting(saga, 'approval');
    await rig.temporal.workflow.getHandle(saga.workflowId).signal('skip', note);
    await answer(saga, 'skip', note).catch(() => undefined);
    await answer(saga, 'approve');
    await saga.result();
  },
  async (rig) => {
    const saga = await provision(rig, [{ endpoint: 'place-order', kind: 'error-before' }]);
    await untilWaiting(saga, 'outcome-unknown');
    await saga.cancel();
    await outcomeOf(saga);
  },
  async (rig) => {
    const saga = await provision(rig, [
      { endpoint: 'place-order', kind: 'refuse-before' },
      { endpoint: 'delete-cart-item', kind: 'unauthorized', times: 'all' },
    ]);
    await untilWaiting(saga, 'stuck');
    await answer(saga, 'skip', note);
    await outcomeOf(saga);
  },
];

async function provision(rig: Rig, faults: Omit<FaultSpec, 'match'>[], changes = {}): Promise<SagaHandle> {
  const request = provisionRequest(changes);
  const match = { planId: planIdOf(request.reference) };
  for (const fault of faults) rig.sandbox.faults.add({ ...fault, match });
  return rig.sagas.provision(request);
}

function aServer(rig: Rig) {
  const request = firewallsRequest();
  rig.sandbox.addServer({ vmObjectId: request.vmObjectId, firewalls: [] });
  return request;
}

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
