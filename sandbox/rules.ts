/**
 * The document's request tables as rules. A request is refused with all its errors, by field; no message repeats a value.
 *
 * Written from the document alone, on purpose: the client has its own reading of it, and tests compare the two. So a field
 * that the document does not have is refused.
 */
import { z } from 'zod';

const id = z.int().positive();
/** Not empty, and padded. */
const base64 = z.base64().min(1);

/** Row 2. Custom keys and scripts fit every template here: all are default Linux ones. */
export const cartItemSchema = z.strictObject({
  billing_cycle: z.int().refine((months) => [1, 3, 12].includes(months), 'must be 1, 3 or 12'),
  plan_id: id.optional(),
  plan_type: z.string().optional(),
  quantity: id.optional(),
  addons: z.array(z.strictObject({ id, additional_value: z.int() })).optional(),
  password: z.string().min(1).optional(),
  os_template_id: id.optional(),
  custom_ssh_key: base64.optional(),
  custom_script: base64.optional(),
});
export type CartItem = z.infer<typeof cartItemSchema>;

/** Row 1. An empty order is refused: the document gives it no meaning. */
export const orderSchema = z.strictObject({
  // "Two-character prefix" is read as two letters or digits.
  account: z.string().regex(/^[A-Za-z0-9]{2}-[0-9]+$/),
  // Every account has its currency already, so "this field is ignored".
  currency: z.unknown().optional(),
  label: z.string().optional(),
  cartItems: z
    .array(id)
    .min(1)
    .refine((ids) => new Set(ids).size === ids.length, 'must not name a cart item twice'),
  payment_type: z.literal('ccard').optional(),
});

/** `delta_value` is a numeric string, as in the document's example; a bare number is refused. */
const resourceSchema = z.strictObject({
  resource_name: z.enum(['vm_backup', 'china_route', 'vm_antiddos']),
  delta_value: z.string().regex(/^-?\d+(\.\d+)?$/),
});
export interface Resource {
  resource_name: string;
  delta_value: string;
}

/** Rows 4 and 5. */
export const changeOrderSchema = z.strictObject({ subscription_id: id, resources: z.array(resourceSchema).min(1) });

/** Row 6: the subscription is in the path, so the body has the plan only. */
export const switchSchema = z.strictObject({ plan_id: id });

/** Row 7. */
export const switchQuoteSchema = z.strictObject({ subscription_id: id, plan_id: id });

/** Rows 8 and 9. An empty list is accepted, and changes nothing. */
export const firewallsSchema = z.strictObject({ firewalls: z.array(z.strictObject({ id })) });
