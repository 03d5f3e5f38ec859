/**
 * How many sagas a second, how long each takes, and what it costs, beside the same calls without our code.
 *
 * In rounds: each measures every contestant once, beginning with another one each time, so that a machine that is busy
 * for a while is busy for all of them. The first round warms up and is not counted. What is compared is compared within
 * a round.
 */
import type { ProvisionServersRequest } from '../src/domain/requests';
import type { Built } from './built';
import { markdownTable, type Cell } from './markdown';
import { cpuMs, load } from './process-figures';
import { provisionRequest, startStand, type Stand } from './stand';
import { closedLoop, median, ratioOfRounds } from './statistics';

export interface ThroughputOptions {
  rounds: number;
  /**
   * For each contestant, round and number at once; more where so many at once need more to come into step.
   */
  sagas: number;
  atOnce: readonly number[];
}

type ContestantName = 'bare' | 'bare, same shape' | 'ours' | 'ours, journal in PostgreSQL';

/** Each makes the same provider calls for the same order. */
interface Contestant {
  name: ContestantName;
  workerPid: number;
  /** The journal's server, where there is one. */
  journalPid?: number;
  /** Orders, and waits for the end. */
  run: (request: ProvisionServersRequest) => Promise<unknown>;
}

/** One contestant at one number at once, round by round. */
interface Series {
  order: OrderName;
  contestant: ContestantName;
  atOnce: number;
  rates: number[];
  p50Ms: number[];
  /** Milliseconds of processor time for each saga: of the worker (a journal in a file is in it), of a journal's server. */
  workerMs: number[];
  journalMs: number[];
}

const orderNames = ['no firewalls', 'firewalls'] as const;
type OrderName = (typeof orderNames)[number];

interface ThroughputFigures {
  server: string;
  series: Series[];
}

export async function measureThroughput(
  built: Built,
  { rounds, sagas, atOnce }: ThroughputOptions,
): Promise<ThroughputFigures> {
  const stand = await startStand(built, { postgres: true });
  if (stand.postgres === undefined) console.log('left out: a journal in PostgreSQL, for there is no PostgreSQL here');
  try {
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
      console.log(`${stand.serverName}: ${name}, load ${load().toFixed(1)}`);
    }
    return { server: stand.serverName, series: cells.map(({ series }) => series) };
  } finally {
    await stand.close();
  }
}

/** Starts a worker for each kind that the stand can have. */
async function startContestants(stand: Stand): Promise<Contestant[]> {
  const bare = await stand.startWorker('bare');
  const ours = async (name: ContestantName, kind: 'plain' | 'postgres') => {
    const sagas = stand.sagasFor(kind);
    const run = async (request: ProvisionServersRequest) => (await sagas.provision(request)).result();
    return { name, workerPid: (await stand.startWorker(kind)).pid, run };
  };
  const contestants: Contestant[] = [
    { name: 'bare', workerPid: bare.pid, run: (request) => stand.runBare('bareOneAfterAnother', request) },
    { name: 'bare, same shape', workerPid: bare.pid, run: (request) => stand.runBare('bareSideBySide', request) },
    await ours('ours', 'plain'),
  ];
  if (stand.postgres === undefined) return contestants;
  const journalPid = stand.postgres.pid;
  return [...contestants, { ...(await ours('ours, journal in PostgreSQL', 'postgres')), journalPid }];
}

function newSeries(order: OrderName, contestant: ContestantName, atOnce: number): Series {
  return { order, contestant, atOnce, rates: [], p50Ms: [], workerMs: [], journalMs: [] };
}

async function measureCell({ workerPid, journalPid, run }: Contestant, series: Series, total: number, counts: boolean) {
  const spent = () => [cpuMs(workerPid), journalPid && cpuMs(journalPid, true)] as const;
  const before = spent();
  const { seconds, latenciesMs } = await closedLoop(total, series.atOnce, async () => {
    await run(provisionRequest({ firewalls: series.order === 'firewalls' }));
  });
  const after = spent();
  if (!counts) return;
  series.rates.push(total / seconds);
  series.p50Ms.push(median(latenciesMs));
  for (const [index, list] of [series.workerMs, series.journalMs].entries()) {
    const [from, to] = [before[index], after[index]];
    if (from !== undefined && to !== undefined) list.push((to - from) / total);
  }
}

const ours = ['ours', 'ours, journal in PostgreSQL'] as const;

/** A column for each kind of order at each number at once. */
export function throughputReport({ server, series }: ThroughputFigures): string {
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
  const table = markdownTable(
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
  return `### ${server}\n\n${table}`;
}

const titles = { rates: 'sagas/s', p50Ms: 'p50', workerMs: 'CPU of the worker' };

function middle(values: readonly number[] = []): number | undefined {
  return values.length === 0 ? undefined : median(values);
}
