/** Sagas that wait for a person, while others come and go. */
import { setTimeout as pause } from 'node:timers/promises';
import { closedLoop, timed } from '../closed-loop';
import { ourRunner } from '../contestants';
import type { Growth } from './figures';
import { load, residentMiB } from '../process-figures';
import { provisionRequest } from '../requests';
import type { Stand } from '../stand';
import { median } from '../statistics';

/** Enough for a median. */
const asked = 20;

export async function growByWaiting(
  stand: Stand,
  rounds: number,
  numbers: readonly number[],
  say: (line: string) => void,
): Promise<Growth> {
  let worker = await stand.startWorker('plain');
  const { run } = ourRunner(stand, 'plain');
  const sagas = stand.sagasFor('plain');
  const order = { items: 2, firewalls: true } as const;
  await closedLoop(asked, 1, () => run(provisionRequest(order)).then());

  const references: string[] = [];
  const points: Growth['points'] = [];
  for (const at of numbers) {
    const { seconds } = await closedLoop(at - references.length, 50, async () => {
      const request = provisionRequest({ ...order, fate: 'UA' });
      references.push(request.reference);
      await sagas.provision(request);
    });
    await untilAllWait(stand, at);
    say(`growth: ${at} wait (started in ${seconds.toFixed(0)} s), load ${load().toFixed(1)}`);
    const query = async (some: readonly string[]) => {
      const times: number[] = [];
      for (const reference of some) {
        const saga = await sagas.get(reference, 'provisionServers');
        times.push(await timed(() => saga.progress()));
      }
      return median(times);
    };
    const warmMs = await query(references.slice(-asked));
    const { latenciesMs } = await closedLoop(asked, 1, () => run(provisionRequest(order)).then());
    const workerMiB = residentMiB(worker.pid);
    const starts: { readyMs: number; firstMs: number }[] = [];
    for (let round = 0; round < rounds; round += 1) {
      await worker.kill('SIGTERM');
      const readyMs = await timed(async () => (worker = await stand.startWorker('plain')));
      starts.push({ readyMs, firstMs: await timed(() => run(provisionRequest(order))) });
    }
    points.push({
      at,
      figures: {
        'worker, MiB': workerMiB,
        'query, ms': warmMs,
        'query after a restart, ms': await query(references.slice(0, asked)),
        'another saga, ms': median(latenciesMs),
        'worker ready after, ms': median(starts.map(({ readyMs }) => readyMs)),
        'its first saga, ms': median(starts.map(({ firstMs }) => firstMs)),
        'new worker, MiB': residentMiB(worker.pid),
        load: load(),
      },
    });
  }
  return {
    name: 'growth-waiting',
    title: 'Sagas that wait',
    axis: 'sagas waiting',
    points,
    drawn: ['worker, MiB', 'query after a restart, ms', 'another saga, ms', 'worker ready after, ms'],
  };
}

/** The list lags behind; what it shows has happened. */
async function untilAllWait(stand: Stand, wanted: number): Promise<void> {
  const query = 'ExecutionStatus = "Running" AND SagaState = "stuck"';
  for (;;) {
    const { count } = await stand.clientFor('plain').workflow.count(query);
    if (count >= wanted) return;
    await pause(200);
  }
}
