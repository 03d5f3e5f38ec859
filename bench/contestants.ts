/** Who runs against whom. Each makes the same provider calls for the same order. */
import type { ProvisionServersRequest } from '../src/domain/requests';
import { ProviderClient } from '../src/provider/client';
import type { CartItemBody } from '../src/provider/schemas';
import type { Stand, WorkerKind } from './stand';

export type ContestantName =
  'bare' | 'bare, same shape' | 'ours' | 'ours, encrypted' | 'ours, journal in PostgreSQL' | 'calls only';

export interface Contestant {
  name: ContestantName;
  /** Its worker's process; none where there is no durability. */
  workerPid?: number;
  /** The journal's server, where there is one. */
  journalPid?: number;
  /** Orders, and waits for the end. */
  run: (request: ProvisionServersRequest) => Promise<unknown>;
  /** The workflow that ran for a request. */
  workflowId?: (request: ProvisionServersRequest) => string;
}

type BareWorkflow = 'bareOneAfterAnother' | 'bareSideBySide';

/** Starts a worker for each kind that is needed, and that the stand can have. */
export async function startContestants(stand: Stand): Promise<Contestant[]> {
  const [bare, plain, encrypted] = await Promise.all(
    (['bare', 'plain', 'encrypted'] as const).map((kind) => stand.startWorker(kind)),
  );
  if (bare === undefined || plain === undefined || encrypted === undefined) throw new Error('three were started');
  return [
    { name: 'bare', workerPid: bare.pid, ...bareRunner(stand, 'bareOneAfterAnother') },
    { name: 'bare, same shape', workerPid: bare.pid, ...bareRunner(stand, 'bareSideBySide') },
    { name: 'ours', workerPid: plain.pid, ...ourRunner(stand, 'plain') },
    { name: 'ours, encrypted', workerPid: encrypted.pid, ...ourRunner(stand, 'encrypted') },
    ...(await withJournalServer(stand)),
    { name: 'calls only', run: callsOnly(new ProviderClient({ baseUrl: stand.providerUrl })) },
  ];
}

async function withJournalServer(stand: Stand): Promise<Contestant[]> {
  if (stand.journal === undefined) return [];
  const { pid: workerPid } = await stand.startWorker('postgres');
  const journalPid = stand.journal.server.pid;
  return [{ name: 'ours, journal in PostgreSQL', workerPid, journalPid, ...ourRunner(stand, 'postgres') }];
}

type Runner = Required<Pick<Contestant, 'run' | 'workflowId'>>;

export function bareRunner(stand: Stand, workflow: BareWorkflow): Runner {
  const client = stand.clientFor('bare');
  const workflowId = ({ reference }: ProvisionServersRequest) => `${workflow}/${reference}`;
  return {
    workflowId,
    run: (request) =>
      client.workflow.execute(workflow, { workflowId: workflowId(request), taskQueue: 'bench-bare', args: [request] }),
  };
}

function ourRunner(stand: Stand, kind: Exclude<WorkerKind, 'bare'>): Runner {
  const sagas = stand.sagasFor(kind);
  return {
    workflowId: ({ reference }) => `provision/${reference}`,
    run: async (request) => (await sagas.provision(request)).result(),
  };
}

/** What the provider's own time and the HTTP client cost, in the shape of ours. */
function callsOnly(provider: ProviderClient): Contestant['run'] {
  return async ({ account, label, items, firewalls = [] }) => {
    const added = await Promise.all(items.map((item) => provider.addCartItem(item as CartItemBody)));
    const order = await provider.placeOrder({ account, label, cartItems: added.map(({ cartItemId }) => cartItemId) });
    if (firewalls.length === 0) return;
    const { vm_object_ids: vmObjectIds } = order as { vm_object_ids: number[] };
    await Promise.all(vmObjectIds.map((id) => provider.assignFirewalls(id, firewalls)));
    await Promise.all(vmObjectIds.map((id) => provider.listFirewalls(id)));
  };
}
