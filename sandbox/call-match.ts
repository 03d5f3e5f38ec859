/** Which calls are meant: by endpoint, and by what a call names in its path, query or body. */
import { z } from 'zod';
import type { EndpointName } from './endpoints';

const id = z.number().int().positive();

export const callMatchSchema = z.strictObject({
  account: z.string().optional(),
  label: z.string().optional(),
  planId: id.optional(),
  subscriptionId: id.optional(),
  vmObjectId: id.optional(),
  /** In the path of row 3, or among the `cartItems` of row 1. */
  cartItemId: id.optional(),
});
/** All that are given must fit; a call that has no such field does not. */
export type CallMatch = z.infer<typeof callMatchSchema>;

/** Which calls to wait for, and how many of them. */
export interface AwaitedCalls {
  /** Default `*`: any. */
  endpoint?: EndpointName | '*' | undefined;
  match?: CallMatch | undefined;
  /** Default 1; calls that arrived before the waiting began count too. */
  times?: number | undefined;
}
