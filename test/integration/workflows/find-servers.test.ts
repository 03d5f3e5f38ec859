/** Where the object ids of new servers come from when the order's response does not tell them: the server directory. */
import { callsTo, firewallsOf, ordersWithLabel } from '../../../sandbox/sentences';
import type { ProvisionServersRequest } from '../../../src/domain/requests';
import { inputsOf } from '../../support/events';
import { provisionRequest } from '../../support/requests';
import { inRig, type Rig, rigForFile } from '../../support/rig';
import { answer, stepOf, untilWaiting } from '../../support/sagas';

const rig = rigForFile({
  sandbox: { orderResponse: 'opaque', directory: { lag: 2 } },
  activities: {
    directory: {
      path: '/servers?account={account}&label={label}',
      pointers: ['/data/*/vm_object_id'],
      labelIsUnique: true,
    },
  },
  clears: true,
});

it('settle an order of unknown outcome without a person, where the label is the reference’s own', async () => {
  const request = provisionRequest({ firewalls: [143] });
  rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'reset-after', match: { label: request.label } });
  const saga = await rig.sagas.provision(request);
  const result = await saga.result();
  expect(result).toMatchObject({ order: null, decisions: [], servers: [{ firewalls: [143], verified: true }] });
  expect(await stepOf(saga, 'place-order')).toMatchObject({
    status: 'done',
    detail: 'found by looking',
  });
  expect(rig.ordersOf(request)).toHaveLength(1);
  // Whose label is not its own settles nothing: the activity has to know what the answer is for.
  const asked = await inputsOf(rig.runOf(saga), 'findServers');
  expect(asked[0]).toMatchObject({ settles: true });
});

it('that never come prove nothing: a person is asked, and the order is placed once', async () => {
  const request = provisionRequest();
  rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'reset-before', match: { label: request.label } });
  const saga = await rig.sagas.provision(request);
  expect(await untilWaiting(saga)).toMatchObject({ kind: 'outcome-unknown' });
  await answer(saga, 'confirmNotPlaced', { note: 'the panel shows none' });
  await saga.result();
  expect(rig.ordersOf(request)).toHaveLength(1);
});

describe('where the directory has more than the order', () => {
  const shared = rigForFile({
    sandbox: { orderResponse: 'opaque', directory: { lag: 2 } },
    activities: {
      directory: { path: '/servers?account={account}', pointers: ['/data/*/vm_object_id'], labelIsUnique: false },
    },
    clears: true,
  });
  const account = 'XY-1';
  const idsOf = ({ reference }: { reference: string }) =>
    ordersWithLabel(shared.sandbox.ledger, reference)[0]?.vmObjectIds ?? [];

  it.each([
    ['was bought under another reference', async () => (await shared.sagas.provision(bought())).result()],
    ['was there before', async () => shared.sandbox.addServer({ vmObjectId: 55_001, account, firewalls: [] })],
  ])('a server that %s is not its own, though it is listed alone for a while', async (_, before) => {
    await before();
    const request = provisionRequest({ account, firewalls: [143, 150] });
    const result = await (await shared.sagas.provision(request)).result();
    const [own = 0] = idsOf(request);
    expect(result).toMatchObject({ outcome: 'done', servers: [{ vmObjectId: own, verified: true }] });
    expect(firewallsOf(shared.sandbox.ledger, own)).toEqual([143, 150]);
  });

  it('a server that may be another order’s is nobody’s until a person says whose it is', async () => {
    const [first, second] = [bought([143]), bought([150])];
    const { waiting, saga } = await bothUnlisted(shared, first, second);
    expect(await untilWaiting(saga, 'servers')).toMatchObject({ step: 'find-servers' });
    await answer(saga, 'provideServers', { vmObjectIds: idsOf(second) });
    await saga.result();
    await answer(waiting, 'provideServers', { vmObjectIds: idsOf(first) });
    await waiting.result();
    expect(firewallsOf(shared.sandbox.ledger, idsOf(first)[0] ?? 0)).toEqual([143]);
    expect(firewallsOf(shared.sandbox.ledger, idsOf(second)[0] ?? 0)).toEqual([150]);
  });

  function bought(firewalls: number[] = [143]) {
    return provisionRequest({ account, firewalls });
  }
});

it('that cannot be looked up before the order hold it up: nothing is sent', async () => {
  const request = provisionRequest({ firewalls: [143] });
  const fault = rig.sandbox.faults.add({ endpoint: 'find-servers', kind: 'error-before', times: 'all' });
  const saga = await rig.sagas.provision(request);
  expect(await untilWaiting(saga, 'stuck')).toMatchObject({ step: 'place-order', lastFailure: { failure: 'NotSent' } });
  expect(rig.ordersOf(request)).toEqual([]);
  rig.sandbox.faults.lift(fault);
  await answer(saga, 'retry');
  expect(await saga.result()).toMatchObject({ outcome: 'done', servers: [{ firewalls: [143], verified: true }] });
});

const path = '/servers?account={account}';
const lag = 1_000;
const pointers = ['/data/*/vm_object_id'];

it('another order of another account may have brought the server that is listed, where the directory is of all', () => {
  const activities = { directory: { path: '/servers', pointers, labelIsUnique: false } };
  return inRig({ sandbox: { orderResponse: 'opaque', directory: { lag } }, activities }, async (all) => {
    const [first, second] = ['EF-1', 'EF-2'].map((account) => provisionRequest({ account, firewalls: [143] }));
    const { saga } = await bothUnlisted(all, first!, second!);
    expect(await untilWaiting(saga, 'servers')).toMatchObject({ step: 'find-servers' });
  });
});

it('an order that never arrived takes no other order’s server, where its label is not asked for', () => {
  const activities = { directory: { path, pointers, labelIsUnique: true } };
  return inRig({ sandbox: { orderResponse: 'opaque', directory: { lag } }, activities }, async (all) => {
    const [first, second] = [1, 2].map(() => provisionRequest({ account: 'EF-1', firewalls: [143] }));
    all.sandbox.faults.add({ endpoint: 'place-order', kind: 'reset-before', match: { label: second!.label } });
    const { saga } = await bothUnlisted(all, first!, second!);
    expect(await untilWaiting(saga)).toMatchObject({ kind: 'outcome-unknown' });
  });
});

/** The second order’s look before it does not show the first one’s server; its look after it shows only that. */
async function bothUnlisted(on: Rig, first: ProvisionServersRequest, second: ProvisionServersRequest) {
  const { ledger } = on.sandbox;
  on.sandbox.configure({ directory: { lag } });
  const waiting = await on.sagas.provision(first);
  await untilWaiting(waiting, 'servers');
  const placedAt = ordersWithLabel(ledger, first.reference)[0]?.seq ?? 0;
  const looks = callsTo(ledger, 'find-servers').filter(({ seq }) => seq > placedAt).length;
  on.sandbox.configure({ directory: { lag: looks + 1 } });
  return { waiting, saga: await on.sagas.provision(second) };
}
