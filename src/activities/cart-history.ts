/**
 * What a provisioning run did to the cart, read from its own history. A run that was terminated, or reset, can no longer
 * say it; its events still do.
 */
import { decodeArrayFromPayloads } from '@temporalio/common/lib/internal-non-workflow';
import type { LoadedDataConverter, Payload } from '@temporalio/common';
import type { temporal } from '@temporalio/proto';
import type { CallFailure, CallFailureName } from '../domain/failures';
import type { PlaceOrder } from './orders';

export interface CartHistory {
  added: Set<number>;
  deleted: Set<number>;
  /** Items of orders that were placed. */
  ordered: Set<number>;
  /** Items of orders of which the history does not say whether they were placed. */
  perhapsOrdered: Set<number>;
  /** Calls to add an item whose outcome was never learned, by what tells one event from another. */
  doubtfulAdds: Set<string>;
}

export function emptyCartHistory(): CartHistory {
  return {
    added: new Set(),
    deleted: new Set(),
    ordered: new Set(),
    perhapsOrdered: new Set(),
    doubtfulAdds: new Set(),
  };
}

interface Call {
  name: 'addCartItem' | 'deleteCartItem' | 'placeOrder';
  /** A reset copies events as they are, time included. */
  event: string;
  input: Payload[] | null | undefined;
  /** `undefined` while the run ended before the call did. */
  ended?: { result: Payload[] | null | undefined } | { failure: string; details: Payload[] | null | undefined };
}

/** Adds what one run's events say. The runs of a reset share events; what they share is counted once. */
export async function readCart(
  history: temporal.api.history.v1.IHistory,
  converter: LoadedDataConverter,
  into: CartHistory,
): Promise<void> {
  for (const call of callsIn(history)) {
    if (call.name === 'addCartItem') await readAdd(call, converter, into);
    else if (call.name === 'deleteCartItem') await readDelete(call, converter, into);
    else await readOrder(call, converter, into);
  }
}

function callsIn({ events }: temporal.api.history.v1.IHistory): Call[] {
  const calls = new Map<string, Call>();
  for (const event of events ?? []) {
    const scheduled = event.activityTaskScheduledEventAttributes;
    const name = scheduled?.activityType?.name;
    if (name === 'addCartItem' || name === 'deleteCartItem' || name === 'placeOrder') {
      const at = `${String(event.eventTime?.seconds)}.${String(event.eventTime?.nanos)}`;
      calls.set(String(event.eventId), {
        name,
        event: `${String(event.eventId)} ${at}`,
        input: scheduled?.input?.payloads,
      });
    }
    const completed = event.activityTaskCompletedEventAttributes;
    const failed = event.activityTaskFailedEventAttributes;
    const ended = completed ?? failed ?? event.activityTaskTimedOutEventAttributes;
    const call = ended && calls.get(String(ended.scheduledEventId));
    if (!call) continue;
    call.ended = completed
      ? { result: completed.result?.payloads }
      : {
          failure: failed?.failure?.applicationFailureInfo?.type ?? 'timed out',
          details: failed?.failure?.applicationFailureInfo?.details?.payloads,
        };
  }
  return [...calls.values()];
}

/** After these the provider has surely done nothing. */
const withoutEffect: readonly string[] = [
  'NotSent',
  'RateLimited',
  'Unauthorized',
  'Rejected',
  'Held',
  'SecretMissing',
] satisfies CallFailureName[];

const isDoubtful = ({ ended }: Call) =>
  ended === undefined || ('failure' in ended && !withoutEffect.includes(ended.failure));

async function readAdd(call: Call, converter: LoadedDataConverter, into: CartHistory): Promise<void> {
  if (isDoubtful(call)) into.doubtfulAdds.add(call.event);
  if (!call.ended || !('result' in call.ended)) return;
  const [result] = await decodeArrayFromPayloads(converter, call.ended.result);
  into.added.add((result as { cartItemId: number }).cartItemId);
}

async function readDelete(call: Call, converter: LoadedDataConverter, into: CartHistory): Promise<void> {
  if (!call.ended || !('result' in call.ended)) return;
  const [input] = await decodeArrayFromPayloads(converter, call.input);
  into.deleted.add((input as { cartItemId: number }).cartItemId);
}

async function readOrder(call: Call, converter: LoadedDataConverter, into: CartHistory): Promise<void> {
  const placed = call.ended !== undefined && 'result' in call.ended;
  if (!placed && (!isDoubtful(call) || (await wasRefused(call, converter)))) return;
  const [input] = await decodeArrayFromPayloads(converter, call.input);
  for (const id of (input as PlaceOrder).order.cartItems) (placed ? into.ordered : into.perhapsOrdered).add(id);
}

/** The guard kept it from being sent: its outcome was unknown, but not because of this call. */
async function wasRefused({ ended }: Call, converter: LoadedDataConverter): Promise<boolean> {
  if (ended === undefined || !('details' in ended)) return false;
  const [failure] = await decodeArrayFromPayloads(converter, ended.details);
  return (failure as CallFailure | undefined)?.refused !== undefined;
}
