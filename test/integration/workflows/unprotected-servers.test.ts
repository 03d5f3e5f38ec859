/**
 * A bought server without the firewalls that were asked for is named by the record and by a clean-up after a
 * termination.
 */
import { ordersWithLabel } from '../../../sandbox/sentences';
import type { Leftover } from '../../../src/domain/leftovers';
import { recordOf } from '../../../src/journal/record';
import { provisionRequest } from '../../support/requests';
import { type Rig, rigForFile } from '../../support/rig';
import { answer, untilWaiting } from '../../support/sagas';

const rig = rigForFile();
afterEach(() => {
  rig.sandbox.faults.clear();
  rig.sandbox.configure({ orderResponse: 'ids', firewallListResponse: 'objects' });
});

type Saga = Awaited<ReturnType<Rig['sagas']['provision']>>;

const terminate = ({ workflowId }: Saga) => rig.temporal.workflow.getHandle(workflowId).terminate('a test');
const boughtBy = ({ reference }: { reference: string }) =>
  ordersWithLabel(rig.sandbox.ledger, reference).flatMap(({ vmObjectIds }) => vmObjectIds);
const unprotected = (leftovers: readonly Leftover[] = []) =>
  leftovers.flatMap((one) => (one.kind === 'server-unprotected' ? [[one.vmObjectId, one.firewalls]] : []));
const recorded = async ({ reference }: { reference: string }) =>
  unprotected(
    (await rig.withJournal((journal) => recordOf(journal, { workflow: 'provisionServers', reference })))?.leftovers,
  );
const cleaned = async ({ reference }: { reference: string }) =>
  unprotected((await (await rig.sagas.clean(reference)).result()).leftovers);

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
