/**
 * One word for what is at the provider once a saga has ended: the state of an ended saga, and `outcome` of its result
 * or report.
 *
 * - `done`: all that was asked for is there.
 * - `partly`: it is there, but something was skipped, is left over, or was not reached any more.
 * - `reversed`: it failed or was cancelled, and nothing of it is there.
 * - `reversed-with-leftovers`: it failed or was cancelled, and `leftovers` names what is there anyway, or may be.
 * - `untouched`: the run was refused, or ended, before it did anything. It says nothing of what other runs of its
 *   reference did.
 */
import { z } from 'zod';

export const sagaOutcomes = ['done', 'partly', 'reversed', 'reversed-with-leftovers', 'untouched'] as const;
export type SagaOutcome = (typeof sagaOutcomes)[number];

/** For a saga that reached the end of its steps. */
export const resultOutcomes = ['done', 'partly'] as const satisfies SagaOutcome[];

const why = z.string();
const firewalls = z.array(z.int());
const vmObjectId = z.int();

/**
 * A saga may leave these behind at the provider. The third invariant is that it reports all of them.
 *
 * - `cart-item`: an item that was added and neither ordered nor deleted.
 * - `cart-item-unknown`: a call to add an item whose outcome was never learned; there may be an item of unknown id.
 *   `item` is its number in the request, where this run made the call.
 * - `firewalls`: firewalls that were (or may have been) changed on a server and not undone; or that were to be
 *   changed, and are not as far as the provider's list shows.
 * - `server-unprotected`: a server that was bought and, as far as the saga knows, lacks these firewalls that were asked
 *   for. Without `vmObjectId` it is every server of the order: their ids are not known.
 * - `server-unverified`: a server whose firewalls were assigned or changed, and nobody knows whether it has them: the
 *   provider's list cannot be read.
 * - `servers-miscounted`: another number of servers was named than was ordered, or servers of other orders; `named` are
 *   their object ids.
 * - `placement-unknown`: an order, change order or switch; nobody has said whether it took effect.
 */
export const leftoverSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('cart-item'), cartItemId: z.int(), why }),
  z.strictObject({ kind: z.literal('cart-item-unknown'), item: z.int().optional(), why }),
  z.strictObject({ kind: z.literal('firewalls'), vmObjectId, firewalls, why }),
  z.strictObject({ kind: z.literal('server-unprotected'), vmObjectId: vmObjectId.optional(), firewalls, why }),
  z.strictObject({ kind: z.literal('server-unverified'), vmObjectId, firewalls, why }),
  z.strictObject({ kind: z.literal('servers-miscounted'), ordered: z.string(), named: z.array(z.int()), why }),
  z.strictObject({ kind: z.literal('placement-unknown'), step: z.string(), why }),
]);
export type Leftover = z.infer<typeof leftoverSchema>;
export const leftoverKinds = leftoverSchema.options.map(({ shape }) => shape.kind.value);

export interface End {
  /** Nothing is undone: it was placed, or nothing of the saga can be undone. */
  stands: boolean;
  /** The saga reached its end. */
  isFinished: boolean;
  /** Steps that a person skipped. */
  skipped: readonly string[];
  leftovers: readonly Leftover[];
}

export function outcomeOfEnd({ stands, isFinished, skipped, leftovers }: End): SagaOutcome {
  if (stands) return isFinished && skipped.length === 0 && leftovers.length === 0 ? 'done' : 'partly';
  return leftovers.length === 0 ? 'reversed' : 'reversed-with-leftovers';
}

export function isOutcome(state: string | undefined): state is SagaOutcome {
  return sagaOutcomes.some((outcome) => outcome === state);
}
