/**
 * What reached a worker with keys unsealed: not encrypted, or not by a key of its own. Its codec marks such a payload,
 * and its converter (`src/saga/payload-converter.ts`) remembers the object that becomes of it. People may send a few
 * things so, and whoever reads one of them asks here; of what workers send each other, nothing is believed so.
 */

/** Metadata of such a payload. */
export const unsealedMark = 'order-saga-clear';

const unsealed = new WeakSet<object>();

/** Metadata inside the seal: whose call's argument, answer or failure it is. */
const callMark = 'order-saga-call';

type Part = 'argument' | 'answer' | 'failure';
/** Of Temporal's types, what is read here. */
interface Stored {
  metadata?: Record<string, Uint8Array> | null;
}
interface Context {
  type: string;
  workflowId?: string;
  activityId?: string;
}

/** What is sealed for a call of an activity counts for that call alone: anybody can copy it out of a history. */
export function ofCall<P extends Stored>(payload: P, part: Part, context: Context | undefined): P {
  if (context?.type !== 'activity') return payload;
  return { ...payload, metadata: { ...payload.metadata, [callMark]: new TextEncoder().encode(nameOf(part, context)) } };
}

export function ofNoCall<P extends Stored>(payload: P): P {
  const { [callMark]: _, ...metadata } = payload.metadata ?? {};
  return { ...payload, metadata };
}

/** @returns whether it came unsealed, or was sealed for another call, or for none */
export function isForeign({ metadata }: Stored, part: Part, context: Context | undefined): boolean {
  if (metadata?.[unsealedMark]) return true;
  return context?.type === 'activity' && new TextDecoder().decode(metadata?.[callMark]) !== nameOf(part, context);
}

function nameOf(part: Part, { workflowId, activityId }: Context): string {
  return JSON.stringify([part, workflowId, activityId]);
}

/** In the place of a sealed `undefined` of an activity: no answer at all looks otherwise. */
const sealedNothing = {};

export function isUnsealed(value: unknown): boolean {
  return typeof value === 'object' && value !== null && unsealed.has(value);
}

/**
 * @param isMarked its payload is unsealed, or of another call
 * @param isOfActivity an argument or a result: of those even a bare text or number is remembered, as an object
 */
export function rememberSeal(value: unknown, isMarked: boolean, isOfActivity: boolean): unknown {
  if (!isMarked) return isOfActivity && value === undefined ? sealedNothing : value;
  const remembered: unknown = isOfActivity ? Object(value) : value;
  if (typeof remembered === 'object' && remembered !== null) unsealed.add(remembered);
  return remembered;
}

export const notBelieved =
  'it came unencrypted, or not by a key of the workers, or was made for another call, and is not believed';

/** @returns the value of a result or an argument of an activity. @throws what `refuse` makes */
export function believed<T>(value: T, refuse: () => Error): T {
  if (value === undefined || isUnsealed(value)) throw refuse();
  return value === sealedNothing ? (undefined as T) : value;
}
