/**
 * The provider's list shows a firewall that is not active on the server: its assignment has failed, or it is being
 * taken off. A saga that is asked to assign it has to send that; a sweep that repairs, too.
 */
import { callsTo, firewallsOf } from '../../../sandbox/sentences';
import { firewallsRequest } from '../../support/requests';
import { Rig } from '../../support/rig';

let rig: Rig;
let word = 'error';
beforeAll(async () => {
  // Active once it is assigned; until then the list has the assignment that failed.
  const shown = (ids: number[]) => [{ id: 1 }, { id: 9, status: ids.includes(9) ? 'active' : word }];
  rig = await Rig.start({ sandbox: { firewallListResponse: shown }, activities: { listLagMs: 0 }, compares: false });
});
afterAll(() => rig.close());

const assigned = (id: number) =>
  callsTo(rig.sandbox.ledger, 'assign-firewalls').filter(({ names }) => names.vmObjectId?.includes(id)).length;

it.each(['error', 'failed', 'detaching'])('a firewall that is listed as “%s” is assigned', async (state) => {
  word = state;
  const request = firewallsRequest({ assign: [9] });
  rig.sandbox.addServer({ vmObjectId: request.vmObjectId, firewalls: [1] });
  const saga = await rig.sagas.firewalls(request);
  await saga.result();
  const now = firewallsOf(rig.sandbox.ledger, request.vmObjectId);
  expect({ calls: assigned(request.vmObjectId), now }).toEqual({ calls: 1, now: [1, 9] });
});
