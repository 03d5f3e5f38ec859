/** The memory that waiting sagas hold in one worker: change orders that nobody has approved yet. */
import type { SagaHandle } from '../src/client/handle';
import type { Built } from './built';
import { markdownTable } from './markdown';
import { residentMiB } from './process-figures';
import { newReference, startStand } from './stand';
import { closedLoop, timed } from './statistics';

interface WaitingFigures {
  sagas: number;
  workerMiB: number | undefined;
  /** Times of `progress`, for one of the first and one of the last. */
  queryMs: Record<'oldest' | 'newest', number | undefined>;
}

/** @returns figures for none, a tenth, half and all of them, in one worker one after another */
export async function measureWaiting(built: Built, sagas: number): Promise<WaitingFigures[]> {
  const stand = await startStand(built);
  try {
    const { pid } = await stand.startWorker('plain');
    const client = stand.sagasFor('plain');
    const started: SagaHandle[] = [];
    let last = 5_000;
    const start = async () => {
      const resources = [{ resource_name: 'vm_backup' as const, delta_value: '1' }];
      // Each has its own subscription: sagas of one wait for each other.
      const request = { reference: newReference(), subscription_id: (last += 1), resources };
      const saga = await client.change({ ...request, approval: 'always' });
      started.push(saga);
      for await (const { waiting } of saga.events()) if (waiting) break;
    };
    const query = async (saga: SagaHandle | undefined) => saga && timed(() => saga.progress());
    const figures: WaitingFigures[] = [];
    for (const most of [0, Math.ceil(sagas / 10), Math.ceil(sagas / 2), sagas]) {
      await closedLoop(most - started.length, 50, start);
      const queryMs = { oldest: await query(started[0]), newest: await query(started.at(-1)) };
      figures.push({ sagas: started.length, workerMiB: residentMiB(pid), queryMs });
      console.log(`${started.length} wait`);
    }
    return figures;
  } finally {
    await stand.close();
  }
}

export function waitingReport(figures: readonly WaitingFigures[]): string {
  return markdownTable(
    ['sagas that wait', 'worker MiB', 'ms to query the first', 'the last'],
    figures.map(({ sagas, workerMiB, queryMs }) => [sagas, workerMiB, queryMs.oldest, queryMs.newest]),
  );
}
