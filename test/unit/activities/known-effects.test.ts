/**
 * What the journal says of a call before it is made: then nothing is sent, and the workflow is told what is known
 * instead. When the journal says which: test/integration/journal/contract.
 */
import type { CallFailure } from '../../../src/domain/failures';
import type { Meant } from '../../../src/journal/decide';
import { cartItem } from '../../support/requests';
import { journalThat, LoneActivities } from './lone-activities';

let stand: LoneActivities;
beforeAll(async () => {
  stand = await LoneActivities.start();
});
afterAll(() => stand.close());

const add = { step: 'add-cart-item-1', number: 1, item: cartItem() };
const [at, run] = ['2026-01-31T22:15:00.000Z', 'another-run'];
const place = { step: 'place-order', order: { account: 'AB-1', cartItems: [1] } };

/** A saga whose journal says this of every call. */
const sagaTold = (meant: Meant) =>
  stand.saga({ journal: journalThat(stand.journal, () => ({ mean: () => Promise.resolve(meant) })) });

/** No call was made meanwhile. */
async function nothingSent<T>(work: () => Promise<T>): Promise<T> {
  const before = stand.calls;
  const result = await work();
  expect(stand.calls).toBe(before);
  return result;
}

it('recorded: the answer of then is given, with the run and the time, and how many doubts there are', async () => {
  const knows = { journal: 'j', epoch: 1 };
  const meant = { how: 'recorded', knows, answer: { cartItemId: 7 }, at, run, doubts: 2 } as const;
  expect(await nothingSent(() => sagaTold(meant).do('addCartItem', add))).toEqual({
    ...{ value: { cartItemId: 7 }, knows, recorded: { at, run }, doubts: 2 },
  });
});

const doubt = { row: 'r', at, run, inFlightMs: 1_000, restored: false };

const inFlight = 'a call that was sent before may still be in flight; nothing was sent now';
const lost = `it was sent on ${at} by run ${run}, and its outcome is not known; nothing was sent now`;
const belongs = `it belongs to the order that was placed on ${at} by run ${run}`;
const mayBelong = `it may belong to the order of ${at} by run ${run}, and nobody knows whether that was placed`;

it.each<[Meant, CallFailure['failure'], message: string, rest?: Partial<CallFailure>]>([
  [{ how: 'under-way', row: 'r', leftMs: 60_000 }, 'UnderWay', inFlight, { retryInMs: 15_000, inFlightMs: 60_000 }],
  [{ how: 'under-way', row: 'r', leftMs: 700 }, 'UnderWay', inFlight, { retryInMs: 700, inFlightMs: 700 }],
  [{ how: 'unknown', leftMs: 0, ...doubt }, 'UnknownOutcome', lost, { doubt }],
  [{ how: 'changed', why: 'add-1: undone' }, 'StateChanged', 'add-1: undone; nothing was sent'],
  [{ how: 'ordered', placed: true, at, run }, 'Ordered', belongs],
  [{ how: 'ordered', placed: false, at, run }, 'Ordered', mayBelong],
  [{ how: 'restored', why: 'it is an older copy' }, 'JournalRestored', 'it is an older copy; nothing was sent'],
])('%j: the workflow is told %s', async (meant, failure, message, rest = {}) => {
  const told = await nothingSent(() => sagaTold(meant).refusal('placeOrder', place));
  expect(told).toEqual({ failure, message, ...rest });
});
