/**
 * The critical path: with a provider that takes its time, an order should take as long as the calls that depend on each
 * other, however many there are side by side.
 */
import { WorkflowFailedError } from '@temporalio/client';
import { SagaFailedError } from '../src/client/errors';
import type { Built } from './built';
import { timed } from './closed-loop';
import { bareRunner, ourRunner, type ContestantName } from './contestants';
import { markdownTable } from './markdown';
import { load } from './process-figures';
import { provisionRequest, type Order } from './requests';
import { Stand } from './stand';
import { median } from './statistics';

const latencyMs = 200;

interface Case {
  name: string;
  order: Order;
  /** Levels of calls, each of which needs the one before. */
  levels: string[];
  /** Calls in all. */
  calls: number;
}

const cases: Case[] = [
  {
    name: '5 items, 5 servers, firewalls',
    order: { items: 5, firewalls: true },
    levels: ['add', 'order', 'assign', 'list'],
    calls: 16,
  },
  {
    name: '5 items, refused, 5 deletes',
    order: { items: 5, firewalls: true, fate: 'NO' },
    levels: ['add', 'order', 'delete'],
    calls: 11,
  },
];

export interface PathFigures {
  case: string;
  contestant: ContestantName;
  levels: string[];
  calls: number;
  timesMs: number[];
  load: number;
}

export interface PathOptions {
  built: Built;
  rounds: number;
  say: (line: string) => void;
}

export async function measurePath({ built, rounds, say }: PathOptions): Promise<PathFigures[]> {
  const stand = await Stand.start(built, { latencyMs, journalServer: true });
  try {
    const kinds = ['bare', 'plain', ...(stand.journal ? (['postgres'] as const) : [])] as const;
    await Promise.all(kinds.map((kind) => stand.startWorker(kind)));
    const runners = {
      ours: ourRunner(stand, 'plain'),
      ...(stand.journal ? { 'ours, journal in PostgreSQL': ourRunner(stand, 'postgres') } : {}),
      'bare, same shape': bareRunner(stand, 'bareSideBySide'),
      bare: bareRunner(stand, 'bareOneAfterAnother'),
    };
    const figures = cases.flatMap(({ name, levels, calls }) =>
      (Object.keys(runners) as (keyof typeof runners)[]).map((contestant) => ({
        ...{ case: name, contestant, levels, calls, timesMs: [] as number[], load: 0 },
      })),
    );
    for (let round = 0; round <= rounds; round += 1) {
      for (const figure of figures) {
        const order = cases.find(({ name }) => name === figure.case)?.order;
        if (order === undefined) continue;
        const runner = runners[figure.contestant];
        if (runner === undefined) continue;
        const ms = await timed(() => runner.run(provisionRequest(order)).catch(expected));
        // The first one opens connections.
        if (round > 0) figure.timesMs.push(ms);
        figure.load = load();
      }
      say(`path: round ${round} of ${rounds}, load ${load().toFixed(1)}`);
    }
    return figures;
  } finally {
    await stand.close();
  }
}

function expected(error: unknown): void {
  if (!(error instanceof SagaFailedError) && !(error instanceof WorkflowFailedError)) throw error;
}

export function pathReport(figures: readonly PathFigures[]): string {
  return markdownTable(
    [
      'case',
      'contestant',
      'calls',
      'that depend on each other',
      'median ms',
      `: ${latencyMs} ms × those`,
      ': 3 calls',
      'load',
    ],
    figures.map(({ case: name, contestant, levels, calls, timesMs, load: busy }) => {
      const ms = median(timesMs);
      const depend = contestant === 'bare' ? `${calls}, one after another` : `${levels.length}: ${levels.join(' → ')}`;
      const bound = latencyMs * (contestant === 'bare' ? calls : levels.length);
      return [name, contestant, calls, depend, ms, ms / bound, ms / (3 * latencyMs), busy];
    }),
  );
}
