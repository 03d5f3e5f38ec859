/**
 * A bad night, rehearsed: orders come at a steady rate; the provider takes some without an answer, and then answers
 * nothing; it comes back; one person sees to what is left.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { EndpointName } from '../../../sandbox/endpoints';
import { SearchAttributesMissingError } from '../../../src/client/errors';
import type { SagaHandle } from '../../../src/client/handle';
import { workflowNames } from '../../../src/domain/identity';
import type { SweepReport } from '../../../src/domain/reconcile';
import { Closers } from '../chaos/closers';
import type { Section } from '../chaos/table';
import { outcomeOf } from '../../support/sagas';
import { doubtfulAddsOf, judge, type Lived } from './judgement';
import { sectionsOf, type Phase, type Seen } from './figures';
import { requestNumber } from './requests';
import { startWorld, type World, type WorldOptions } from './world';

export interface NightOptions extends WorldOptions {
  sagas: number;
  /** How many of them come in one second. */
  perSecond: number;
}

export interface NightResult {
  sections: Section[];
  violations: string[];
}

/**
 * The shares of all requests that have come when things change for the worse, and the least of them before they change
 * for the better.
 */
const shares = { doubt: 0.35, down: 0.5, back: 0.75 };

/** At a pace a person dares: the sagas are decided, so many in a second. */
const decidedPerSecond = 20;

const pivots: EndpointName[] = ['place-order', 'place-change-order', 'switch-plan'];
const others: EndpointName[] = [
  'add-cart-item',
  'delete-cart-item',
  'quote-change-order',
  'quote-plan-switch',
  'assign-firewalls',
  'unassign-firewalls',
  'list-firewalls',
];
const before = ['error-before', 'reset-before'] as const;
const after = ['error-after', 'reset-after'] as const;

/** Those that have ended say so at once. */
const answerMs = 5_000;

const none = { stuck: 0, doubtful: 0, held: 0 };

interface Started extends Lived {
  saga: SagaHandle;
}

export class NightRun {
  private readonly closers = new Closers();
  private readonly started: Started[] = [];
  private readonly phases: Phase[] = [];
  private readonly failures: string[] = [];
  private readonly seen: Seen = {
    ...none,
    most: { ...none },
    hold: undefined,
    firstWaitMs: Infinity,
  };
  private isOver = false;

  constructor(private readonly options: NightOptions) {}

  async result(): Promise<NightResult> {
    const world = await startWorld(this.closers, this.options);
    const watching = this.watch(world);
    let sweep: SweepReport | undefined;
    try {
      sweep = await this.live(world);
    } catch (error) {
      // A night that stands still is judged by what there is.
      this.failures.push(error instanceof Error ? error.message : String(error));
    }
    this.isOver = true;
    await watching;
    this.phase('judgement');
    await this.hearAll();
    await world.crew.close();
    const rows = await world.journal.rows();
    const { ledger } = world.sandbox;
    const { callsPerSecond } = this.options;
    const broken = judge({ ledger, rows, sagas: this.started, callsPerSecond, sweep });
    const { phases, seen, started: sagas } = this;
    const sections = sectionsOf({ phases, seen, sagas, broken, ledger, rows, callsPerSecond, person: world.person });
    return { sections, violations: [...this.failures, ...Object.values(broken).flat(), ...world.crew.mishaps] };
  }

  /** Ends everything that was started, whatever is under way. */
  close(): Promise<void> {
    this.isOver = true;
    return this.closers.close();
  }

  /** @returns what the sweep at the end says */
  private async live(world: World): Promise<SweepReport | undefined> {
    const { sandbox, person } = world;
    const { sagas } = this.options;
    this.phase('a good evening');
    const coming = this.come(world);
    const some = (share: number) => this.started.length >= share * sagas;
    await this.until('orders come', () => some(shares.doubt));

    this.phase('orders are taken without an answer');
    const doubts = sandbox.faults.random({ seed: 6, rate: 1, kinds: [...before, ...after], endpoints: pivots });
    await Promise.race([sandbox.whenStruck(doubts, Math.ceil(sagas * 0.05)), coming]);
    await this.until('orders come', () => some(shares.down));

    this.phase('nothing answers');
    // Most of what was not answered was not done either.
    const kinds = [...before, ...before, ...before, ...after];
    sandbox.faults.random({ seed: 2, rate: 1, kinds, endpoints: others });
    await this.until('a worker holds, and some are held, some stuck', () => {
      const { hold, held, stuck } = this.seen;
      return some(shares.back) && hold?.until !== undefined && held > 0 && stuck > 0;
    });

    this.phase('it answers again; the hold ends by its time');
    sandbox.faults.clear();
    await coming;
    await this.until('the hold is released', async () => (await world.sagas.holding()) === undefined);
    await this.until('all others have ended', async () => {
      const { stuck, doubtful, held } = this.seen;
      return held === 0 && (await countOpen(world)) === stuck + doubtful;
    });

    this.phase('a person looks');
    await person.look();

    this.phase('one job for what is stuck');
    await person.retryStuck(decidedPerSecond);

    this.phase('a decision for each that is in doubt');
    await person.answerDoubts(decidedPerSecond);

    this.phase('the last ones end');
    await this.until('all have ended', async () => (await countOpen(world)) === 0);
    await this.hearAll();
    for (const lived of this.started) {
      const doubtful = doubtfulAddsOf(lived);
      if (doubtful > 0) person.emptyCart(lived.asked.request.reference, doubtful);
    }

    this.phase('reconciliation');
    return (await person.reconcile()).report;
  }

  /** As many as there are, one after the other. */
  private async come({ sagas }: World): Promise<void> {
    const beginMs = Date.now();
    const { perSecond, sagas: count } = this.options;
    for (let nth = 0; nth < count && !this.isOver; nth += 1) {
      await pause(Math.max(0, beginMs + (nth * 1_000) / perSecond - Date.now()));
      const asked = requestNumber(nth);
      this.started.push({ asked, saga: await sagas.start(asked.workflow, asked.request) });
    }
  }

  /** Of one that is open nothing is heard. */
  private async hearAll(): Promise<void> {
    const waiting = this.started.filter(({ ended }) => ended === undefined);
    const hearing = async () => {
      for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
        const ended = await Promise.race([outcomeOf(next.saga), pause(answerMs, undefined)]);
        if (ended !== undefined) next.ended = ended;
      }
    };
    await Promise.all(Array.from({ length: 20 }, hearing));
  }

  /** What a dashboard would show, twice a second. */
  private async watch({ sagas }: World): Promise<void> {
    const { seen } = this;
    while (!this.isOver) {
      await pause(500);
      const looks = [sagas.inbox({ limit: 1 }), sagas.holding(), sagas.countHeld()] as const;
      const [inbox, hold, held = 0] = await Promise.all(looks).catch(notYetNamed);
      if (inbox === undefined) continue;
      const group = (kind: string) => inbox.groups.find(({ name }) => name === kind);
      seen.stuck = group('stuck')?.count ?? 0;
      seen.doubtful = group('outcome-unknown')?.count ?? 0;
      seen.held = held;
      seen.most = {
        stuck: Math.max(seen.most.stuck, seen.stuck),
        doubtful: Math.max(seen.most.doubtful, seen.doubtful),
        held: Math.max(seen.most.held, seen.held),
      };
      seen.hold ??= hold;
      const since = [group('stuck'), group('outcome-unknown')].flatMap(
        (one) => one?.oldest.waitingSince.getTime() ?? [],
      );
      seen.firstWaitMs = Math.min(seen.firstWaitMs, ...since);
    }
  }

  private phase(name: string): void {
    const now = Date.now();
    const last = this.phases.at(-1);
    if (last !== undefined) last.endMs = now;
    this.phases.push({ name, beginMs: now });
    process.stderr.write(`${name}\n`);
  }

  /** @throws when it has not come about within the patience */
  private async until(what: string, look: () => boolean | Promise<boolean>): Promise<void> {
    const deadline = Date.now() + this.options.patienceMs;
    while (!(await look())) {
      if (Date.now() > deadline) throw new Error(`“${what}” did not come about within ${this.options.patienceMs} ms`);
      await pause(250);
    }
  }
}

async function countOpen({ temporal }: World): Promise<number> {
  const types = workflowNames.map((name) => `'${name}'`).join();
  return (await temporal.workflow.count(`ExecutionStatus = 'Running' AND WorkflowType IN (${types})`)).count;
}

/** What a worker adds to the search attributes of a namespace can be asked for only after a moment. */
function notYetNamed(error: unknown): [undefined, undefined, undefined] {
  if (error instanceof SearchAttributesMissingError) return [undefined, undefined, undefined];
  throw error;
}
