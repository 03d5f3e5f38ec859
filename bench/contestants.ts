/** Who runs against whom. Each makes the same provider calls for the same order. */
import type { ProvisionServersRequest } from '../src/domain/requests';
import type { Stand, WorkerKind } from './stand';

export type ContestantName = 'bare' | 'bare, same shape' | 'ours' | 'ours, journal in PostgreSQL';

export interface Contestant {
  name: ContestantName;
  /** Its worker's process. */
  workerPid: number;
  /** The journal's server, where there is one. */
  journalPid?: number;
  /** Orders, and waits for the end. */
  run: (request: ProvisionServersRequest) => Promise<unknown>;
}

/** Starts a worker for each kind that is needed, and that the stand can have. */
export async function startContestants(stand: Stand): Promise<Contestant[]> {
  const bare = await stand.startWorker('bare');
  const plain = await stand.startWorker('plain');
  const contestants: Contestant[] = [
    { name: 'bare', workerPid: bare.pid, run: bareRunner(stand, 'bareOneAfterAnother') },
    { name: 'bare, same shape', workerPid: bare.pid, run: bareRunner(stand, 'bareSideBySide') },
    { name: 'ours', workerPid: plain.pid, run: ourRunner(stand, 'plain') },
  ];
  if (stand.journal !== undefined) {
    const { pid: workerPid } = await stand.startWorker('postgres');
    const run = ourRunner(stand, 'postgres');
    contestants.push({ name: 'ours, journal in PostgreSQL', workerPid, journalPid: stand.journal.server.pid, run });
  }
  return contestants;
}

export function bareRunner(stand: Stand, workflow: 'bareOneAfterAnother' | 'bareSideBySide'): Contestant['run'] {
  const client = stand.clientFor('bare');
  return (request) =>
    client.workflow.execute(workflow, {
      workflowId: `${workflow}/${request.reference}`,
      taskQueue: 'bench-bare',
      args: [request],
    });
}

function ourRunner(stand: Stand, kind: Exclude<WorkerKind, 'bare'>): Contestant['run'] {
  const sagas = stand.sagasFor(kind);
  return async (request) => (await sagas.provision(request)).result();
}
