/** Where the object ids of new servers come from when the order's response does not tell them: the server directory. */
import { ordersWithLabel, callsTo } from '../../../sandbox/sentences';
import { inputsOf } from '../../support/events';
import { provisionRequest } from '../../support/requests';
import { Rig } from '../../support/rig';
import { answer, stepOf, untilWaiting } from '../../support/sagas';

let rig: Rig;
beforeAll(async () => {
  rig = await Rig.start({
    sandbox: { orderResponse: 'opaque', directory: { lag: 2 } },
    activities: {
      directory: {
        path: '/servers?account={account}&label={label}',
        pointers: ['/data/*/vm_object_id'],
        labelIsUnique: true,
      },
    },
  });
});
afterAll(() => rig.close());
afterEach(() => {
  rig.sandbox.faults.clear();
  rig.sandbox.configure({ directory: { lag: 2 } });
});

it('are looked up until as many are there as were ordered', async () => {
  const request = provisionRequest({ items: [{ quantity: 2 }], firewalls: [143] });
  const saga = await rig.sagas.provision(request);
  const { servers } = await saga.result();
  const [order] = ordersWithLabel(rig.sandbox.ledger, request.reference);
  expect(servers.map(({ vmObjectId }) => vmObjectId)).toEqual(order?.vmObjectIds);
  expect(await stepOf(saga, 'find-servers')).toMatchObject({ status: 'done', attempts: 3 });
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
  expect(ordersWithLabel(rig.sandbox.ledger, request.reference)).toHaveLength(1);
  // Whose label is not its own settles nothing: the activity has to know what the answer is for.
  const asked = await inputsOf(rig.temporal.workflow.getHandle(saga.workflowId), 'findServers');
  expect(asked[0]).toMatchObject({ settles: true });
});

it('that never come prove nothing: a person is asked, and the order is placed once', async () => {
  const request = provisionRequest();
  rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'reset-before', match: { label: request.label } });
  const saga = await rig.sagas.provision(request);
  expect(await untilWaiting(saga)).toMatchObject({ kind: 'outcome-unknown' });
  await answer(saga, 'confirmNotPlaced', { note: 'the panel shows none' });
  await saga.result();
  expect(ordersWithLabel(rig.sandbox.ledger, request.reference)).toHaveLength(1);
});

it('that cannot be looked up are told as that, where nothing needs them', async () => {
  const request = provisionRequest();
  rig.sandbox.faults.add({ endpoint: 'find-servers', kind: 'unauthorized', times: 'all' });
  const saga = await rig.sagas.provision(request);
  expect((await saga.result()).servers).toEqual([]);
  expect(await stepOf(saga, 'find-servers')).toMatchObject({ status: 'failed' });
});

it('of an order without a label are not looked up by it', async () => {
  const request = provisionRequest({ label: undefined, firewalls: [143] });
  const before = callsTo(rig.sandbox.ledger, 'find-servers').length;
  const saga = await rig.sagas.provision(request);
  expect(await untilWaiting(saga)).toMatchObject({ kind: 'servers' });
  expect(callsTo(rig.sandbox.ledger, 'find-servers')).toHaveLength(before);
  await saga.cancel();
});
