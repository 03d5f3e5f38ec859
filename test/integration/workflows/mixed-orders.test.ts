/**
 * Orders that are not only servers: of a server beside something else, of items without a plan type, of no server at
 * all.
 */
import { callsTo, firewallsOf, ordersWithLabel, serversOf } from '../../../sandbox/sentences';
import { documentedPlanTypes } from '../../../src/domain/plan-types';
import { activitiesOf } from '../../support/events';
import { provisionRequest } from '../../support/requests';
import { rigForFile } from '../../support/rig';
import { answer, outcomeOf, stepOf, untilWaiting } from '../../support/sagas';
import { startRaw } from '../../support/web-ui';

const planTypesMore = ['object_storage:other', 'bare_metal'];

const rig = rigForFile({
  sandbox: { supportedPlanTypes: [...documentedPlanTypes, 'object_storage', 'bare_metal'] },
  activities: {
    planTypesMore,
    directory: {
      path: '/servers?account={account}&label={label}',
      pointers: ['/data/*/vm_object_id'],
      labelIsUnique: true,
    },
  },
  planTypesMore,
  clears: true,
});

const storage = { plan_type: 'object_storage', quantity: 3 };
const untyped = { plan_type: undefined };
const idsOf = ({ account }: { account: string }) =>
  serversOf(rig.sandbox.ledger, account).map(({ vmObjectId }) => vmObjectId);
const protectedIn = (request: { account: string }) =>
  idsOf(request).map((vmObjectId) => ({ vmObjectId, firewalls: [143], verified: true }));

describe('of a server and something else: the server gets the firewalls', () => {
  const mixed = () => provisionRequest({ items: [{}, storage], firewalls: [143] });

  it('where the order’s answer names it', async () => {
    const request = mixed();
    const saga = await rig.sagas.provision(request);
    const { servers, decisions, cartItemIds } = await saga.result();
    expect(idsOf(request)).toHaveLength(1);
    expect(servers).toEqual(protectedIn(request));
    expect(decisions).toEqual([]);
    expect(cartItemIds).toHaveLength(2);
    expect(firewallsOf(rig.sandbox.ledger, idsOf(request)[0] ?? 0)).toEqual([143]);
  });

  it('where a person names it, and no other', async () => {
    rig.sandbox.configure({ orderResponse: 'opaque' });
    const request = mixed();
    const saga = await rig.sagas.provision(request);
    expect(await untilWaiting(saga, 'servers')).toMatchObject({
      question: 'The order is placed. What are the object ids of its 1 servers?',
    });
    const vmObjectIds = idsOf(request);
    await expect(answer(saga, 'provideServers', { vmObjectIds: [...vmObjectIds, 5] })).rejects.toThrow(
      'vmObjectIds: names 2 servers, but 1 were ordered',
    );
    await expect(answer(saga, 'provideServers', { vmObjectIds: [] })).rejects.toThrow('names 0 servers, but 1');
    await answer(saga, 'provideServers', { vmObjectIds });
    expect((await saga.result()).servers).toEqual(protectedIn(request));
  });
});

describe('of items that may be servers: a person is asked for as many as there can be', () => {
  it('and names fewer than the most, or the most', async () => {
    rig.sandbox.configure({ orderResponse: 'opaque', untypedItemsAreServers: false });
    const request = provisionRequest({ items: [{}, { ...untyped, quantity: 2 }], firewalls: [143] });
    const saga = await rig.sagas.provision(request);
    expect(await untilWaiting(saga, 'servers')).toMatchObject({
      question:
        'The order is placed. What are the object ids of its servers? ' +
        'It brings 1 to 3 servers: not every item’s plan type says whether the item is a server.',
    });
    const vmObjectIds = idsOf(request);
    expect(vmObjectIds).toHaveLength(1);
    await expect(answer(saga, 'provideServers', { vmObjectIds: [] })).rejects.toThrow(
      'vmObjectIds: names 0 servers, but 1 to 3 were ordered',
    );
    await expect(answer(saga, 'provideServers', { vmObjectIds: [1, 2, 3, 4] })).rejects.toThrow(
      'vmObjectIds: names 4 servers, but 1 to 3 were ordered',
    );
    await answer(saga, 'provideServers', { vmObjectIds });
    expect((await saga.result()).servers).toEqual(protectedIn(request));
  });
});

describe('of no server', () => {
  it('is placed, and nobody is asked for servers, nor looks for any', async () => {
    rig.sandbox.configure({ orderResponse: 'opaque', directory: { lag: 0 } });
    const request = provisionRequest({ items: [storage] });
    const before = callsTo(rig.sandbox.ledger, 'find-servers').length;
    const saga = await rig.sagas.provision(request);
    expect(await saga.result()).toMatchObject({ servers: [], decisions: [] });
    expect(ordersWithLabel(rig.sandbox.ledger, request.label)).toMatchObject([{ vmObjectIds: [] }]);
    expect(await stepOf(saga, 'find-servers')).toBeUndefined();
    expect(callsTo(rig.sandbox.ledger, 'find-servers')).toHaveLength(before);
  });

  it('is refused before anything is sent where firewalls are asked for, also past the client', async () => {
    const request = provisionRequest({ items: [storage], firewalls: [143] });
    await expect(rig.sagas.provision(request)).rejects.toThrow('firewalls: protect servers, but no item is a server');
    const saga = await startRaw(rig, 'provisionServers', request);
    const outcome = await outcomeOf(saga);
    expect(outcome.failure).toMatchObject({
      type: 'InvalidRequest',
      report: { problems: [{ field: 'firewalls', message: 'protect servers, but no item is a server' }] },
    });
    expect(await activitiesOf(rig.runOf(saga))).toEqual(['supportedPlanTypes: look up further plan types']);
  });
});
