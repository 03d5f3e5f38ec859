/**
 * A worker that stands still (a paused machine, a stopped process) and goes on after somebody has answered: it must not
 * speak. And a call that Temporal hands out twice, because somebody raised its attempts and reset it.
 *
 * ```text
 *   task ─▶ [stopped] ─▶ intend ─▶ [stopped] ─▶ connect, TLS ─▶ [stopped] ─▶ the clock ─▶ send ─▶ [stopped] ─▶ write
 * ```
 *
 * Temporal takes most of a minute to give a call up, so all of them stand still side by side, each in a scene of its
 * own.
 */
import { msToTs } from '@temporalio/common/lib/time';
import { callsTo, changeOrdersOf } from '../../../sandbox/sentences';
import { startProcess, type RunningProcess } from '../../../scripts/processes';
import { Authority } from '../../support/certificates';
import { programOf, stopPoints } from '../../support/programs';
import { startLink, startTlsProxy, type Link } from '../../support/proxies';
import { changeRequest } from '../../support/requests';
import { itInWays, takesAll } from '../../support/left-out';
import { isStopped } from '../../support/is-running';
import { Rig, until } from '../../support/rig';
import { rowsIn } from '../../support/rows-and-ledger';
import { answer, outcomeOf, untilWaiting } from '../../support/sagas';
import { rulesThatHeld, type Rule } from './rules-held';

type Request = ReturnType<typeof changeRequest>;

let authority: Authority;

/** A namespace, a journal, a provider behind TLS, and a worker as a process of its own; others are in this one. */
class Scene {
  readonly request: Request = changeRequest();
  private worker: RunningProcess | undefined;

  private constructor(
    readonly rig: Rig,
    readonly gateway: Link,
    private readonly closeTls: () => Promise<void>,
  ) {}

  static async open(): Promise<Scene> {
    const rig = await Rig.start({ worker: false });
    const certificate = authority.forServer('DNS:localhost', 'IP:127.0.0.1');
    const tls = await startTlsProxy({ certificate, to: new URL(rig.sandbox.url).host, protocol: 'http/1.1' });
    return new Scene(rig, await startLink(tls.address), tls.close);
  }

  async startWorker(environment: Record<string, string> = {}): Promise<RunningProcess> {
    const settings = {
      ...this.rig.environment,
      PROVIDER_BASE_URL: `https://localhost:${this.gateway.port}`,
      PROVIDER_CA_FILE: authority.certificate.certFile,
      PROVIDER_TIMEOUT_MS: '3000',
      ...environment,
    };
    this.worker = await startProcess(programOf('worker'), settings, ['--require', stopPoints]);
    return this.worker;
  }

  /** Lets the worker go on, and returns when it has said what became of its call. */
  async thaw(): Promise<void> {
    if (this.worker) process.kill(this.worker.pid, 'SIGCONT');
    await until(() => this.words.some((word) => word !== 'send'));
  }

  private get words(): string[] {
    const said = `pivot of ${this.request.reference}: `;
    const lines = this.worker?.errors().split('\n') ?? [];
    return lines.filter((line) => line.startsWith(said)).map((line) => line.slice(said.length));
  }

  held(): Promise<Rule[]> {
    return rulesThatHeld(this.rig, this.rig.latest('changeOrder', this.request), this.words);
  }

  get placed(): unknown[] {
    return changeOrdersOf(this.rig.sandbox.ledger, this.request.subscription_id);
  }

  get sent(): unknown[] {
    const calls = callsTo(this.rig.sandbox.ledger, 'place-change-order');
    return calls.filter(({ names }) => names.subscriptionId?.includes(this.request.subscription_id));
  }

  /** The outcome of each row of the order, the oldest first. */
  async rows(): Promise<unknown[]> {
    const rows = await this.rig.withJournal(({ db }) => rowsIn(db));
    const own = rows.filter(({ reference, kind }) => reference === this.request.reference && kind === 'pivot');
    return own.map(({ outcome, late }) => (late ? `${outcome}, late` : outcome));
  }

  async close(): Promise<void> {
    await this.worker?.kill('SIGKILL');
    await this.gateway.close();
    await this.closeTls();
    await this.rig.close();
  }
}

/** Stopped while its TLS handshake is held: everything was looked at, and the request is about to be written. */
async function stoppedBeforeSending(scene: Scene) {
  const frozen = await scene.startWorker();
  const { sandbox, sagas } = scene.rig;
  // Not the handshake of the quote; an order always opens a connection of its own.
  const match = { subscriptionId: scene.request.subscription_id };
  const quoted = sandbox.faults.add({ endpoint: 'quote-change-order', kind: 'gate', hold: 'after', match });
  const saga = await sagas.change(scene.request);
  await sandbox.whenStruck(quoted);
  const stands = scene.gateway.hold();
  sandbox.faults.release(quoted);
  await stands;
  process.kill(frozen.pid, 'SIGSTOP');
  expect(await scene.rows()).toEqual([null]);
  scene.gateway.letGo();
  await scene.rig.startWorker();
  return saga;
}

interface Told {
  play: (scene: Scene) => Promise<void>;
  /** Another one of these would hide that one of them is gone. */
  held: Rule[];
  /** The order is there once where it is done, and was sent as often. */
  rows: string[];
}

const scenes: Record<string, Told> = {
  'about to send, until a person has said that it was not placed: it does not send': {
    play: async (scene) => {
      const saga = await stoppedBeforeSending(scene);
      await untilWaiting(saga, 'outcome-unknown');
      expect(scene.sent).toEqual([]);
      // A true word: the panel shows none.
      await answer(saga, 'confirmNotPlaced', { note: 'the panel shows none' });
      await saga.result();
      await scene.thaw();
    },
    held: ['time-out', 'wait'],
    rows: ['denied', 'done'],
  },

  'about to send, of a saga that was cancelled meanwhile: it does not send': {
    play: async (scene) => {
      const saga = await stoppedBeforeSending(scene);
      await saga.cancel();
      const { cancelled } = await outcomeOf(saga);
      // The row is there, and nobody has heard of its call.
      expect(cancelled?.leftovers).toMatchObject([{ kind: 'placement-unknown', step: 'place-change-order' }]);
      await scene.thaw();
    },
    held: ['time-out'],
    rows: ['not-done'],
  },

  // Who had not intended it yet is forgotten; who had is asked about, since nobody has the answer.
  'stopped before-intend, and let go when others have gone on: one effect, and it is known': {
    play: (scene) => letGoLater(scene, 'before-intend'),
    held: ['owner'],
    rows: ['done'],
  },
  'stopped after-intend, and let go when others have gone on: one effect, and it is known': {
    play: (scene) => letGoLater(scene, 'after-intend'),
    held: ['clock', 'wait'],
    rows: ['denied', 'done'],
  },
  'stopped before-answered, and let go when others have gone on: one effect, and it is known': {
    play: (scene) => letGoLater(scene, 'before-answered'),
    held: ['wait'],
    rows: ['done'],
  },

  'handed out twice, because its attempts were raised and it was reset: it is sent once': {
    play: async (scene) => {
      const { rig, request } = scene;
      const first = await scene.startWorker({ PROVIDER_TIMEOUT_MS: '20000' });
      const match = { subscriptionId: request.subscription_id };
      const gate = rig.sandbox.faults.add({ endpoint: 'place-change-order', kind: 'gate', hold: 'after', match });
      const saga = await rig.sagas.change(request);
      await rig.sandbox.whenStruck(gate);
      const call = {
        namespace: rig.namespace,
        execution: { workflowId: saga.workflowId },
        type: 'placeChangeOrder',
      };
      // As the Web UI does it: Pending Activities, Update; then Reset.
      await rig.temporal.workflowService.updateActivityOptions({
        ...call,
        activityOptions: { retryPolicy: { maximumAttempts: 5 }, startToCloseTimeout: msToTs('1 second') },
        updateMask: { paths: ['retry_policy.maximum_attempts', 'start_to_close_timeout'] },
      });
      await first.kill('SIGKILL');
      rig.sandbox.faults.release(gate);
      await rig.temporal.workflowService.resetActivity(call);
      await rig.startWorker();
      await untilWaiting(saga, 'outcome-unknown');
      expect(scene.sent).toHaveLength(1);
      await answer(saga, 'confirmPlaced', { note: 'the panel shows it' });
      await saga.result();
    },
    held: ['unique', 'wait'],
    rows: ['done'],
  },
};

async function letGoLater(scene: Scene, at: 'before-intend' | 'after-intend' | 'before-answered'): Promise<void> {
  const isSent = at === 'before-answered';
  const frozen = await scene.startWorker({ STOP_AT: at });
  const saga = await scene.rig.sagas.change(scene.request);
  await until(() => isStopped(frozen.pid));
  await scene.rig.startWorker();
  if (at !== 'before-intend') {
    await untilWaiting(saga, 'outcome-unknown');
    expect(scene.placed).toHaveLength(isSent ? 1 : 0);
    const decision = isSent ? 'confirmPlaced' : 'confirmNotPlaced';
    await answer(saga, decision, { note: 'as the panel shows' });
  }
  await saga.result();
  await scene.thaw();
}

/** Each takes as long as a call may be in flight; these differ in which rule holds. */
const isTakenInOneWay = (name: string) => /person|before-intend|after-intend|handed out twice/.test(name);
const played = new Map<string, Promise<void>>();

beforeAll(() => {
  authority = new Authority();
  for (const [name, { play, held, rows }] of Object.entries(scenes)) {
    if (!takesAll && !isTakenInOneWay(name)) continue;
    const playing = (async () => {
      const scene = await Scene.open();
      try {
        await play(scene);
        expect(await scene.held()).toEqual(held);
        expect(await scene.rows()).toEqual(rows);
        const times = rows.includes('done') ? 1 : 0;
        expect([scene.placed.length, scene.sent.length]).toEqual([times, times]);
      } finally {
        await scene.close();
      }
    })();
    // Each test looks at its own.
    playing.catch(() => undefined);
    played.set(name, playing);
  }
});
afterAll(async () => {
  await Promise.allSettled(played.values());
  authority.remove();
});

const seen = async (name: string) => {
  await played.get(name);
};
const names = Object.keys(scenes);
it.each(names.filter(isTakenInOneWay))('%s', seen);
itInWays.each(names.filter((name) => !isTakenInOneWay(name)))('%s', seen);
