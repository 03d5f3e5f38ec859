/**
 * How many sagas a second, how long each takes, and what it costs, beside the same calls without our code.
 *
 * In rounds: each measures every contestant once, beginning with another one each time, so that a machine that is busy
 * for a while is busy for all of them. The first round warms up and is not counted. What is compared is compared within
 * a round.
 */
import type { Built } from './built';
import { closedLoop } from './closed-loop';
import { startContestants, type Contestant, type ContestantName } from './contestants';
import { countHistory, type HistoryCounts } from './history-counts';
import { markdownTable } from './markdown';
import { cpuMs, cpuMsWithChildren, load, residentMiB } from './process-figures';
import { provisionRequest } from './requests';
import { Stand, type Store } from './stand';
import { median, percentile, ratioOfRounds } from './statistics';

export interface ThroughputOptions {
  built: Built;
  rounds: number;
  /**
   * Of each contestant, in each round, at each number at once; more where so many at once need more to come into step.
   */
  sagas: number;
  atOnce: readonly number[];
  stores: readonly Store[];
  say: (line: string) => void;
}

/** Whose processor time is counted. `journal` is the journal's server; a journal in a file is in the worker's own. */
const measured = ['client', 'worker', 'server', 'journal'] as const;
type Measured = (typeof measured)[number];

/** One contestant at one number at once, round by round. */
interface Series {
  order: OrderName;
  contestant: ContestantName;
  atOnce: number;
  rates: number[];
  p50Ms: number[];
  /** Of all rounds. */
  latenciesMs: number[];
  /** Milliseconds of processor time for each saga. */
  cpu: Record<Measured, (number | undefined)[]>;
  workerMiB: (number | undefined)[];
  loads: number[];
}

const orders = {
  'no firewalls': { items: 2, firewalls: false },
  firewalls: { items: 2, firewalls: true },
} as const;
type OrderName = keyof typeof orders;
const orderNames = Object.keys(orders) as OrderName[];

/** Sagas whose histories are counted: enough for a median where tasks fall together now and then. */
const samplesMax = 10;

export interface ThroughputFigures {
  server: string;
  series: Series[];
  histories: { order: OrderName; contestant: ContestantName; counts: HistoryCounts }[];
}

export async function measureThroughput(options: ThroughputOptions): Promise<ThroughputFigures[]> {
  const figures: ThroughputFigures[] = [];
  for (const store of process.env['TEMPORAL_ADDRESS'] ? (['memory'] as const) : options.stores) {
    const stand = await Stand.start(options.built, { store, journalServer: true });
    if (stand.journal === undefined) options.say('left out: a journal in PostgreSQL, for there is no PostgreSQL here');
    try {
      figures.push(await measureOn(stand, options));
    } finally {
      await stand.close();
    }
  }
  return figures;
}

async function measureOn(stand: Stand, { rounds, sagas, atOnce, say }: ThroughputOptions): Promise<ThroughputFigures> {
  const contestants = await startContestants(stand);
  const cells = orderNames.flatMap((order) =>
    atOnce.flatMap((number) =>
      contestants.map((contestant) => ({ contestant, series: newSeries(order, contestant.name, number) })),
    ),
  );
  for (let round = 0; round <= rounds; round += 1) {
    const from = performance.now();
    const turned = round % cells.length;
    for (const { contestant, series } of [...cells.slice(turned), ...cells.slice(0, turned)]) {
      // Without durability so few are over before a clock has noticed.
      const times = contestant.workerPid === undefined ? 20 : 1;
      const total = Math.max(sagas, 4 * series.atOnce) * times;
      await measureCell(stand, contestant, series, total, round > 0);
    }
    const name = round === 0 ? 'warmed up' : `round ${round} of ${rounds}`;
    say(
      `${stand.serverName}: ${name}, ${((performance.now() - from) / 1_000).toFixed(0)} s, load ${load().toFixed(1)}`,
    );
  }
  return {
    server: stand.serverName,
    series: cells.map(({ series }) => series),
    histories: await countHistories(stand, contestants),
  };
}

function newSeries(order: OrderName, contestant: ContestantName, atOnce: number): Series {
  const none = { rates: [], p50Ms: [], latenciesMs: [], workerMiB: [], loads: [] };
  return { order, contestant, atOnce, ...none, cpu: { client: [], worker: [], server: [], journal: [] } };
}

async function measureCell(stand: Stand, contestant: Contestant, series: Series, total: number, counts: boolean) {
  const { workerPid, journalPid } = contestant;
  const spent = (): Record<Measured, number | undefined> => ({
    client: cpuMs(process.pid),
    worker: workerPid && cpuMs(workerPid),
    server: workerPid && stand.serverPid && cpuMs(stand.serverPid),
    journal: journalPid && cpuMsWithChildren(journalPid),
  });
  const before = spent();
  const { seconds, latenciesMs } = await closedLoop(total, series.atOnce, async () => {
    await contestant.run(provisionRequest(orders[series.order]));
  });
  const after = spent();
  if (!counts) return;
  series.rates.push(total / seconds);
  series.p50Ms.push(percentile(latenciesMs, 0.5));
  series.latenciesMs.push(...latenciesMs);
  for (const name of measured) {
    const [from, to] = [before[name], after[name]];
    series.cpu[name].push(from === undefined || to === undefined ? undefined : (to - from) / total);
  }
  series.workerMiB.push(workerPid === undefined ? undefined : residentMiB(workerPid));
  series.loads.push(load());
}

async function countHistories(stand: Stand, contestants: readonly Contestant[]) {
  const histories: ThroughputFigures['histories'] = [];
  for (const order of orderNames) {
    for (const { name, run, workflowId } of contestants) {
      if (workflowId === undefined) continue;
      const samples: HistoryCounts[] = [];
      while (samples.length < samplesMax) {
        const request = provisionRequest(orders[order]);
        await run(request);
        const handle = stand.clientFor('bare').workflow.getHandle(workflowId(request));
        samples.push(countHistory(await handle.fetchHistory()));
      }
      histories.push({ order, contestant: name, counts: mediansOf(samples) });
    }
  }
  return histories;
}

function mediansOf(samples: readonly HistoryCounts[]): HistoryCounts {
  const of = (field: keyof HistoryCounts) => median(samples.map((counts) => counts[field]));
  return {
    events: of('events'),
    workflowTasks: of('workflowTasks'),
    searchAttributeUpserts: of('searchAttributeUpserts'),
    memoUpserts: of('memoUpserts'),
    bytes: of('bytes'),
  };
}

export function throughputReport(figures: readonly ThroughputFigures[]): string {
  return figures
    .map((one) => [`### ${one.server}`, ratioTable(one), fullTable(one), historyTable(one)].join('\n\n'))
    .join('\n\n');
}

function fullTable({ series }: ThroughputFigures): string {
  const head = [
    ...['order', 'contestant', 'at once', 'sagas/s', 'p50 ms', 'p99 ms'],
    ...['CPU ms/saga: client', 'worker', 'server', 'journal', 'worker MiB', 'load'],
  ];
  return markdownTable(
    head,
    series.map(({ order, contestant, atOnce, rates, latenciesMs, cpu, workerMiB, loads }) => [
      ...[order, contestant, atOnce, median(rates), percentile(latenciesMs, 0.5), percentile(latenciesMs, 0.99)],
      ...[...measured.map((name) => middle(cpu[name])), middle(workerMiB), median(loads)],
    ]),
  );
}

function middle(values: readonly (number | undefined)[]): number | undefined {
  const known = values.filter((value) => value !== undefined);
  return known.length === 0 ? undefined : median(known);
}

const comparisons = [
  ['ours', 'bare'],
  ['ours', 'bare, same shape'],
  ['ours, encrypted', 'bare'],
  ['ours, encrypted', 'bare, same shape'],
  ['ours, journal in PostgreSQL', 'bare'],
  ['ours, journal in PostgreSQL', 'bare, same shape'],
  ['ours, journal in PostgreSQL', 'ours'],
  ['bare, same shape', 'bare'],
] as const;

function ratioTable({ series }: ThroughputFigures): string {
  const numbers = [...new Set(series.map(({ atOnce }) => atOnce))];
  const rows = orderNames.flatMap((order) =>
    comparisons
      .filter(([one]) => series.some(({ contestant }) => contestant === one))
      .map(([one, other]) => [
        order,
        `${one} : ${other}`,
        ...numbers.flatMap((atOnce) => {
          const of = (name: ContestantName) =>
            series.find((each) => each.order === order && each.contestant === name && each.atOnce === atOnce);
          const [mine, theirs] = [of(one), of(other)];
          if (mine === undefined || theirs === undefined) return [undefined, undefined];
          return [ratioOfRounds(mine.rates, theirs.rates), ratioOfRounds(mine.p50Ms, theirs.p50Ms)];
        }),
      ]),
  );
  const head = numbers.flatMap((atOnce) => [`sagas/s at ${atOnce}`, `p50 at ${atOnce}`]);
  return markdownTable(['order', 'ratio (median of the rounds)', ...head], rows);
}

function historyTable({ histories }: ThroughputFigures): string {
  return markdownTable(
    ['order', 'contestant', 'events/saga', 'workflow tasks/saga', 'bytes/saga', 'bytes : bare', 'bytes : same shape'],
    histories.map(({ order, contestant, counts }) => {
      const bytesOf = (name: ContestantName) =>
        histories.find((each) => each.order === order && each.contestant === name)?.counts.bytes ?? NaN;
      const ratios = [counts.bytes / bytesOf('bare'), counts.bytes / bytesOf('bare, same shape')];
      return [order, contestant, counts.events, counts.workflowTasks, counts.bytes, ...ratios];
    }),
  );
}
