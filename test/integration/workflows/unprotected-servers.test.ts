/**
 * A bought server without the firewalls that were asked for is named by every report: of a run that knows less than the
 * journal, of the record, and of a clean-up.
 */
import { firewallsOf, ordersWithLabel } from '../../../sandbox/sentences';
import type { Leftover } from '../../../src/domain/leftovers';
import { recordOf } from '../../../src/journal/record';
import { rigSettings } from '../../support/activity-settings';
import { provisionRequest } from '../../support/requests';
import { resetTo, taskBefore } from '../../support/reset';
import { type Rig, rigForFile } from '../../support/rig';
import { answer, outcomeOf, untilWaiting } from '../../support/sagas';

const planTypesMore = ['object_storage:other'];

const rig = rigForFile({
  planTypesMore,
  activities: { ...rigSettings, planTypesMore },
  sandbox: { supportedPlanTypes: ['cloud_servers_standard', 'object_storage'] },
});
afterEach(() => {
  rig.sandbox.faults.clear();
  rig.sandbox.configure({ orderResponse: 'ids', firewallListResponse: 'objects' });
});

type Saga = Awaited<ReturnType<Rig['sagas']['provision']>>;

const terminate = ({ workflowId }: Saga) => rig.temporal.workflow.getHandle(workflowId).terminate('a test');
const boughtBy = ({ reference }: { reference: string }) =>
  ordersWithLabel(rig.sandbox.ledger, reference).flatMap(({ vmObjectIds }) => vmObjectIds);
const withoutFirewalls = (request: { reference: string }) =>
  boughtBy(request).filter((id) => firewallsOf(rig.sandbox.ledger, id).length === 0);
const unprotected = (leftovers: readonly Leftover[] = []) =>
  leftovers.flatMap((one) => (one.kind === 'server-unprotected' ? [[one.vmObjectId, one.firewalls]] : []));
const recorded = async ({ reference }: { reference: string }) =>
  unprotected(
    (await rig.withJournal((journal) => recordOf(journal, { workflow: 'provisionServers', reference })))?.leftovers,
  );
const cleaned = async ({ reference }: { reference: string }) =>
  unprotected((await (await rig.sagas.clean(reference)).result()).leftovers);

describe('where the order was corrected by an earlier run', () => {
  /** Refused, corrected, placed, and stuck at the firewalls. */
  async function corrected(changes: object, correction: object, stuck: object) {
    const request = provisionRequest({ firewalls: [143], onRefusal: 'ask', ...changes });
    rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'refuse-before', match: { account: request.account } });
    rig.sandbox.faults.add({ endpoint: 'assign-firewalls', kind: 'unauthorized', ...stuck });
    const saga = await rig.sagas.provision(request);
    await untilWaiting(saga, 'refused');
    await answer(saga, 'retry', { correction });
    expect((await untilWaiting(saga, 'stuck')).step).toMatch(/^assign-firewalls-/);
    return { request, saga };
  }
  const twoServers = () =>
    corrected(
      { items: [{}, { plan_type: 'object_storage' }] },
      { item: 2, plan_type: 'cloud_servers_standard' },
      { nth: 2 },
    );

  it('a run that was reset to before the correction names the server', async () => {
    const { request, saga } = await twoServers();
    rig.sandbox.faults.add({ endpoint: 'assign-firewalls', kind: 'unauthorized', times: 'all' });
    await resetTo(rig.temporal, { workflowId: saga.workflowId }, await taskBefore(rig.temporal, saga, 'addCartItem'));
    const again = rig.latest('provisionServers', request);
    await untilWaiting(again, 'stuck');
    await again.cancel();
    const [bare] = withoutFirewalls(request);
    expect(unprotected((await outcomeOf(again)).cancelled?.leftovers)).toEqual([[bare, [143]]]);
  });
});

it('what the run has assigned itself does not count where the provider’s list does not show it', async () => {
  const request = provisionRequest({ items: [{ quantity: 2 }], firewalls: [143, 144] });
  rig.sandbox.configure({ firewallListResponse: (ids: number[]) => ids.filter((id) => id !== 144) });
  rig.sandbox.faults.add({ endpoint: 'assign-firewalls', kind: 'refuse-before', status: 402, nth: 2 });
  const saga = await rig.sagas.provision(request);
  await untilWaiting(saga, 'stuck');
  await saga.cancel();
  const [bare] = withoutFirewalls(request);
  const denied = boughtBy(request).find((id) => id !== bare);
  const { cancelled } = await outcomeOf(saga);
  expect(new Map(unprotected(cancelled?.leftovers) as [number, number[]][])).toEqual(
    new Map([
      [denied, [144]],
      [bare, [143, 144]],
    ]),
  );
});

describe('after a termination', () => {
  it('a server that no answer names is counted by the record and the clean-up', async () => {
    rig.sandbox.configure({ orderResponse: ({ vmObjectIds }) => ({ vm_object_ids: vmObjectIds.slice(0, 1) }) });
    const request = provisionRequest({ items: [{ quantity: 3 }], firewalls: [143] });
    const saga = await rig.sagas.provision(request);
    await untilWaiting(saga, 'servers');
    const [first = 0, second = 0, third = 0] = boughtBy(request);
    for (const vmObjectId of [second, third]) {
      const fault = { endpoint: 'assign-firewalls', kind: 'unauthorized', match: { vmObjectId } } as const;
      rig.sandbox.faults.add({ ...fault, times: 'all' });
    }
    await answer(saga, 'provideServers', { vmObjectIds: [first, second, third] });
    await untilWaiting(saga, 'stuck');
    await terminate(saga);
    // The refused calls tell the journal of all three; which of them was refused first is not promised.
    const both = [second, third].map((id) => [id, [143]]);
    for (const named of [await recorded(request), await cleaned(request)]) {
      expect(named).toHaveLength(both.length);
      expect(named).toEqual(expect.arrayContaining(both));
    }
  });

  it('the clean-up looks into the provider’s list', async () => {
    rig.sandbox.configure({ firewallListResponse: (ids: number[]) => ids.filter((id) => id !== 144) });
    const request = provisionRequest({ firewalls: [143, 144] });
    const saga = await rig.sagas.provision(request);
    expect((await untilWaiting(saga, 'stuck')).step).toMatch(/^verify-/);
    await terminate(saga);
    expect(await recorded(request)).toEqual([]);
    expect(await cleaned(request)).toEqual([[boughtBy(request)[0], [144]]]);
  });
});
