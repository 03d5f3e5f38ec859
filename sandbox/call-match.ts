/** Selects calls: by endpoint, and by what a call names in its path, query or body. */
import { z } from 'zod';
import type { EndpointName } from './endpoints';

const id = z.number().int().positive();

export const callMatchSchema = z.strictObject({
  account: z.string().optional(),
  label: z.string().optional(),
  planId: id.optional(),
  subscriptionId: id.optional(),
  vmObjectId: id.optional(),
  /** The id in the path of row 3, or one of the `cartItems` of row 1. */
  cartItemId: id.optional(),
});
/** A call must match all given fields. */
export type CallMatch = z.infer<typeof callMatchSchema>;

export interface AwaitedCalls {
  /** Default `*`: any endpoint. */
  endpoint?: EndpointName | '*' | undefined;
  match?: CallMatch | undefined;
  /** Default 1. Calls that arrived before count, too. */
  times?: number | undefined;
}
