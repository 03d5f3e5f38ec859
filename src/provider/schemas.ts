/**
 * The provider's payloads, with the document's field names. Requests are types only: the caller has checked them. Of
 * responses, the documented parts are checked strictly, and other fields are kept as they came.
 */
import { z } from 'zod';
import type { CartItem, ChangeOrderRequest, ProvisionServersRequest, SwitchPlanRequest } from '../domain/requests';
import { amountMax, isRecord } from '../domain/values';
import { isId, readId } from './ids';

/** Row 1. The currency is ignored once the account has one, which its first order fixes. */
export type OrderBody = Pick<ProvisionServersRequest, 'account' | 'currency' | 'label' | 'payment_type'> & {
  /** Ids that {@link CartItemBody} calls returned. */
  cartItems: readonly number[];
};

/** Row 2, each secret by its value; key and script are base64. */
export type CartItemBody = Omit<CartItem, SecretField | 'alternatives'> & Partial<Record<SecretField, string>>;
type SecretField = 'password' | 'custom_ssh_key' | 'custom_script';

/** Rows 4 and 5. */
export type ChangeOrderBody = Pick<ChangeOrderRequest, 'subscription_id' | 'resources'>;

/** Row 7; row 6 has the subscription in its path. */
export type PlanSwitchBody = Pick<SwitchPlanRequest, 'subscription_id' | 'plan_id'>;

/** A documented number: encoders write it as a string; PHP has 9.99 as 9.9900000000000002, kept as a text till here. */
const number = () =>
  z.preprocess((value) => (isNumeric(value) ? Number(value) : value), z.number().min(-amountMax).max(amountMax));

function isNumeric(value: unknown): boolean {
  return typeof value === 'string' && /^-?\d{1,400}(\.\d{1,400})?(e[+-]?\d{1,9})?$/i.test(value);
}

/** A documented yes or no: encoders write it as a number, or in quotation marks. */
const yesOrNo = () =>
  z.preprocess((value) => {
    const [isYes, isNo] = [['true', '1', 1].includes(value as string), ['false', '0', 0].includes(value as string)];
    return isYes || isNo ? isYes : value;
  }, z.boolean());

/** Row 2. `data.message` is a text for people; it is optional. */
export const cartItemAddedSchema = z
  .looseObject({
    '0': z.unknown().transform(readId).refine(isId, 'not an id'),
    data: z.looseObject({ code: number().refine((code) => code === 200, 'not 200') }),
  })
  .transform((response) => ({ cartItemId: response['0'] }));

/** The new item's id, where it can be read, whatever else the answer says. */
export function cartItemIdIn(response: unknown): number | undefined {
  return isRecord(response) ? readId(response['0']) : undefined;
}

/** Longer than any currency code. The currency is shown in questions and reports. */
const currencyCharsMax = 100;

const dateCharsMax = 40;

/** Resources that do not apply are shown in questions and reports, too; a request names a handful. */
const inapplicableCharsMax = 8_192;

/** Rows 6 and 7. */
export const quoteSchema = z.looseObject({
  available: yesOrNo(),
  /** In units of the currency: the document says nothing of cents. */
  total: number(),
  currency: z
    .string()
    .max(currencyCharsMax)
    .refine((code) => code !== '' && code === code.toLowerCase(), 'not lowercase'),
  /** YYYY-MM-DD, says the document. They are only shown: as they come, 0000-00-00 too. */
  date_from: z.string().max(dateCharsMax),
  date_to: z.string().max(dateCharsMax),
});

/** Row 6. What is not available may have been switched to before, or not. */
export const switchedSchema = quoteSchema.refine(({ available }) => available, { path: ['available'] });

/** Row 5. */
export const changeQuoteSchema = quoteSchema.extend({
  inapplicable_resources: z
    .array(z.unknown())
    .refine((list) => JSON.stringify(list).length <= inapplicableCharsMax, 'too long'),
});
