/**
 * The document's request tables as rules. All errors of a request are named at once, by field; no message repeats a
 * value.
 *
 * Written from the document alone, on purpose: the client has its own reading of it, and tests compare the two.
 */
import { z } from 'zod';
import type { CartItem, ChangeOrder, Order } from './payloads';
import { cloudServerPlanTypes, type Settings } from './settings';

export type Checked<T> = { ok: true; value: T } | { ok: false; errors: string[] };

/** Whether an item makes servers: by its plan type, else by its plan's type, else by the setting. */
export function isServer(
  { plan_type, plan_id }: CartItem,
  rules: Pick<Settings, 'plans' | 'serverPlanTypes' | 'untypedItemsAreServers'>,
): boolean {
  const planType = plan_type ?? rules.plans[String(plan_id)];
  return planType === undefined ? rules.untypedItemsAreServers : rules.serverPlanTypes.includes(planType);
}

const id = z.int('must be a whole number').positive('must be positive');
const base64 = z
  .string('must be a string')
  .regex(
    /^(?=.)(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/,
    'must be Base64: letters, digits, + and /, padded with =',
  );

type Rules = Pick<Settings, 'unknownFields' | 'supportedPlanTypes' | 'plans' | 'templates'>;

/** Row 2. */
export function checkCartItem(body: unknown, rules: Rules): Checked<CartItem> {
  const supported = rules.supportedPlanTypes;
  const schema = fields(rules, {
    billing_cycle: z.literal([1, 3, 12], 'must be 1, 3 or 12'),
    plan_id: id.optional(),
    plan_type: z
      .string('must be a string')
      .refine((type) => supported.includes(type), `must be one of ${supported.join(', ')}`)
      .optional(),
    quantity: id.optional(),
    addons: z
      .array(fields(rules, { id, additional_value: z.int('must be a whole number') }), 'must be an array')
      .optional(),
    password: z.string('must be a string').min(1, 'must not be empty').optional(),
    os_template_id: id.optional(),
    custom_ssh_key: base64.optional(),
    custom_script: base64.optional(),
  });
  return check(schema, body, (raw) => cartItemErrors(raw, rules));
}

/** Rules between fields. They read the raw body, so that their errors come together with the others. */
function cartItemErrors(raw: Record<string, unknown>, rules: Rules): string[] {
  const errors: string[] = [];
  const planType = raw['plan_type'];
  if (typeof planType === 'string' && cloudServerPlanTypes.includes(planType)) {
    if (raw['password'] === undefined) errors.push(`password: required for ${planType}`);
    if (raw['os_template_id'] === undefined) errors.push(`os_template_id: required for ${planType}`);
  }
  const planTypeOfPlan = rules.plans[String(raw['plan_id'])];
  if (planTypeOfPlan !== undefined && planType !== undefined && planType !== planTypeOfPlan) {
    errors.push(`plan_id: this plan is of type ${planTypeOfPlan}`);
  }
  const template = rules.templates[String(raw['os_template_id'])] ?? 'linux';
  if (template !== 'linux') {
    for (const field of ['custom_ssh_key', 'custom_script']) {
      if (raw[field] !== undefined) errors.push(`${field}: a ${template} template does not support it`);
    }
  }
  return errors;
}

/** Row 1, without the checks that need the cart. An empty order is refused: the document gives it no meaning. */
export function checkOrder(body: unknown, rules: Rules): Checked<Order> {
  const schema = fields(rules, {
    // "Two-character prefix" is read as two letters or digits.
    account: z
      .string('must be a string')
      .regex(/^[A-Za-z0-9]{2}-[0-9]+$/, 'must be a two-character prefix, a hyphen and digits'),
    currency: z.unknown().optional(),
    label: z.string('must be a string').optional(),
    cartItems: z
      .array(id, 'must be an array of cart item ids')
      .min(1, 'must name at least one cart item')
      .refine((ids) => new Set(ids).size === ids.length, 'must not name a cart item twice'),
    payment_type: z.literal('ccard', 'must be ccard').optional(),
  });
  return check(schema, body);
}

/** Rows 4 and 5. `delta_value` is a numeric string, as in the document's example; a bare number is refused. */
export function checkChangeOrder(body: unknown, rules: Rules): Checked<ChangeOrder> {
  const resource = fields(rules, {
    resource_name: z.enum(
      ['vm_backup', 'china_route', 'vm_antiddos'],
      'must be one of vm_backup, china_route, vm_antiddos',
    ),
    delta_value: z.string('must be a numeric string').regex(/^-?\d+(\.\d+)?$/, 'must be a numeric string'),
  });
  const schema = fields(rules, {
    subscription_id: id,
    resources: z.array(resource, 'must be an array').min(1, 'must name at least one resource'),
  });
  return check(schema, body);
}

/** Row 6: the subscription is in the path, so the body has the plan only. */
export function checkSwitch(body: unknown, rules: Rules): Checked<{ plan_id: number }> {
  return check(fields(rules, { plan_id: id }), body);
}

/** Row 7. */
export function checkSwitchQuote(body: unknown, rules: Rules): Checked<{ subscription_id: number; plan_id: number }> {
  return check(fields(rules, { subscription_id: id, plan_id: id }), body);
}

/** Rows 8 and 9. An empty list is accepted, and changes nothing. */
export function checkFirewalls(body: unknown, rules: Rules): Checked<{ firewalls: { id: number }[] }> {
  return check(fields(rules, { firewalls: z.array(fields(rules, { id }), 'must be an array') }), body);
}

function fields<T extends z.ZodRawShape>(rules: Rules, shape: T): z.ZodObject<T> {
  const object = z.object(shape, {
    error: (issue) => (issue.code === 'invalid_type' ? 'must be an object' : undefined),
  });
  return rules.unknownFields === 'refuse' ? object.strict() : object;
}

function check<T>(
  schema: z.ZodType<T>,
  body: unknown,
  alsoWrong: (raw: Record<string, unknown>) => string[] = () => [],
): Checked<T> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    return { ok: false, errors: ['body: must be a JSON object'] };
  }
  const parsed = schema.safeParse(body);
  const errors = [...(parsed.error?.issues ?? []).flatMap(sentencesOf), ...alsoWrong(body as Record<string, unknown>)];
  return parsed.success && errors.length === 0 ? { ok: true, value: parsed.data } : { ok: false, errors };
}

function sentencesOf(issue: z.core.$ZodIssue): string[] {
  const place = issue.path.join('.');
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => `${place ? `${place}.` : ''}${key}: not a field of this request`);
  }
  return [`${place || 'body'}: ${issue.message}`];
}
