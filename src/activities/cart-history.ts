/**
 * What a run bought and did to the cart, read from its own history. A run that was terminated, or reset, can no longer say
 * it; its events still do.
 */
import { decodeArrayFromPayloads } from '@temporalio/common/lib/internal-non-workflow';
import type { LoadedDataConverter, Payload } from '@temporalio/common';
import type { temporal } from '@temporalio/proto';
import type { CallFailure, CallFailureName } from '../domain/failures';
import type { PlaceOrder } from './orders';
import type { RunGuard } from './pivot-guard';

export interface CartHistory {
  added: Set<number>;
  deleted: Set<number>;
  /** Items of orders that were placed. */
  ordered: Set<number>;
  /** Items of orders of which the history does not say whether they were placed. */
  perhapsOrdered: Set<number>;
  /** Calls to add an item whose outcome was never learned, by what tells one event from another. */
  doubtfulAdds: Set<string>;
  /** True: an order, change order or switch was placed, or may have been. */
  perhapsPlaced: boolean;
}

export function emptyCartHistory(): CartHistory {
  return {
    added: new Set(),
    deleted: new Set(),
    ordered: new Set(),
    perhapsOrdered: new Set(),
    doubtfulAdds: new Set(),
    perhapsPlaced: false,
  };
}

const namesRead = ['addCartItem', 'deleteCartItem', 'placeOrder', 'placeChangeOrder', 'switchPlan'] as const;

interface Call {
  name: (typeof namesRead)[number];
  /** A reset copies events as they are, time included. */
  event: string;
  input: Payload[] | null | undefined;
  /** `undefined` while the run ended before the call did. */
  ended?: { result: Payload[] | null | undefined } | { failure: string; details: Payload[] | null | undefined };
}

/** One run of a saga. */
export interface Run {
  runId: string;
  /** True where no run of this workflow id was before it. */
  first: boolean;
  history: temporal.api.history.v1.IHistory;
}

/** Adds what one run's events say. The runs of a reset share events; what they share is counted once. */
export async function readCart(run: Run, converter: LoadedDataConverter, into: CartHistory): Promise<void> {
  const { history } = run;
  for (const call of callsIn(history)) {
    if (call.name === 'addCartItem') await readAdd(call, converter, into);
    else if (call.name === 'deleteCartItem') await readDelete(call, converter, into);
    else await readPivot(run, call, converter, into);
  }
}

function callsIn({ events }: temporal.api.history.v1.IHistory): Call[] {
  const calls = new Map<string, Call>();
  for (const event of events ?? []) {
    const scheduled = event.activityTaskScheduledEventAttributes;
    const name = namesRead.find((known) => known === scheduled?.activityType?.name);
    if (name !== undefined) {
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

async function readPivot(run: Run, call: Call, converter: LoadedDataConverter, into: CartHistory): Promise<void> {
  const placed = call.ended !== undefined && 'result' in call.ended;
  if (!placed && (!isDoubtful(call) || (await wasRefused(call, converter)))) return;
  const [input] = await decodeArrayFromPayloads(converter, call.input);
  // Where the answer was lost, too: the guard lets nothing out for a later run before a person has spoken in it. What was
  // copied into this run's history by a reset stands in the history of the run that did it.
  if (!placed && !run.first && (input as { guard: RunGuard }).guard.clearedRunId !== run.runId) return;
  into.perhapsPlaced = true;
  if (call.name !== 'placeOrder') return;
  for (const id of (input as PlaceOrder).order.cartItems) (placed ? into.ordered : into.perhapsOrdered).add(id);
}

/** The guard kept it from being sent: its outcome was unknown, but not because of this call. */
async function wasRefused({ ended }: Call, converter: LoadedDataConverter): Promise<boolean> {
  if (ended === undefined || !('details' in ended)) return false;
  const [failure] = await decodeArrayFromPayloads(converter, ended.details);
  return (failure as CallFailure | undefined)?.refused !== undefined;
}
