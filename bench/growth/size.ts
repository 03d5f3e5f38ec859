/** More items in an order, or more servers with firewalls. */
import { timed } from '../closed-loop';
import { ourRunner } from '../contestants';
import { countHistory } from '../history-counts';
import { load, residentMiB } from '../process-figures';
import { provisionRequest } from '../requests';
import type { Growth } from './figures';
import type { Stand } from '../stand';
import { median } from '../statistics';

const sizes = [1, 10, 100];

export async function growBySize(stand: Stand, rounds: number, what: 'items' | 'servers'): Promise<Growth> {
  const worker = await stand.startWorker('plain');
  const { run, workflowId } = ourRunner(stand, 'plain');
  const sagas = stand.sagasFor('plain');
  const newRequest = (size: number) =>
    provisionRequest(
      what === 'items' ? { items: size, firewalls: false } : { items: 1, quantity: size, firewalls: true },
    );
  await run(newRequest(10));
  const points: Growth['points'] = [];
  for (const at of sizes) {
    const [times, queries]: number[][] = [[], []];
    let counts = { events: NaN, workflowTasks: NaN, bytes: NaN };
    for (let round = 0; round < rounds; round += 1) {
      const request = newRequest(at);
      times?.push(await timed(() => run(request)));
      counts = countHistory(await stand.clientFor('plain').workflow.getHandle(workflowId(request)).fetchHistory());
      const saga = await sagas.get(request.reference, 'provisionServers');
      queries?.push(await timed(() => saga.progress()));
    }
    points.push({
      at,
      figures: {
        'time, ms': median(times ?? []),
        'history, events': counts.events,
        'workflow tasks': counts.workflowTasks,
        'history, bytes': counts.bytes,
        'query after the end, ms': median(queries ?? []),
        'worker, MiB': residentMiB(worker.pid),
        load: load(),
      },
    });
  }
  return {
    name: `growth-${what}`,
    title: what === 'items' ? 'Items in an order' : 'Servers in an order, with firewalls',
    axis: what,
    points,
    drawn: ['time, ms', 'history, bytes', 'query after the end, ms'],
  };
}
