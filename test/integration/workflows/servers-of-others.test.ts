/** An order takes no id of a server that another order has, by whichever door it comes; a change of firewalls may name any. */
import { firewallsOf } from '../../../sandbox/sentences';
import type { SagaHandle } from '../../../src/client/handle';
import { runHere } from '../../support/command-line';
import { firewallsRequest, provisionRequest } from '../../support/requests';
import { rigForFile } from '../../support/rig';
import { answer, untilAnother, untilWaiting } from '../../support/sagas';

const rig = rigForFile({ sandbox: { orderResponse: 'opaque' }, clears: true });

type Request = ReturnType<typeof provisionRequest>;
const idOf = (request: { reference: string }) => rig.serversOf(request)[0] ?? 0;

/** A person says which server an order has. */
async function bought(request: Request): Promise<SagaHandle> {
  const saga = await rig.sagas.provision(request);
  await untilWaiting(saga, 'servers');
  await answer(saga, 'provideServers', { vmObjectIds: [idOf(request)] });
  await saga.result();
  return saga;
}

/** The order asks, the id is named there, and it asks again. */
async function namedAt(request: Request, name: (saga: SagaHandle, question: string) => Promise<unknown>) {
  const saga = await rig.sagas.provision(request);
  const { id } = await untilWaiting(saga);
  await name(saga, id);
  await untilAnother(saga, id);
  return saga;
}

/** All by which an id comes: each names this one as the server of an order. */
const doors: Record<string, (request: Request, id: number) => Promise<SagaHandle>> = {
  'the provider’s answer': (request, id) => {
    rig.sandbox.configure({ orderResponse: () => ({ vm_object_ids: [id] }) });
    return rig.sagas.provision(request);
  },
  'the request': (request, id) => rig.sagas.provision({ ...request, vmObjectIds: [id] }),
  provideServers: (request, id) => namedAt(request, (saga) => answer(saga, 'provideServers', { vmObjectIds: [id] })),
  confirmPlaced: (request, id) => {
    rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'reset-after', match: { label: request.label } });
    return namedAt(request, (saga) => answer(saga, 'confirmPlaced', { vmObjectIds: [id], note: 'in the panel' }));
  },
  'a line of many': (request, id) =>
    namedAt(request, async ({ workflowId }, question) => {
      const line = JSON.stringify({ saga: workflowId, decision: 'provideServers', question, vmObjectIds: [id] });
      const many = ['decide-many', '--lines', '-', '--by', 'ann', '--note', 'a test', '--yes'];
      expect(await runHere(many, line, rig.environment)).toMatchObject({ status: 0 });
    }),
};

it.each(Object.keys(doors))(
  'another order’s server, named by %s, is not touched, and the question says whose it is',
  async (door) => {
    const [first, second] = [provisionRequest({ firewalls: [143] }), provisionRequest({ firewalls: [150] })];
    await bought(first);
    const saga = await doors[door]!(second, idOf(first));
    const { kind, question } = await untilWaiting(saga);
    expect(question).toContain(` ${idOf(first)} is a server of ${first.reference}.`);
    const own = { vmObjectIds: [idOf(second)] };
    await (kind === 'servers'
      ? answer(saga, 'provideServers', own)
      : answer(saga, 'confirmPlaced', { ...own, note: 'in the panel' }));
    expect(await saga.result()).toMatchObject({ servers: [{ vmObjectId: idOf(second), firewalls: [150] }] });
    expect(firewallsOf(rig.sandbox.ledger, idOf(first))).toEqual([143]);
  },
);

it('an order without firewalls asks nobody, and reports that its answer names another order’s server', async () => {
  const first = provisionRequest({ firewalls: [143] });
  await bought(first);
  rig.sandbox.configure({ orderResponse: () => ({ vm_object_ids: [idOf(first)] }) });
  const { servers, leftovers } = await (await rig.sagas.provision(provisionRequest())).result();
  expect(servers).toEqual([]);
  const why = expect.stringContaining(`${idOf(first)} is a server of ${first.reference}.`) as string;
  expect(leftovers).toMatchObject([{ kind: 'servers-miscounted', named: [idOf(first)], why }]);
});

it('a change of firewalls may name a server of any order', async () => {
  const first = provisionRequest({ firewalls: [143] });
  await bought(first);
  const request = firewallsRequest({ vmObjectId: idOf(first), assign: [150] });
  expect(await (await rig.sagas.firewalls(request)).result()).toMatchObject({ firewalls: [143, 150] });
});

it('a server of an order that the provider has cancelled may be another order’s', async () => {
  const [first, second] = [provisionRequest({ firewalls: [143] }), provisionRequest({ firewalls: [143] })];
  const saga = await bought(first);
  const verdict = { by: 'ann', note: 'cancelled in the panel' };
  await rig.withJournal((journal) => journal.cancelled(saga, verdict, { isOver: true }));
  const other = await rig.sagas.provision(second);
  await untilWaiting(other, 'servers');
  await answer(other, 'provideServers', { vmObjectIds: [idOf(first)] });
  expect(await other.result()).toMatchObject({ servers: [{ vmObjectId: idOf(first) }] });
});
