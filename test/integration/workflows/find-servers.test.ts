/** The server directory has the object ids of new servers when the order's response does not tell them. */
import { callsTo, firewallsOf } from '../../../sandbox/sentences';
import type { ProvisionServersRequest } from '../../../src/domain/requests';
import { sandboxProfile } from '../../support/activity-settings';
import { inputsOf } from '../../support/events';
import { orderThat } from '../../support/orders';
import { provisionRequest } from '../../support/requests';
import { rigForFile } from '../../support/rig';
import { answer, stepOf, untilWaiting } from '../../support/sagas';

const directory = (path: string, { labelIsUnique = false } = {}) => ({
  profile: {
    ...sandboxProfile,
    directory: { path, servers: '/data/*/vm_object_id', labels: '/data/*/label', labelIsUnique },
  },
});
const rig = rigForFile({
  sandbox: { orderResponse: 'opaque', directory: { lag: 2 } },
  activities: directory('/servers'),
  clears: true,
});

/** The second order’s look before it does not show the first one’s server; its look after it shows only that. */
async function bothUnlisted(first: ProvisionServersRequest, second: ProvisionServersRequest) {
  rig.sandbox.configure({ directory: { lag: 1_000 } });
  const waiting = await rig.sagas.provision(first);
  await untilWaiting(waiting, 'servers');
  const placedAt = rig.ordersOf(first)[0]?.seq ?? 0;
  const looks = callsTo(rig.sandbox.ledger, 'find-servers').filter(({ seq }) => seq > placedAt).length;
  rig.sandbox.configure({ directory: { lag: looks + 1 } });
  return { waiting, saga: await rig.sagas.provision(second) };
}

it('a server of a directory of all accounts may be of another account’s order: a person is asked', async () => {
  const [first, second] = ['EF-1', 'EF-2'].map((account) => provisionRequest({ account, firewalls: [143] }));
  const { saga } = await bothUnlisted(first!, second!);
  expect(await untilWaiting(saga, 'servers')).toMatchObject({ step: 'find-servers' });
});

describe('where the directory has more than the order', () => {
  beforeAll(() => rig.restartWith(directory('/servers?account={account}')));
  const account = 'XY-1';
  const bought = (firewalls: number[] = [143]) => provisionRequest({ account, firewalls });

  it.each([
    ['was bought under another reference', async () => (await rig.sagas.provision(bought())).result()],
    ['was there before', async () => rig.sandbox.addServer({ vmObjectId: 55_001, account, firewalls: [] })],
  ])('a server that %s is not its own, though it is listed alone for a while', async (_, before) => {
    await before();
    const request = bought([143, 150]);
    const result = await (await rig.sagas.provision(request)).result();
    const [own = 0] = rig.serversOf(request);
    expect(result).toMatchObject({ outcome: 'done', servers: [{ vmObjectId: own, verified: true }] });
    expect(firewallsOf(rig.sandbox.ledger, own)).toEqual([143, 150]);
  });

  it('a server that may be another order’s is nobody’s until a person says whose it is', async () => {
    const [first, second] = [bought([143]), bought([150])];
    const { waiting, saga } = await bothUnlisted(first, second);
    expect(await untilWaiting(saga, 'servers')).toMatchObject({ step: 'find-servers' });
    await answer(saga, 'provideServers', { vmObjectIds: rig.serversOf(second) });
    await saga.result();
    await answer(waiting, 'provideServers', { vmObjectIds: rig.serversOf(first) });
    await waiting.result();
    expect(firewallsOf(rig.sandbox.ledger, rig.serversOf(first)[0] ?? 0)).toEqual([143]);
    expect(firewallsOf(rig.sandbox.ledger, rig.serversOf(second)[0] ?? 0)).toEqual([150]);
  });
});

it('an order that never arrived takes no other order’s server, where its label is not asked for', async () => {
  await rig.restartWith(directory('/servers?account={account}', { labelIsUnique: true }));
  const [first, second] = [1, 2].map(() => provisionRequest({ account: 'EF-3', firewalls: [143] }));
  rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'reset-before', match: { label: second!.label } });
  const { saga } = await bothUnlisted(first!, second!);
  expect(await untilWaiting(saga)).toMatchObject({ kind: 'outcome-unknown' });
});

describe('where the label is the reference’s own, they', () => {
  beforeAll(() => rig.restartWith(directory('/servers?account={account}&label={label}', { labelIsUnique: true })));

  it('settle an order of unknown outcome without a person', async () => {
    const lost = { endpoint: 'place-order', kind: 'reset-after' } as const;
    const { request, saga } = await orderThat(rig, lost, { firewalls: [143] });
    const result = await saga.result();
    expect(result).toMatchObject({ order: null, decisions: [], servers: [{ firewalls: [143], verified: true }] });
    expect(await stepOf(saga, 'place-order')).toMatchObject({ status: 'done', detail: 'found by looking' });
    expect(rig.ordersOf(request)).toHaveLength(1);
    // Whose label is not its own settles nothing: the activity has to know what the answer is for.
    const asked = await inputsOf(rig.runOf(saga), 'findServers');
    expect(asked[0]).toMatchObject({ settles: true });
  });

  it('prove nothing where they never come: a person is asked, and the order is placed once', async () => {
    const { request, saga } = await orderThat(rig, { endpoint: 'place-order', kind: 'reset-before' });
    expect(await untilWaiting(saga)).toMatchObject({ kind: 'outcome-unknown' });
    await answer(saga, 'confirmNotPlaced', { note: 'the panel shows none' });
    await saga.result();
    expect(rig.ordersOf(request)).toHaveLength(1);
  });

  it('hold up the order where they cannot be looked up before it: nothing is sent', async () => {
    const request = provisionRequest({ firewalls: [143] });
    const fault = rig.sandbox.faults.add({ endpoint: 'find-servers', kind: 'error-before', times: 'all' });
    const saga = await rig.sagas.provision(request);
    expect(await untilWaiting(saga, 'stuck')).toMatchObject({
      step: 'place-order',
      lastFailure: { failure: 'NotSent' },
    });
    expect(rig.ordersOf(request)).toEqual([]);
    rig.sandbox.faults.lift(fault);
    await answer(saga, 'retry');
    expect(await saga.result()).toMatchObject({ outcome: 'done', servers: [{ firewalls: [143], verified: true }] });
  });
});
