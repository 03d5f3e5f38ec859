/**
 * A plan carried out: everything started, everything hit, everything waited for, everything judged, everything tidied
 * away.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { historyToJSON } from '@temporalio/common/lib/proto-utils';
import { fits } from '../../../../sandbox/faults';
import { workflowIdOf } from '../../../../src/domain/identity';
import { buildPrograms, bundleOf } from '../../../support/programs';
import { judge } from '../judgement';
import { counted, needed, type Figure, type Section, type Told } from '../report';
import { rowsOf, startWorld, type Closers } from '../world';
import { hearHistories, historyOf, type Testimony } from './histories';
import { groundOf, type Ground, type Lie } from './lies';
import { live, liveOn, type Lived, type Storm } from './life';
import { spoilingKinds, type ChaosPlan, type Loss, type PlannedSaga } from './plan';
import { RandomOperator } from './random-operator';

export interface ChaosOptions {
  lie?: Lie | undefined;
  atOnce: number;
  /** After so long without any saga's end the open ones count as forgotten. */
  patienceMs: number;
}

export interface ChaosResult extends Told {
  /** All that is known of the sagas that broke a promise. */
  suspects: unknown[];
}

const workers = 2;

/** At most so many of those that had ended are asked for again when Temporal lost everything. */
const forgottenMax = 30;

export class ChaosRun {
  private lives: Lived[] = [];
  /** Those of the past whose end Temporal has forgotten: they come to another one. */
  private readonly livingOn: Promise<void>[] = [];
  private readonly open = new Map<PlannedSaga, number>();
  /** Open sagas, at each death of the server and of the journal's database. */
  private readonly serverDeaths: { how: Loss['how']; open: number }[] = [];
  private readonly journalDeaths: number[] = [];
  private lastJournalDeath: Promise<void> = Promise.resolve();
  private isOver = false;
  private readonly endedMs = new Map<PlannedSaga, number>();
  private copiedMs = 0;
  /** Those that were open when Temporal forgot something: what they heard last may be of before. */
  private readonly shaken = new Set<PlannedSaga>();
  private readonly failures: string[] = [];
  private lastEndMs = Date.now();

  constructor(
    private readonly plan: ChaosPlan,
    private readonly options: ChaosOptions,
    private readonly closers: Closers,
  ) {}

  async result(): Promise<ChaosResult> {
    const compiled = await buildPrograms();
    const ground = await groundOf(this.options.lie, this.closers);
    this.closers.add(() => {
      this.isOver = true;
      return this.lastJournalDeath;
    });
    const world = await this.world(compiled, ground);
    const operator = new RandomOperator(world, this.plan.seed, this.plan.sagas);
    operator.begin();
    const telling = setInterval(() => this.tell(world, operator), 5_000);
    const forgotten = await this.liveAll(world, operator, ground);
    clearInterval(telling);
    await operator.goHome();
    await world.crew.close();

    this.say('all have settled; hearing and replaying the histories');
    const testimony = await hearHistories(world.temporal, bundleOf({}, compiled));
    const { ledger } = world.sandbox;
    const rows = await rowsOf(ground.journal.url);
    const { doubled, broken, differing, suspects } = judge(ledger, this.lives, rows);
    const unreplayed = this.lives.filter(({ planned: { asked } }) =>
      testimony.suspects.has(workflowIdOf(asked.workflow, asked.request.reference)),
    );
    return {
      sections: [
        ...this.struck(world, ground, testimony, operator),
        {
          title: 'The journal, held against the ledger',
          figures: [
            { of: 'rows', count: rows.length },
            { of: 'effects', count: ledger.entries.length },
            { of: 'differences', count: differing.length },
            { of: 'runs that replay', count: testimony.replayed },
          ],
        },
        { title: 'Questions, by kind', figures: this.questions(operator) },
        { title: 'Sagas by outcome', figures: counted(this.lives.map(outcomeOf)) },
      ],
      violations: [
        ...doubled,
        ...broken,
        ...forgotten.map((one) => `${one}: was forgotten: it neither ended nor waits where the list shows it`),
        ...differing,
        ...this.failures,
        ...testimony.broken,
        ...world.crew.mishaps,
        ...operator.surprises,
      ],
      suspects: await Promise.all([...suspects, ...unreplayed].map((lived) => fileOn(world, lived))),
    };
  }

  private async world(compiled: string, { server, journal, environmentOf }: Ground): Promise<Storm> {
    const { unavailableSubscriptions, unkindness } = this.plan;
    const world = await startWorld(this.closers, {
      ...{ compiled, environmentOf, address: server.address, journalUrl: journal.url },
      sandbox: { anyServer: true, ...unkindness, unavailableSubscriptions },
      settings: {
        // A call that hangs is given up by then; the sandbox takes 20 ms for one.
        PROVIDER_TIMEOUT_MS: '1500',
        PROVIDER_SETTLES_MS: '3000',
        RETRY_BUDGET: '3,50,500,60000',
      },
    });
    const losses = () => this.serverDeaths.filter(({ how }) => how !== 'crash').length;
    const deeds = { cancelled: 0, terminated: 0, reset: 0, startedAgain: 0 };
    return { ...world, crew: await world.hire(workers), losses, deeds };
  }

  private async liveAll(world: Storm, operator: RandomOperator, ground: Ground): Promise<string[]> {
    const waiting = [...this.plan.sagas];
    const livingOn = async () => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
        await this.liveOne(world, next, ground);
    };
    this.lastEndMs = Date.now();
    const lived = Promise.all(Array.from({ length: this.options.atOnce }, livingOn)).then(async () => {
      // While they live on, others may be added.
      for (const one of this.livingOn) await one;
      return true;
    });
    while (!(await Promise.race([lived, pause(1_000, false)]))) {
      if (Date.now() - this.lastEndMs <= this.options.patienceMs) continue;
      const inTheList = new Set(operator.waiting.map(({ reference }) => reference));
      const open = [...this.open.keys()].map(({ asked }) => asked.request.reference);
      waiting.length = 0;
      return open.filter((reference) => !inTheList.has(reference));
    }
    return [];
  }

  private async liveOne(world: Storm, planned: PlannedSaga, ground: Ground): Promise<void> {
    const lived = await this.whileOpen(planned, () => live(world, planned));
    if (lived === undefined) return;
    const ended = this.lives.push(lived);
    if (this.shaken.has(planned)) this.livingOn.push(this.liveOn(world, lived));
    const { losses, journalDeaths } = this.plan;
    const { server, isMortal } = ground;
    if (journalDeaths.includes(ended)) this.killJournal(ground);
    for (const loss of isMortal ? losses : []) {
      if (loss.how === 'restored' && loss.copiedAt === ended) {
        this.copiedMs = Date.now();
        void server.copy();
      }
      if (loss.ended === ended) void this.lose(world, server, loss);
    }
  }

  private async whileOpen(planned: PlannedSaga, living: () => Promise<Lived>): Promise<Lived | undefined> {
    this.open.set(planned, Date.now());
    try {
      return await living();
    } catch (error) {
      this.failures.push(`${planned.asked.request.reference}: ${String(error)}`);
      return undefined;
    } finally {
      this.open.delete(planned);
      this.lastEndMs = Date.now();
      this.endedMs.set(planned, this.lastEndMs);
    }
  }

  /** One death after the other, however close together they are asked for. */
  private killJournal({ journal: { cluster } }: Ground): void {
    if (cluster === undefined) return;
    this.lastJournalDeath = this.lastJournalDeath.then(async () => {
      if (this.isOver) return;
      await cluster.part.kill();
      this.journalDeaths.push(this.open.size);
      await cluster.part.restart();
    });
  }

  private lose(world: Storm, server: Ground['server'], { how }: Loss): Promise<void> {
    return server.die(how, async () => {
      this.serverDeaths.push({ how, open: this.open.size });
      if (how === 'crash') return;
      // Their memory is of a server that is no more; whoever puts a database back starts the workers anew.
      await world.crew.killAll();
      // The backend sends again the last ones of those that were forgotten altogether; of the others, all.
      for (const planned of this.open.keys()) this.shaken.add(planned);
      const endedMs = ({ planned }: Lived) => this.endedMs.get(planned) ?? 0;
      const ended = this.lives.filter(({ planned }) => !this.open.has(planned));
      const forgotten =
        how === 'restored'
          ? ended.filter((lived) => endedMs(lived) >= this.copiedMs)
          : ended.sort((one, other) => endedMs(one) - endedMs(other)).slice(-forgottenMax);
      for (const lived of forgotten) this.livingOn.push(this.liveOn(world, lived));
    });
  }

  private async liveOn(world: Storm, lived: Lived): Promise<void> {
    const { planned } = lived;
    for (let last: Lived | undefined = lived; last !== undefined;) {
      const before: Lived = last;
      this.shaken.delete(planned);
      const next = await this.whileOpen(planned, () => liveOn(world, before));
      if (next !== undefined) this.lives = this.lives.map((one) => (one.planned === planned ? next : one));
      last = this.shaken.has(planned) ? next : undefined;
    }
  }

  private struck(
    { sandbox, crew, deeds }: Storm,
    { isMortal, told, journal }: Ground,
    testimony: Testimony,
    operator: RandomOperator,
  ): Section[] {
    const strikes = (kind: string) => sandbox.ledger.faultsStruck.filter((struck) => struck.kind === kind).length;
    const unready = sandbox.ledger.calls.filter(
      ({ status, faults }) => faults.length === 0 && [400, 404, 409, 422, 423, 425].includes(status ?? 0),
    ).length;
    const ends = (signal: string) => crew.ends.filter((end) => end.signal === signal).map(({ held }) => held);
    const held = (of: string, signal: string) => ({
      ...needed(of, ends(signal).length),
      detail: `holding ${ends(signal).join(', ')} calls`,
    });
    const servers = (of: string, how: Loss['how']) => {
      const deaths = this.serverDeaths.filter((death) => death.how === how);
      const detail = `with ${deaths.map(({ open }) => open).join(', ')} sagas open`;
      return { of, count: deaths.length, detail, required: isMortal };
    };
    // No plan can see to it that a person comes at such a moment: in a short run nobody may.
    const isLong = this.lives.length >= 500;
    const startedAnew = this.lives.reduce((sum, lived) => sum + lived.startedAnew, 0);
    const foundTwice = this.lives.filter((lived) => lived.foundTwice).length;
    return [
      {
        title: 'Calls that were struck, by the provider’s ledger',
        figures: [
          ...spoilingKinds.map((kind) => needed(kind, strikes(kind))),
          needed('locked, or not ready, of its own accord', unready),
        ],
      },
      {
        title: 'Processes that ended',
        figures: [
          held('workers killed', 'SIGKILL'),
          held('workers stopped', 'SIGTERM'),
          held('workers stood still', 'SIGSTOP'),
          { of: 'workers ended by a fault of Node’s own', count: crew.endedByNode },
          { of: 'calls lost with a worker or a server', count: testimony.lostCalls },
          servers('Temporal killed', 'crash'),
          servers('Temporal restored to a copy', 'restored'),
          servers('Temporal lost everything', 'forgotten'),
          {
            of: 'PostgreSQL of the journal killed',
            count: this.journalDeaths.length,
            detail: `with ${this.journalDeaths.join(', ')} sagas open`,
            required: journal.cluster !== undefined,
          },
        ],
      },
      {
        title: 'Lies, and calls that failed by the journal',
        figures: [
          ...(told ? [{ ...told(), required: true }] : []),
          {
            of: 'tasks that Temporal failed, not knowing our search attributes, done again',
            count: testimony.doneAgain,
          },
          {
            of: 'calls that the journal failed',
            count: testimony.journalFailures,
            required: this.options.lie === 'disk' || this.options.lie === 'line',
          },
        ],
      },
      {
        title: 'What people did, by what Temporal answered, and by the histories',
        figures: [
          needed('cancelled', deeds.cancelled),
          needed('terminated', deeds.terminated),
          needed('reset', deeds.reset),
          needed('deleted', this.meddled('delete', 'delete-ended')),
          needed('sent again, since Temporal knew nothing of it', startedAnew),
          { of: 'a decision of an older question: it was refused', count: operator.refused, required: isLong },
          needed('started again after the end', deeds.startedAgain),
          needed('sent twice: the run was found', foundTwice),
          needed('queued, and told that its turn has come', testimony.turns),
          needed('ended by its deadline', this.lives.filter(endedByDeadline).length),
        ],
      },
    ];
  }

  private meddled(...how: string[]): number {
    const isMeddled = ({ planned, startedAnew }: Lived) =>
      planned.meddling !== undefined && how.includes(planned.meddling.how) && startedAnew > 0;
    return this.lives.filter(isMeddled).length;
  }

  /** One that is asked about a refusal has to be among them. */
  private questions({ questionsOf }: RandomOperator): Figure[] {
    const { refused = 0, ...others } = questionsOf;
    return [needed('refused', refused), ...Object.entries(others).map(([of, count]) => ({ of, count }))];
  }

  private tell({ sandbox, crew }: Storm, { waiting }: RandomOperator): void {
    this.say(
      `${this.lives.length} ended, ${this.open.size} open, ${waiting.length} waiting; ` +
        `${sandbox.ledger.faultsStruck.length} strikes, ${crew.ends.length} workers and ` +
        `${this.serverDeaths.length} servers dead`,
    );
  }

  private say(line: string): void {
    process.stderr.write(`${line}\n`);
  }
}

async function fileOn({ sandbox, temporal }: Storm, lived: Lived) {
  const calls = sandbox.ledger.calls.filter((call) => fits(call, { endpoint: '*', match: lived.planned.calls }));
  const { workflow, request } = lived.planned.asked;
  const runs = [];
  const query = `WorkflowId = '${workflowIdOf(workflow, request.reference)}'`;
  for await (const { workflowId, runId, startTime } of temporal.workflow.list({ query })) {
    const history = await historyOf(temporal, workflowId, runId);
    if (history !== undefined) runs.push({ runId, startTime, history: historyToJSON(history) });
  }
  return { ...lived, calls, runs };
}

const endedByDeadline = ({ ended }: Lived) => ended.failure?.type === 'DeadlinePassed';

const outcomeOf = ({ asked, ended }: Lived) =>
  `${asked.workflow} ${ended.failure ? ended.failure.type : ended.cancelled ? 'cancelled' : 'done'}`;
