/**
 * A bad night, rehearsed: orders come at a steady rate; the provider takes some without an answer, and then answers
 * nothing; it comes back; one person sees to what is left.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { EndpointName } from '../../../../sandbox/endpoints';
import { SearchAttributesMissingError } from '../../../../src/client/errors';
import type { SagaHandle } from '../../../../src/client/handle';
import type { ProvisionServersRequest } from '../../../../src/domain/requests';
import type { SweepReport } from '../../../../src/domain/reconcile';
import { buildPrograms } from '../../../support/programs';
import { pivots, type Asked } from '../../../support/promises';
import { changeRequest, provisionRequest, switchRequest } from '../../../support/requests';
import { outcomeOf } from '../../../support/sagas';
import type { Closers } from '../closers';
import { journalInFile, rowsOf } from '../journal';
import { doubtfulAddsOf, type Lived } from '../judgement';
import { MortalServer } from '../mortal-server';
import type { Phase, Told } from '../report';
import { countOpen, startWorld, type World } from '../world';
import { broken, sectionsOf, type Seen } from './figures';

export interface NightOptions {
  sagas: number;
  /** How many of them come in one second. */
  perSecond: number;
  workers: number;
  /** The limit of calls, for all workers together. */
  callsPerSecond: number;
  patienceMs: number;
}

/**
 * The shares of all requests that have come when things change for the worse, and the least of them before they change
 * for the better.
 */
const shares = { doubt: 0.35, down: 0.5, back: 0.75 };

/** At a pace a person dares: the sagas are decided, so many in a second. */
const pace = ['--rate', '20/s'];

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
  private readonly started: Started[] = [];
  private readonly phases: Phase[] = [];
  private readonly seen: Seen = { ...none, most: { ...none }, hold: undefined, firstWaitMs: Infinity };
  private isOver = false;

  constructor(
    private readonly options: NightOptions,
    private readonly closers: Closers,
  ) {}

  async result(): Promise<Told> {
    const { workers, callsPerSecond } = this.options;
    const compiled = await buildPrograms();
    const { address } = await this.closers.keep(MortalServer.start(), (server) => server.close());
    const { url: journalUrl } = await journalInFile(this.closers);
    const settings = {
      PROVIDER_CALLS_PER_SECOND: String(callsPerSecond),
      PROVIDER_TIMEOUT_MS: '3000',
      PROVIDER_SETTLES_MS: '3000',
      RETRY_BUDGET: '3,200,1000,60000',
      // Minutes of a real night are seconds here.
      OUTAGE_HOLD_MS: '4000',
      OUTAGE_WINDOW_MS: '3000',
      OUTAGE_CALLS_MIN: '8',
    };
    const world = await startWorld(this.closers, { compiled, address, journalUrl, settings });
    const crew = await world.hire(workers);
    this.closers.add(() => (this.isOver = true));
    const watching = this.watch(world);
    const failures: string[] = [];
    let sweep: SweepReport | undefined;
    try {
      sweep = await this.live(world);
    } catch (error) {
      // A night that stands still is judged by what there is.
      failures.push(error instanceof Error ? error.message : String(error));
    }
    this.isOver = true;
    await watching;
    this.phase('judgement');
    await this.hearAll();
    await crew.close();
    const { phases, seen, started: sagas } = this;
    const { ledger } = world.sandbox;
    const night = { ledger, rows: await rowsOf(journalUrl), sagas, callsPerSecond, sweep };
    const answers = broken(night);
    return {
      sections: sectionsOf({ ...night, phases, seen, answers, person: world.person }),
      violations: [...failures, ...Object.values(answers).flat(), ...crew.mishaps],
    };
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
    const doubts = sandbox.faults.random({ seed: 6, rate: 1, kinds: [...before, ...after], endpoints: [...pivots] });
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
    await person.type(['hold', 'status']);
    await person.type(['inbox', '--by', 'step'], [0, 4]);

    this.phase('one job for what is stuck');
    // At a pace, a few first.
    await person.retryStuck('the provider is back', [...pace, '--limit', '3'], [0, 5]);
    await person.retryStuck('the provider is back', pace);

    this.phase('a decision for each that is in doubt');
    await person.answerDoubts(pace);

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
    this.phases.push({ name, beginMs: Date.now() });
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

/** What the shop sells that night: mostly servers, and now and then a change of a subscription or of a plan. */
function requestNumber(nth: number): Asked {
  if (nth % 10 === 8) return { workflow: 'changeOrder', request: changeRequest() };
  if (nth % 10 === 9) return { workflow: 'switchPlan', request: switchRequest() };
  const items = [{ quantity: nth % 5 === 0 ? 2 : 1 }];
  const request = provisionRequest({ items, firewalls: [143] }) as ProvisionServersRequest;
  return { workflow: 'provisionServers', request };
}

/** What a worker adds to the search attributes of a namespace can be asked for only after a moment. */
function notYetNamed(error: unknown): [undefined, undefined, undefined] {
  if (error instanceof SearchAttributesMissingError) return [undefined, undefined, undefined];
  throw error;
}
