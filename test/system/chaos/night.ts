/**
 * A bad night, rehearsed: orders come at a steady rate; the provider takes some items without an answer, and then nothing
 * at all; it comes back, and the sagas end by themselves, without a decision by anybody.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { EndpointName } from '../../../sandbox/endpoints';
import type { Call, LedgerSnapshot } from '../../../sandbox/ledger';
import { openCartItems } from '../../../sandbox/sentences';
import type { SagaHandle } from '../../../src/client/handle';
import type { ProvisionServersRequest } from '../../../src/domain/requests';
import type { SweepReport } from '../../../src/domain/reconcile';
import { asks, provision } from '../../support/asks';
import { buildPrograms } from '../../support/programs';
import { pivots, type Asked } from '../../support/promises';
import { planIdOf } from '../../support/requests';
import { reportOf } from '../../support/sagas';
import { doubtfulAddsOf, endOf, violationsOf, type Lived } from './judgement';
import { MortalServer } from './mortal-server';
import { counted, needed, Phases, type Section, type Told } from './report';
import { countOpen, journalInFile, rowsOf, startWorld, type Closers, type World } from './world';

export interface NightOptions {
  sagas: number;
  perSecond: number;
  patienceMs: number;
}

const workers = 2;

/**
 * The shares of all requests that have come when things change for the worse, and the least of them before they change
 * for the better; and the least of them that are stuck by then.
 */
const shares = { down: 0.4, back: 0.75, stuck: 0.1 };

/** Of the first ones each tenth has an item added without an answer, once: it is tried again, and nobody is asked. */
const losesItem = (nth: number, sagas: number) => nth % 10 === 0 && nth < (shares.down * sagas) / 2;

/** These are turned away, so that they are surely not done; the others may be. */
const turnedAway: EndpointName[] = ['add-cart-item', ...pivots];
const others: EndpointName[] = [
  'delete-cart-item',
  'quote-change-order',
  'quote-plan-switch',
  'assign-firewalls',
  'unassign-firewalls',
  'list-firewalls',
];
const before = ['error-before', 'reset-before'] as const;
const after = ['error-after', 'reset-after'] as const;

interface Started extends Lived {
  saga: SagaHandle;
}

export async function liveThroughNight(options: NightOptions, closers: Closers): Promise<Told> {
  const compiled = await buildPrograms();
  const { address } = await closers.keep(MortalServer.start(), (server) => server.close());
  const { url: journalUrl } = await journalInFile(closers);
  const settings = {
    PROVIDER_CALLS_PER_SECOND: '60',
    PROVIDER_TIMEOUT_MS: '3000',
    PROVIDER_SETTLES_MS: '3000',
    RETRY_BUDGET: '3,200,1000,60000',
    // Minutes of a real night are seconds here.
    OWN_TRIES_MS: '2000,4000,8000',
  };
  const world = await startWorld(closers, { compiled, address, journalUrl, settings });
  const crew = await world.hire(workers);
  const night = new Night(world, options);
  closers.add(() => night.end());
  const violations: string[] = [];
  let sweep: SweepReport | undefined;
  try {
    sweep = await night.live();
  } catch (error) {
    // A night that stands still is judged by what there is.
    violations.push(String(error));
  }
  night.end();
  await night.hearAll();
  await crew.close();
  const { started } = night;
  const { ledger } = world.sandbox;
  violations.push(...violationsOf(ledger, started, await rowsOf(journalUrl)));
  violations.push(...addedTooOften(ledger, started), ...decided(started));
  violations.push(...openCartItems(ledger).map(({ cartItemId }) => `cart item ${cartItemId} is left`));
  if (sweep?.outcome !== 'clean') violations.push(`the sweep at the end: ${JSON.stringify(sweep ?? 'none ended')}`);
  return { sections: sectionsOf(night), violations: [...violations, ...crew.mishaps] };
}

class Night {
  readonly started: Started[] = [];
  readonly phases = new Phases();
  /** The worst figures that a dashboard showed. */
  readonly seen = { stuck: 0 };
  private isOver = false;

  constructor(
    readonly world: World,
    private readonly options: NightOptions,
  ) {}

  end(): void {
    this.isOver = true;
  }

  async live(): Promise<SweepReport | undefined> {
    const { world, phases, seen } = this;
    const { sandbox, person } = world;
    const { sagas } = this.options;
    phases.begin('a good evening');
    const coming = this.come();
    const some = (share: number) => this.started.length >= share * sagas;
    // In an outage a person would be asked about such an item.
    await this.until('orders come, and what was lost is added again', () => some(shares.down) && this.isAddedAgain());

    phases.begin('nothing answers');
    // Most of what was not answered was not done either.
    const kinds = [...before, ...before, ...before, ...after];
    sandbox.faults.random({ seed: 2, rate: 1, kinds, endpoints: others });
    sandbox.faults.random({ seed: 3, rate: 1, kinds: ['rate-limit'], endpoints: turnedAway });
    await this.until('some are stuck', async () => {
      await this.look();
      return some(shares.back) && seen.stuck >= shares.stuck * sagas;
    });

    phases.begin('it answers again, and nobody decides anything');
    sandbox.faults.clear();
    await coming;
    await this.until('all have ended by themselves', async () => (await countOpen(world)) === 0);
    await this.hearAll();
    // Not a decision: what a lost answer has left in the cart is told in the outcome.
    for (const lived of this.started) {
      const doubtful = doubtfulAddsOf(lived);
      if (doubtful > 0) person.emptyCart(lived.asked.request.reference, doubtful);
    }

    phases.begin('reconciliation');
    return (await person.reconcile()).report;
  }

  /** Open ones do not answer. Twenty are asked at once. */
  async hearAll(): Promise<void> {
    const waiting = this.started.filter(({ ended }) => ended === undefined);
    while (waiting.length > 0) {
      const some = waiting.splice(0, 20);
      await Promise.all(some.map(async (one) => Object.assign(one, await endOf(one.saga))));
    }
  }

  /** As many as there are, one after the other. */
  private async come(): Promise<void> {
    const beginMs = Date.now();
    const { perSecond, sagas: count } = this.options;
    for (let nth = 0; nth < count && !this.isOver; nth += 1) {
      await pause(Math.max(0, beginMs + (nth * 1_000) / perSecond - Date.now()));
      const asked = requestNumber(nth);
      const match = { planId: planIdOf(asked.request.reference) };
      if (losesItem(nth, count))
        this.world.sandbox.faults.add({ endpoint: 'add-cart-item', kind: 'reset-after', match });
      this.started.push({ asked, saga: await this.world.sagas.start(asked.workflow, asked.request) });
    }
  }

  private isAddedAgain(): boolean {
    const { calls, faultsStruck } = this.world.sandbox.ledger;
    const lost = calls.filter(({ seq }) => faultsStruck.some(({ callSeq }) => callSeq === seq));
    const isAgain = ({ seq, names }: Call) =>
      calls.some((one) => one.seq > seq && one.status === 200 && String(one.names.planId) === String(names.planId));
    return lost.length > 0 && lost.every(isAgain);
  }

  private async look(): Promise<void> {
    const { groups } = await this.world.sagas.inbox({ limit: 1 });
    const stuck = groups.find(({ name }) => name === 'stuck')?.count ?? 0;
    this.seen.stuck = Math.max(this.seen.stuck, stuck);
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

/** One call more than items, where an answer was lost. */
function addedTooOften({ entries }: LedgerSnapshot, sagas: readonly Started[]): string[] {
  return sagas.flatMap(({ asked }) => {
    const { reference, items } = asked.request as Partial<ProvisionServersRequest>;
    const planId = planIdOf(reference ?? '');
    const added = entries.filter((one) => one.type === 'cartItemAdded' && one.item.plan_id === planId).length;
    return items && added > items.length + 1 ? [`${reference}: ${added} items were added for ${items.length}`] : [];
  });
}

function decided(sagas: readonly Started[]): string[] {
  return sagas.flatMap(({ asked, ended }) => {
    const { decisions = [] } = (ended?.result ?? {}) as { decisions?: unknown[] };
    return decisions.length === 0 ? [] : [`${asked.request.reference}: a person has decided`];
  });
}

/** The shop's sales of that night: mostly servers, and now and then a change of a subscription or of a plan. */
function requestNumber(nth: number): Asked {
  if (nth % 10 === 8) return asks.changeOrder.change();
  if (nth % 10 === 9) return asks.switchPlan.switch();
  return provision({ items: [{ quantity: nth % 5 === 0 ? 2 : 1 }], firewalls: [143] })();
}

function sectionsOf({ world, started, phases, seen }: Night): Section[] {
  const { ledger } = world.sandbox;
  const { looks } = world.person;
  const struck = (moment: string) => ledger.faultsStruck.filter(({ kind }) => kind.endsWith(moment)).length;
  const outcomes = started.map(({ asked, ended = {} }) => {
    const { outcome = 'open' } = (ended.result ?? reportOf(ended) ?? {}) as { outcome?: string };
    return `${asked.workflow} ${outcome}`;
  });
  return [
    phases.section(),
    {
      title: 'What went wrong',
      figures: [
        needed('calls without an answer that were not done', struck('before')),
        needed('calls without an answer that were done', struck('after')),
        needed('stuck, at most', seen.stuck),
        { of: 'cart items looked for in the panel', count: looks.cartItems },
      ],
    },
    { title: 'Sagas by outcome', figures: counted(outcomes) },
    {
      title: 'Calls, by the ledger',
      figures: [
        { of: 'in all', count: ledger.calls.length },
        { of: 'that took effect', count: ledger.entries.length },
      ],
    },
  ];
}
