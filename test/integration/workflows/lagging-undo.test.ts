/**
 * An undo whose first call was lost, beside a list that lags: the second call must not take the list's word for it.
 *
 * The saga unassigns [9] (done), and is cancelled a moment later. The undo's first call to assign [9] again ends without
 * an outcome and without effect. The replica still shows [9], as it was before the saga unassigned it.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { firewallsOf } from '../../../sandbox/sentences';
import { firewallsRequest } from '../../support/requests';
import { Rig } from '../../support/rig';
import { outcomeOf } from '../../support/sagas';

const lagMs = 8_000;
let rig: Rig;
let server = 0;
let shown: { at: number; list: number[] }[] = [];
let watch: NodeJS.Timeout;

const now = () => firewallsOf(rig.sandbox.ledger, server);
const replica = () => (shown.findLast(({ at }) => at <= Date.now() - lagMs) ?? shown[0])?.list ?? [];

beforeAll(async () => {
  rig = await Rig.start({ sandbox: { firewallListResponse: replica } });
  watch = setInterval(() => {
    const list = server === 0 ? [] : now();
    if (JSON.stringify(shown.at(-1)?.list) !== JSON.stringify(list)) shown.push({ at: Date.now(), list });
  }, 5);
});
afterEach(() => rig.sandbox.faults.clear());
afterAll(async () => {
  clearInterval(watch);
  await rig.close();
});

it.each(['error-before', 'reset-before'] as const)('an undo after a call that came to “%s”', async (kind) => {
  const request = firewallsRequest({ assign: undefined, unassign: [9] });
  const match = { vmObjectId: request.vmObjectId };
  rig.sandbox.addServer({ vmObjectId: request.vmObjectId, firewalls: [1, 9] });
  shown = [];
  server = request.vmObjectId;
  await pause(100);
  const gate = rig.sandbox.faults.add({ endpoint: 'unassign-firewalls', kind: 'gate', hold: 'after', match, nth: 1 });
  rig.sandbox.faults.add({ endpoint: 'assign-firewalls', kind, match, nth: 1 });
  const saga = await rig.sagas.firewalls(request);
  await rig.sandbox.whenStruck(gate);
  await saga.cancel();
  rig.sandbox.faults.release(gate);
  const { cancelled } = await outcomeOf(saga);
  // Either it is there again, or the report says that it is not.
  expect({ outcome: cancelled?.outcome, leftovers: cancelled?.leftovers, now: [...now()].sort() }).toEqual({
    outcome: 'reversed',
    leftovers: [],
    now: [1, 9],
  });
});
