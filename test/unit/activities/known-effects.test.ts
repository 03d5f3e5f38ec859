/**
 * What the journal says of a call before it is made: then nothing is sent, and the workflow is told what is known
 * instead.
 */
import { randomUUID } from 'node:crypto';
import type { EffectCall, JournalKnowledge } from '../../../src/domain/effects';
import { rigSettings } from '../../support/activity-settings';
import { cartItem } from '../../support/requests';
import { LoneActivities, type LoneSaga } from './lone-activities';

let stand: LoneActivities;
beforeAll(async () => {
  stand = await LoneActivities.start();
});
afterAll(() => stand.close());
afterEach(() => stand.sandbox.faults.clear());

const addStep = { step: 'add-cart-item-1' };
const add = { ...addStep, number: 1, item: cartItem() };
const placeStep = { step: 'place-order' };
const place = (cartItems: number[]) => ({ ...placeStep, order: { account: 'AB-1', cartItems } });

async function added(saga: LoneSaga): Promise<number> {
  const { value } = await saga.do('addCartItem', add);
  return value.cartItemId;
}

/** Somebody has meant the call, and nothing more is known of it. */
async function mean(saga: LoneSaga, call: EffectCall, { inFlightMs = 60_000, journal = stand.journal } = {}) {
  const meant = await journal.mean({ ...saga.key, run: 'another-run', call, knows: undefined, inFlightMs });
  if (meant.how !== 'send') throw new Error(`it is not to be sent: ${meant.how}`);
  return meant.knows;
}

const order = (cartItems: number[] = []): EffectCall => ({
  ...placeStep,
  kind: 'pivot',
  activity: 'placeOrder',
  about: { cartItems },
});
const item: EffectCall = { ...addStep, kind: 'mutate', activity: 'addCartItem', about: { item: 1 } };

/** No call was made meanwhile. */
async function nothingSent<T>(work: () => Promise<T>): Promise<T> {
  const before = stand.calls;
  const result = await work();
  expect(stand.calls).toBe(before);
  return result;
}

describe('recorded: the answer of then is given', () => {
  it('of an item that was added, in this run and in another', async () => {
    const saga = stand.saga();
    const first = await saga.do('addCartItem', add);
    expect(first).toEqual({ value: { cartItemId: expect.any(Number) as number }, knows: first.knows });
    const at = new Date(Number((await saga.rows())[0]?.answered_ms)).toISOString();
    for (const run of [saga, saga.again()]) {
      expect(await nothingSent(() => run.do('addCartItem', { ...add, knows: first.knows }))).toEqual({
        value: first.value,
        knows: { ...first.knows, begun: expect.any(Number) as number },
        recorded: { at, run: saga.run },
      });
    }
    expect(await saga.told()).toEqual(['add-cart-item-1 mutate done']);
  });

  it('of an order, as the provider gave it', async () => {
    const saga = stand.saga();
    const items = [await added(saga)];
    const first = await saga.do('placeOrder', place(items));
    expect(first.value).toMatchObject({ how: 'answered', value: { vmObjectIds: [expect.any(Number)] } });
    const again = await nothingSent(() => saga.again().do('placeOrder', place(items)));
    expect(again).toMatchObject({ value: first.value, recorded: { run: saga.run } });
  });

  it('of a deletion, also in the clean-up', async () => {
    const saga = stand.saga();
    const cartItemId = await added(saga);
    await saga.do('deleteCartItem', { ...addStep, cartItemId });
    const { cleaning } = saga;
    expect(await nothingSent(() => cleaning.do('deleteCartItem', { ...addStep, cartItemId }))).toMatchObject({
      value: null,
      recorded: { run: saga.run },
    });
  });
});

describe('under way: the first call may still be in flight', () => {
  it.each<[string, EffectCall, (saga: LoneSaga) => ReturnType<LoneSaga['refusal']>]>([
    ['an item is not added', item, (saga) => saga.refusal('addCartItem', add)],
    ['an order is not placed', order(), (saga) => saga.refusal('placeOrder', place([]))],
  ])('%s', async (_, call, refused) => {
    const saga = stand.saga();
    await mean(saga, call);
    const { retryInMs, inFlightMs, ...rest } = await nothingSent(() => refused(saga));
    expect(rest).toEqual({
      failure: 'UnderWay',
      message: 'a call that was sent before may still be in flight; nothing was sent now',
    });
    expect(inFlightMs).toBeGreaterThan(retryInMs ?? 0);
    expect(retryInMs).toBeGreaterThan(10_000);
    expect(retryInMs).toBeLessThanOrEqual(15_000);
  });

  it('is looked at again as soon as it is not any more', async () => {
    const saga = stand.saga();
    const inFlightMs = 700;
    await mean(saga, order(), { inFlightMs });
    const { retryInMs } = await saga.refusal('placeOrder', place([]));
    expect(retryInMs).toBeGreaterThan(0);
    expect(retryInMs).toBeLessThanOrEqual(inFlightMs);
  });
});

describe('unknown: a person is asked about the row', () => {
  it('of an order whose answer was lost', async () => {
    const saga = stand.saga();
    const items = [await added(saga)];
    stand.sandbox.faults.add({ endpoint: 'place-order', kind: 'reset-after' });
    const lost = await saga.refusal('placeOrder', place(items));
    const [, row] = await saga.rows();
    const doubt = { row: row?.id, at: expect.any(String) as string, run: saga.run, inFlightMs: 1_000, restored: false };
    expect(lost).toMatchObject({ failure: 'UnknownOutcome', endpoint: 'POST /order', doubt });
    expect(lost.retryInMs).toBeUndefined();

    const other = saga.again();
    const at = new Date(Number(row?.meant_ms)).toISOString();
    expect(await nothingSent(() => other.refusal('placeOrder', place(items)))).toEqual({
      failure: 'UnknownOutcome',
      message: `it was sent on ${at} by run ${saga.run}, and its outcome is not known; nothing was sent now`,
      doubt: { ...doubt, at },
    });
    expect(await saga.told()).toEqual(['add-cart-item-1 mutate done', 'place-order pivot unknown UnknownOutcome']);
  });
});

describe('undone: what it rests on was taken back since', () => {
  it('an order is not placed with an item that is gone, or may be', async () => {
    const saga = stand.saga();
    const cartItemId = await added(saga);
    stand.sandbox.faults.add({ endpoint: 'delete-cart-item', kind: 'reset-before' });
    await saga.refusal('deleteCartItem', { ...addStep, cartItemId });
    const gone = { failure: 'StateChanged', message: 'add-cart-item-1: undone since then; nothing was sent' };
    expect(await nothingSent(() => saga.refusal('placeOrder', place([cartItemId])))).toEqual(gone);
    await saga.do('deleteCartItem', { ...addStep, cartItemId });
    expect(await nothingSent(() => saga.refusal('placeOrder', place([cartItemId])))).toMatchObject(gone);
    expect(await saga.do('placeOrder', place([await added(saga)]))).toMatchObject({ value: { how: 'answered' } });
  });
});

describe('ordered: an item that an order names is not deleted', () => {
  it.each([
    ['that was placed', undefined, /^it belongs to the order that was placed on .* by run /],
    ['that may have been placed', 'error-after', /^it may belong to the order of .*, and nobody knows whether/],
  ] as const)('%s', async (_, kind, sentence) => {
    const saga = stand.saga();
    const cartItemId = await added(saga);
    if (kind) stand.sandbox.faults.add({ endpoint: 'place-order', kind });
    await saga.do('placeOrder', place([cartItemId])).catch(() => undefined);
    for (const task of [saga, saga.again(), saga.cleaning]) {
      const refused = await nothingSent(() => task.refusal('deleteCartItem', { ...addStep, cartItemId }));
      expect(refused).toEqual({ failure: 'Ordered', message: expect.stringMatching(sentence) as string });
      expect(refused.message).toContain(`by run ${saga.run}`);
    }
  });
});

describe('restored: the journal lacks what the run knows', () => {
  const lost = (knows: JournalKnowledge) => ({ ...knows, row: randomUUID() });

  it('nothing is sent, by this run or any other', async () => {
    const own = await LoneActivities.start();
    try {
      const saga = own.saga();
      const { knows } = await saga.do('addCartItem', add);
      const failure = 'JournalRestored';
      const calls = own.calls;
      expect(await saga.refusal('placeOrder', { ...place([1]), knows: lost(knows) })).toEqual({
        failure,
        message: 'the journal lacks what this saga wrote into it: it was restored from an older copy; nothing was sent',
      });
      const found = /^the journal was found to be an older copy on .*; nothing was sent$/;
      const other = own.saga();
      for (const refused of [
        await other.refusal('addCartItem', { ...add, step: 'add-cart-item-2' }),
        await other.refusal('deleteCartItem', { ...addStep, cartItemId: 1 }),
        await other.refusal('assignFirewalls', { step: 'assign', vmObjectId: 1, firewalls: [143] }),
      ]) {
        expect(refused).toEqual({ failure, message: expect.stringMatching(found) as string });
      }
      expect(own.calls).toBe(calls);
    } finally {
      await own.close();
    }
  });
});

it('two calls of a step at once: one is sent', async () => {
  const saga = stand.saga({ settings: { ...rigSettings, inFlightMs: 60_000 } });
  const order = place([await added(saga)]);
  const gate = stand.sandbox.faults.add({ endpoint: 'place-order', kind: 'gate' });
  const first = saga.do('placeOrder', order);
  await stand.sandbox.faults.whenStruck(gate);
  expect(await nothingSent(() => saga.again().refusal('placeOrder', order))).toMatchObject({ failure: 'UnderWay' });
  stand.sandbox.faults.release(gate);
  expect(await first).toMatchObject({ value: { how: 'answered' } });
});
