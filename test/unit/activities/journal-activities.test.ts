/** What a saga asks of the journal and tells it: no call of the provider is made for any of it. */
import { randomBytes } from 'node:crypto';
import { WorkflowNotFoundError } from '@temporalio/common';
import type { JournalKnowledge } from '../../../src/domain/effects';
import { Journal } from '../../../src/journal/journal';
import { referenceOf } from '../../../src/journal/rows';
import { parsePayloadKeys } from '../../../src/security/keys';
import { createSealing } from '../../../src/security/sealing';
import { grpcCodes } from '../../../src/temporal/grpc';
import { rigSettings } from '../../support/activity-settings';
import { cartItem } from '../../support/requests';
import { grpcError, LoneActivities, temporalThat, type LoneSaga, type Temporal } from './lone-activities';

let stand: LoneActivities;
beforeAll(async () => {
  stand = await LoneActivities.start();
});
afterAll(() => stand.close());
afterEach(() => stand.sandbox.faults.clear());

const request = { reference: 'R', account: 'AB-1', items: [{ plan_id: 17, password: 'a password' }] };
const addStep = { step: 'add-cart-item-1' };
const add = { ...addStep, number: 1, item: cartItem() };
const place = (cartItems: number[]) => ({ step: 'place-order', order: { account: 'AB-1', cartItems } });

async function added(saga: LoneSaga): Promise<number> {
  const { value } = await saga.do('addCartItem', add);
  return value.cartItemId;
}

/** @returns the row of an order of which nobody knows whether it was placed */
async function placedPerhaps(saga: LoneSaga, cartItems: number[]): Promise<string> {
  stand.sandbox.faults.add({ endpoint: 'place-order', kind: 'reset-after' });
  const { doubt } = await saga.refusal('placeOrder', place(cartItems));
  return doubt!.row;
}

async function nothingSent<T>(work: () => Promise<T>): Promise<T> {
  const before = stand.calls;
  const result = await work();
  expect(stand.calls).toBe(before);
  return result;
}

describe('taking a reference', () => {
  it('is new, then known, and taken for another request, whose fields are named', async () => {
    const saga = stand.saga();
    const first = await saga.do('takeReference', { account: 'AB-1', request });
    expect(first).toMatchObject({ how: 'new', knows: { journal: expect.any(String) as string } });
    const taken = await referenceOf(stand.journal.db, saga.key);
    expect(taken).toMatchObject({ account: 'AB-1', first_run: saga.run });
    const at = new Date(taken!.first_seen_ms).toISOString();
    const again = saga.again();
    expect(await again.do('takeReference', { account: 'AB-1', request })).toEqual({
      how: 'known',
      knows: first.how === 'new' ? { ...first.knows, begun: 3 } : undefined,
      at,
      run: saga.run,
    });
    const other = { ...request, items: [{ plan_id: 18, password: 'another' }, {}] };
    const refused = await again.do('takeReference', { account: 'AB-1', request: other });
    expect(refused).toEqual({
      how: 'taken',
      at,
      run: saga.run,
      fields: ['items[0].plan_id', 'items[0].password', 'items[1]'],
    });
  });

  const held = temporalThat((id) => (id === 'hold' ? 'RUNNING' : 'COMPLETED'));

  it('waits while new sagas are held, and takes nothing', async () => {
    const saga = stand.saga();
    const refused = await saga.refusal('takeReference', { request }, held);
    expect(refused).toEqual({
      failure: 'Held',
      message: 'held since 2026-01-31 22:15:00 UTC by ann; nothing was sent',
    });
    expect(await referenceOf(stand.journal.db, saga.key)).toBeUndefined();
    for (const status of ['COMPLETED', 'TERMINATED']) {
      const over = temporalThat(() => status);
      expect(await saga.again().do('takeReference', { request }, over)).toMatchObject({ knows: {} });
    }
  });

  it('is not held where the reference was taken before: the saga has begun', async () => {
    const saga = stand.saga();
    await saga.do('takeReference', { request });
    expect(await saga.again().do('takeReference', { request }, held)).toMatchObject({ how: 'known' });
  });

  it('takes nothing while Temporal does not say whether new sagas are held', async () => {
    const saga = stand.saga();
    const mute = temporalThat(() => {
      throw grpcError(14, 'unavailable');
    });
    expect(await saga.refusal('takeReference', { request }, mute)).toMatchObject({
      failure: 'TemporalUnavailable',
      retryInMs: expect.any(Number) as number,
    });
    expect(await referenceOf(stand.journal.db, saga.key)).toBeUndefined();
  });

  it('says so where the first request cannot be decrypted here', async () => {
    const [one, other] = ['k1', 'k2'].map((id) => {
      const keys = parsePayloadKeys(`${id}:${randomBytes(32).toString('base64')}`);
      return new Journal(stand.journal.db, createSealing(keys));
    });
    const saga = stand.saga({ journal: one! });
    await saga.do('takeReference', { request });
    expect(await saga.again({ journal: other! }).refusal('takeReference', { request })).toMatchObject({
      failure: 'JournalUnreadable',
      message: expect.stringContaining('the first request') as string,
    });
  });
});

describe('how a saga stands', () => {
  const standing = (saga: LoneSaga) => nothingSent(() => saga.do('readStanding', {}));

  it('not at all', async () => {
    expect(await standing(stand.saga())).toEqual({
      known: false,
      assigned: [],
      running: false,
      placement: { how: 'none' },
      items: [],
      perhapsOrdered: [],
      doubtfulAdds: [],
    });
  });

  it('with items in the cart, one of them perhaps', async () => {
    const saga = stand.saga();
    const cartItemId = await added(saga);
    stand.sandbox.faults.add({ endpoint: 'add-cart-item', kind: 'reset-after' });
    await saga.refusal('addCartItem', { ...add, step: 'add-cart-item-2', number: 2 });
    for (const one of [saga, saga.cleaning]) {
      expect(await standing(one)).toMatchObject({
        known: true,
        placement: { how: 'none' },
        items: [{ cartItemId, step: 'add-cart-item-1' }],
        doubtfulAdds: [2],
      });
    }
  });

  it('with an order that was placed, and with one that was perhaps', async () => {
    const saga = stand.saga();
    const cartItemId = await added(saga);
    const row = await placedPerhaps(saga, [cartItemId]);
    expect(await standing(saga)).toMatchObject({
      placement: { how: 'unknown', row, run: saga.run, inAirMs: 1_000 },
      items: [],
      perhapsOrdered: [{ cartItemId, step: 'add-cart-item-1' }],
    });
    const placed = { how: 'found' as const, vmObjectIds: [9001] };
    expect(await saga.do('confirmPlacement', { row, placed })).toBe('done');
    expect(await standing(saga)).toMatchObject({
      placement: { how: 'placed', run: saga.run, placed },
      items: [],
      perhapsOrdered: [],
    });
  });

  it('is asked again while the order may be in the air', async () => {
    const saga = stand.saga();
    const call = { step: 'place-order', kind: 'pivot' as const, activity: 'placeOrder', about: {} };
    const meaning = { ...saga.key, run: saga.run, call, knows: undefined };
    await stand.journal.mean({ ...meaning, inAirMs: 60_000 });
    const { retryInMs, inFlightMs, ...rest } = await nothingSent(() => saga.refusal('readStanding', {}));
    expect(rest).toEqual({ failure: 'UnderWay', message: 'a call was sent and may still be in the air' });
    expect(retryInMs).toBeGreaterThan(10_000);
    expect(retryInMs).toBeLessThanOrEqual(15_000);
    expect(inFlightMs).toBeGreaterThan(retryInMs ?? 0);
  });

  it('is owned before it is read, where a saga ends: no call of before is meant after the look', async () => {
    const saga = stand.saga();
    const { knows } = await saga.do('addCartItem', add);
    const read = jest.spyOn(stand.journal, 'inTransaction');
    const asked: string[] = [];
    read.mockImplementation(function (this: Journal, work) {
      return Journal.prototype.inTransaction.call(this, async (tx) => {
        const done = await work(tx);
        asked.push((await referenceOf(tx, saga.key))?.owner ?? 'nobody');
        return done;
      });
    });
    const standing = await saga.do('readStanding', { owns: { isReset: false } });
    read.mockRestore();
    expect(standing.knows?.begun).toBeGreaterThan(knows.begun!);
    expect(new Set(asked)).toEqual(new Set([`${saga.run}/${standing.knows!.begun}`]));
  });

  describe('and whether it is running, of Temporal, where that is asked', () => {
    const asked: string[] = [];
    const says = (status: string | Error) =>
      temporalThat((workflowId) => {
        asked.push(workflowId);
        if (status instanceof Error) throw status;
        return status;
      });

    it.each<[string, Temporal, boolean]>([
      ['running', says('RUNNING'), true],
      ['paused', says('PAUSED'), true],
      ['ended', says('COMPLETED'), false],
      ['forgotten', says(new WorkflowNotFoundError('not there', '', undefined)), false],
      ['not found', says(grpcError(grpcCodes.notFound, 'not there')), false],
    ])('%s', async (_, temporal, running) => {
      const { cleaning, key } = stand.saga();
      asked.length = 0;
      expect(await cleaning.do('readStanding', { orRunning: true }, temporal)).toMatchObject({ running });
      expect(asked).toEqual([`provision/${key.reference}`]);
      expect(await cleaning.do('readStanding', {}, temporal)).toMatchObject({ running: false });
      expect(asked).toHaveLength(1);
    });

    it('or nobody can say', async () => {
      const { cleaning, key } = stand.saga();
      const temporal = says(grpcError(grpcCodes.unavailable, 'refused'));
      expect(await cleaning.refusal('readStanding', { orRunning: true }, temporal)).toEqual({
        failure: 'TemporalUnavailable',
        message: `Temporal could not say whether provision/${key.reference} is running`,
        retryInMs: expect.any(Number) as number,
      });
    });
  });
});

describe('what a person says of an order of unknown outcome', () => {
  const verdict = { by: 'op', note: 'the control panel shows it' };

  it('it was placed: that is its answer from then on', async () => {
    const saga = stand.saga();
    const items = [await added(saga)];
    const row = await placedPerhaps(saga, items);
    const placed = { how: 'confirmed' as const, vmObjectIds: [9001], orderId: 'O-1' };
    for (const _ of ['once', 'twice']) {
      expect(await nothingSent(() => saga.do('confirmPlacement', { row, placed, verdict }))).toBe('done');
    }
    const [, order] = await saga.rows();
    expect(order).toMatchObject({ id: row, outcome: 'done' });
    expect(await stand.journal.unseal(order!.answer!, 'it')).toEqual(placed);
    expect(await stand.journal.unseal(order!.decided!, 'it')).toEqual(verdict);
    // Too late to say otherwise.
    expect(await saga.do('denyPlacement', { row, ...verdict })).toBe('done');
  });

  it('it was not placed: not while whoever meant it may be sending', async () => {
    const saga = stand.saga({ settings: { ...rigSettings, inAirMs: 60_000 } });
    const row = await placedPerhaps(saga, [await added(saga)]);
    const tooSoon = await nothingSent(() => saga.refusal('denyPlacement', { row, ...verdict }));
    expect(tooSoon).toEqual({
      failure: 'UnderWay',
      message: 'the call may still be in the air',
      retryInMs: expect.any(Number) as number,
      inFlightMs: expect.any(Number) as number,
    });
    expect(tooSoon.retryInMs).toBeGreaterThan(50_000);
    expect(await saga.told()).toEqual(['add-cart-item-1 mutate done', 'place-order pivot unknown UnknownOutcome']);
  });

  it('and then it is sent, and what is said of the first one later counts no more', async () => {
    const saga = stand.saga({ settings: { ...rigSettings, inAirMs: 0 } });
    const items = [await added(saga)];
    const row = await placedPerhaps(saga, items);
    expect(await saga.do('denyPlacement', { row, note: 'looked' })).toBe('denied');
    const denied = (await saga.rows()).at(-1);
    expect(denied).toMatchObject({ id: row, outcome: 'denied' });
    expect(await stand.journal.unseal(denied!.decided!, 'it')).toEqual({ note: 'looked' });
    expect(await saga.do('placeOrder', place(items))).toMatchObject({ value: { how: 'answered' } });
    const placed = { how: 'confirmed' as const };
    expect(await saga.do('confirmPlacement', { row, placed, verdict })).toBe('superseded');
  });

  it('where the provider takes it all the same, that is logged and counted', async () => {
    const saga = stand.saga({ settings: { ...rigSettings, inAirMs: 0 } }, 'changeOrder');
    const resources = [{ resource_name: 'vm_backup' as const, delta_value: '1' }];
    const change = { step: 'place-change-order', change: { subscription_id: 5512, resources } };
    const gate = stand.sandbox.faults.add({ endpoint: 'place-change-order', kind: 'gate' });
    const placed = saga.do('placeChangeOrder', change);
    await stand.sandbox.faults.whenStruck(gate);
    const [row] = await saga.rows();
    expect(await saga.do('denyPlacement', { row: row!.id, ...verdict })).toBe('denied');
    stand.sandbox.faults.release(gate);
    const { value } = await placed;
    const [late] = await saga.rows();
    expect(late).toMatchObject({ outcome: 'done', decided: expect.any(String) as string });
    expect(await stand.journal.unseal(late!.late!, 'it')).toEqual(value);
    expect(stand.errors).toEqual([
      {
        message: 'the provider accepted a call that a person had denied: look at the record of this reference',
        step: 'place-change-order',
        row: row!.id,
      },
    ]);
    expect(stand.counted).toEqual(['order_saga_late_answers']);

    // The same, told by the workflow because the journal was away when the call ended.
    const unwritten = {
      call: { step: 'place-change-order', kind: 'pivot' as const, activity: 'placeChangeOrder', about: {} },
      knows: (await placed).knows as JournalKnowledge & { row: string },
      inAirMs: 1_000,
      outcome: 'done' as const,
    };
    await saga.do('writeOutcome', { unwritten, answer: value });
    expect(stand.counted).toHaveLength(2);
    expect(stand.errors[1]).toEqual(stand.errors[0]);
  });
});

it('writes down how a run ended; the first word counts, until a run that was reset has another one', async () => {
  const saga = stand.saga();
  await saga.do('takeReference', { request });
  const end = (outcome: string) => saga.do('writeEnding', { outcome, report: { report: { why: outcome } } });
  expect(await end('done')).toBeUndefined();
  expect(await end('OrderRejected')).toMatchObject({
    how: 'ended',
    run: saga.run,
    ending: { report: { why: 'done' } },
  });
  await saga.again().do('writeEnding', { outcome: 'cancelled', report: null, isReset: true });
  const { reference } = saga.key;
  const endings = await stand.journal.db.selectFrom('ending').selectAll().where('reference', '=', reference).execute();
  expect(endings.map(({ run, outcome }) => [run === saga.run, outcome])).toEqual([
    [true, 'done'],
    [false, 'cancelled'],
  ]);
  expect(await stand.journal.unseal(endings[0]!.report, 'it')).toEqual({ report: { why: 'done' } });
});

it('works for sagas only', async () => {
  const stranger = stand.saga().under('x/R');
  await expect(stranger.do('readStanding', {})).rejects.toThrow('only a saga can call this activity');
});
