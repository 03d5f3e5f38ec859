/** Selects calls: by endpoint, and by what a call names in its path, query or body. */
import { z } from 'zod';
import { endpointNames } from './endpoints';

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

export const awaitedCallsSchema = z.strictObject({
  /** Default `*`: any endpoint. */
  endpoint: z.enum([...endpointNames, '*']).optional(),
  match: callMatchSchema.optional(),
  /** Default 1. Calls that arrived before count, too. */
  times: id.optional(),
});
export type AwaitedCalls = z.infer<typeof awaitedCallsSchema>;
