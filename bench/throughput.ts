/**
 * How many sagas a second, how long each takes, and what it costs, beside the same calls without our code.
 *
 * In rounds: each measures every contestant once, beginning with another one each time, so that a machine that is busy
 * for a while is busy for all of them. The first round warms up and is not counted. What is compared is compared within
 * a round.
 */
import type { Built } from './built';
import { startContestants, type Contestant, type ContestantName } from './contestants';
import { markdownTable, type Cell } from './markdown';
import { cpuMs, cpuMsWithChildren, load } from './process-figures';
import { provisionRequest } from './requests';
import { Stand, type Store } from './stand';
import { closedLoop, median, percentile, ratioOfRounds } from './statistics';

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

/** One contestant at one number at once, round by round. */
interface Series {
  order: OrderName;
  contestant: ContestantName;
  atOnce: number;
  /** Sagas a second. */
  rates: number[];
  p50Ms: number[];
  /** Milliseconds of processor time for each saga: of the worker (a journal in a file is in it), of a journal's server. */
  workerMs: number[];
  journalMs: number[];
}

const orders = {
  'no firewalls': { items: 2, firewalls: false },
  firewalls: { items: 2, firewalls: true },
} as const;
type OrderName = keyof typeof orders;
const orderNames = Object.keys(orders) as OrderName[];

export interface ThroughputFigures {
  server: string;
  series: Series[];
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
    const turned = round % cells.length;
    for (const { contestant, series } of [...cells.slice(turned), ...cells.slice(0, turned)]) {
      await measureCell(contestant, series, Math.max(sagas, 4 * series.atOnce), round > 0);
    }
    const name = round === 0 ? 'warmed up' : `round ${round} of ${rounds}`;
    say(`${stand.serverName}: ${name}, load ${load().toFixed(1)}`);
  }
  return { server: stand.serverName, series: cells.map(({ series }) => series) };
}

function newSeries(order: OrderName, contestant: ContestantName, atOnce: number): Series {
  return { order, contestant, atOnce, rates: [], p50Ms: [], workerMs: [], journalMs: [] };
}

async function measureCell({ workerPid, journalPid, run }: Contestant, series: Series, total: number, counts: boolean) {
  const spent = () => [cpuMs(workerPid), journalPid && cpuMsWithChildren(journalPid)] as const;
  const before = spent();
  const { seconds, latenciesMs } = await closedLoop(total, series.atOnce, async () => {
    await run(provisionRequest(orders[series.order]));
  });
  const after = spent();
  if (!counts) return;
  series.rates.push(total / seconds);
  series.p50Ms.push(percentile(latenciesMs, 0.5));
  for (const [index, list] of [series.workerMs, series.journalMs].entries()) {
    const [from, to] = [before[index], after[index]];
    if (from !== undefined && to !== undefined) list.push((to - from) / total);
  }
}

/** A column for each kind of order at each number at once. */
export function throughputReport(figures: readonly ThroughputFigures[]): string {
  return figures.map((one) => `### ${one.server}\n\n${comparison(one)}`).join('\n\n');
}

const ours = ['ours', 'ours, journal in PostgreSQL'] as const;

function comparison({ series }: ThroughputFigures): string {
  const columns = series.filter(({ contestant }) => contestant === 'bare');
  const row = (title: string, cellOf: (of: (name: ContestantName) => Series | undefined) => Cell) => [
    title,
    ...columns.map(({ order, atOnce }) =>
      cellOf((name) =>
        series.find((each) => each.order === order && each.atOnce === atOnce && each.contestant === name),
      ),
    ),
  ];
  const ratio = (name: ContestantName, other: ContestantName, what: 'rates' | 'p50Ms' | 'workerMs') =>
    row(`${titles[what]}, ${name} : ${other}`, (of) => {
      const [mine, theirs] = [of(name)?.[what] ?? [], of(other)?.[what] ?? []];
      return mine.length > 0 && mine.length === theirs.length ? ratioOfRounds(mine, theirs) : undefined;
    });
  return markdownTable(
    ['median of the rounds', ...columns.map(({ order, atOnce }) => `${order}, ${atOnce} at once`)],
    [
      row('sagas/s, bare', (of) => middle(of('bare')?.rates)),
      ...ours.map((name) => ratio(name, 'bare', 'rates')),
      ...ours.map((name) => ratio(name, 'bare', 'p50Ms')),
      ...ours.map((name) => ratio(name, 'bare, same shape', 'workerMs')),
      ...ours.map((name) => row(`CPU of the worker a saga, ms, ${name}`, (of) => middle(of(name)?.workerMs))),
      row('CPU of the journal’s PostgreSQL a saga, ms', (of) => middle(of('ours, journal in PostgreSQL')?.journalMs)),
    ],
  );
}

const titles = { rates: 'sagas/s', p50Ms: 'p50', workerMs: 'CPU of the worker' };

function middle(values: readonly number[] = []): number | undefined {
  return values.length === 0 ? undefined : median(values);
}
