/** A saga reads and writes the journal, and what it decides by it. */
import { setTimeout as pause } from 'node:timers/promises';
import { Journal } from '../../../src/journal/journal';
import { referenceOf } from '../../../src/journal/rows';
import { grpcCodes } from '../../../src/temporal/service';
import { rigSettings } from '../../support/activity-settings';
import { cartItem } from '../../support/requests';
import { grpcError, type LoneSaga, stand, standAlone, temporalThat } from './lone-activities';

standAlone();

const requestOf = ({ key }: LoneSaga) => ({
  reference: key.reference,
  account: 'AB-1',
  items: [{ plan_id: 17, password: 'a password' }],
});
const add = { step: 'add-cart-item-1', number: 1, item: cartItem() };

describe('taking a reference', () => {
  const held = temporalThat((id) => (id === 'hold' ? 'RUNNING' : 'COMPLETED'));

  it('is not held where the reference was taken before: the saga has begun', async () => {
    const saga = stand.saga();
    const request = requestOf(saga);
    await saga.do('takeReference', { request });
    expect(await saga.again().do('takeReference', { request }, held)).toMatchObject({ how: 'known' });
  });

  it('takes nothing for the request of another reference, also where a run ends', async () => {
    const [saga, other] = [stand.saga(), stand.saga()];
    const request = requestOf(other);
    const refusal = { failure: 'Rejected', message: expect.stringContaining('another reference') as string };
    expect(await saga.refusal('takeReference', { request })).toMatchObject(refusal);
    expect(await saga.refusal('readState', { request, owns: { isReset: false } })).toMatchObject(refusal);
    expect(await referenceOf(stand.journal.db, saga.key)).toBeUndefined();
  });

  it('takes nothing while Temporal does not say whether new sagas are held', async () => {
    const saga = stand.saga();
    const mute = temporalThat(() => {
      throw grpcError(14, 'unavailable');
    });
    expect(await saga.refusal('takeReference', { request: requestOf(saga) }, mute)).toMatchObject({
      failure: 'TemporalUnavailable',
      retryInMs: expect.any(Number) as number,
    });
    expect(await referenceOf(stand.journal.db, saga.key)).toBeUndefined();
  });
});

describe('how a saga stands', () => {
  it('is owned before it is read, where a saga ends: no call of before is intended after the look', async () => {
    const saga = stand.saga();
    const { cursor } = await saga.do('addCartItem', add);
    const read = jest.spyOn(stand.journal, 'inTransaction');
    const asked: string[] = [];
    read.mockImplementation(function (this: Journal, work) {
      return Journal.prototype.inTransaction.call(this, async (tx) => {
        const done = await work(tx);
        asked.push((await referenceOf(tx, saga.key))?.owner ?? 'nobody');
        return done;
      });
    });
    const standing = await saga.do('readState', { owns: { isReset: false } });
    read.mockRestore();
    expect(standing.cursor?.fence).toBeGreaterThan(cursor.fence!);
    expect(new Set(asked)).toEqual(new Set([`${saga.run}/${standing.cursor!.fence}`]));
  });

  describe('but not for a clean-up of a saga that is running, as Temporal says', () => {
    const begins = { owns: { isReset: false } };
    const isRunning = { failure: 'Rejected', message: expect.stringMatching(/is still running/) as string };
    const asked: string[] = [];
    const says = (status: string | Error) =>
      temporalThat((workflowId) => {
        asked.push(workflowId);
        if (status instanceof Error) throw status;
        return status;
      });

    const isUnknown = {
      failure: 'Rejected',
      message: expect.stringMatching(/^no provisioning of .* is known$/) as string,
    };

    it.each([
      ['running', says('RUNNING'), isRunning],
      ['paused', says('PAUSED'), isRunning],
      ['ended', says('COMPLETED'), isUnknown],
      ['not found', says(grpcError(grpcCodes.notFound, 'not there')), isUnknown],
    ] as const)('%s', async (_, temporal, refusal) => {
      const { cleaning, key } = stand.saga();
      asked.length = 0;
      expect(await cleaning.refusal('readState', begins, temporal)).toMatchObject(refusal);
      expect(new Set(asked)).toEqual(new Set([`provision/${key.reference}`]));
    });

    it('also where it has begun between the look and the clean-up’s word', async () => {
      const statuses = ['COMPLETED', 'RUNNING'];
      const temporal = temporalThat(() => statuses.shift()!);
      expect(await stand.saga().cleaning.refusal('readState', begins, temporal)).toMatchObject(isRunning);
    });

    it('or nobody can say', async () => {
      const { cleaning, key } = stand.saga();
      const temporal = says(grpcError(grpcCodes.unavailable, 'refused'));
      expect(await cleaning.refusal('readState', begins, temporal)).toEqual({
        failure: 'TemporalUnavailable',
        message: `Temporal could not say whether provision/${key.reference} is running`,
        retryInMs: expect.any(Number) as number,
      });
    });
  });
});

it('an undo leaves what another saga has perhaps assigned just before', async () => {
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
  expect(first).toMatchObject({ firewalls: [1], doubtful: [7] });
  await younger.do('assignFirewalls', { ...assigning, firewalls: [7, 8] });
  lags = false;
  const now = await younger.do('listFirewalls', { vmObjectId, after: 'changes and others' });
  expect(now).toMatchObject({ firewalls: [1, 7, 8], others: [7] });
});
