/** Which firewalls of a server an undo leaves, because another saga has them assigned, or may have. */
import { setTimeout as pause } from 'node:timers/promises';
import { rigSettings } from '../../support/activity-settings';
import { stand, standAlone, temporalThat } from './lone-activities';

standAlone();

it('those of a call of unknown outcome from just before: the first list may not have shown them yet', async () => {
  const vmObjectId = 7001;
  const resource = `server ${vmObjectId}`;
  const assigning = { step: 'assign-firewalls', vmObjectId };
  const [older, younger] = [stand.saga({}, 'setFirewalls'), stand.saga({}, 'setFirewalls')];
  let lags = true;
  stand.sandbox.addServer({ vmObjectId, firewalls: [1] });
  stand.sandbox.configure({ firewallListResponse: (ids: number[]) => (lags ? [1] : ids) });
  stand.sandbox.faults.add({ endpoint: 'assign-firewalls', kind: 'reset-after' });
  await older.do('takeTurn', { resource });
  await older.refusal('assignFirewalls', { ...assigning, firewalls: [7] });
  await pause(rigSettings.inFlightMs + 100);
  const terminated = temporalThat(() => 'TERMINATED');
  expect(await younger.do('takeTurn', { resource }, terminated)).toMatchObject({ how: 'begun' });
  const first = await younger.do('listFirewalls', { vmObjectId, after: 'changes' });
  expect(first).toEqual({ firewalls: [1], doubtful: [7] });
  await younger.do('assignFirewalls', { ...assigning, firewalls: [7, 8] });
  lags = false;
  const now = await younger.do('listFirewalls', { vmObjectId, undoing: true });
  expect(now).toEqual({ firewalls: [1, 7, 8], others: [7] });
});
