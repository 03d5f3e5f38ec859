/**
 * Each request of the service is one zod schema, with every rule that the provider's document states.
 *
 * Fields of a provider payload keep the document's names (`plan_id`); the service's own are camelCase. What the
 * document leaves unmarked is optional here: only the provider knows whether it can do without. Objects are strict:
 * a misspelt optional field would otherwise be an order that silently lacks something.
 *
 * The same schema is used by the client, before anything starts, and at the top of the workflow.
 */
import { z } from 'zod';
import { referenceSchema, type WorkflowName } from './identity';
import { lazy } from './lazy';
import { serversMax, stepsMax } from './limits';
import { cloudServerPlanTypes, countOf, documentedPlanTypes, fits, serversOrdered, type PlanTypes } from './plan-types';
import { redactedMark, secretReferenceSchema } from './secrets';

const positiveInt = z.int('must be a whole number').positive('must be a whole number above 0');

/** The document limits no account id, but it is a search attribute, which has a limit. */
const accountSchema = lazy(() =>
  z
    .string('must be a string')
    .regex(/^[A-Za-z0-9]{2}-\d+$/, 'must be two letters or digits, a hyphen and digits, like AB-12345678')
    .max(255, 'must not be longer than 255 characters'),
);

const nonEmpty = z.string('must be a string').min(1, 'must not be empty');
const currency = () => z.string('must be a string').regex(/^[A-Za-z]{3}$/, 'must be a currency code, like USD');

/** After this time only undos are sent. A time that has passed is valid: a caller may ask for what was done. */
const timeSchema = lazy(() =>
  z.iso.datetime({ offset: true, error: 'must be a time with its zone, like 2026-01-31T18:00:00Z' }),
);

// eslint-disable-next-line no-control-regex
const metadataValue = /^[^\u0000-\u001f\u007f-\u009f\u2028\u2029'"\\]{1,100}$/;
const metadataKey = /^[A-Za-z][A-Za-z0-9_.-]{0,39}$/;
/** Five of them fit Temporal's limit for one search attribute. Without quotes, so that each can stand in a list filter. */
const metadataMax = 5;

/** The caller's own words about the request (cost centre, ticket, requester): found by, reported, and never encrypted. */
const metadataSchema = lazy(() =>
  z
    .record(
      z.string(),
      z
        .string('must be a text')
        .regex(metadataValue, 'must be 1 to 100 characters, without quotes, backslashes and line breaks'),
      'must be an object of texts',
    )
    .refine((entries) => Object.keys(entries).length <= metadataMax, `must not have more than ${metadataMax} entries`)
    .refine(
      (entries) => Object.keys(entries).every((key) => metadataKey.test(key)),
      'must have names of 1 to 40 of the characters A-Z a-z 0-9 _ . -, a letter first',
    ),
);

/** Not zod's own: that one calls `atob`, which a workflow does not have. */
const base64 = lazy(() =>
  z
    .string('must be base64')
    .refine((text) => text.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(text), 'must be base64, and not empty'),
);

/** zod skips rules across fields where a field is wrong: so all is named at once. Parts may be of any type. */
const alsoBesideOthers = { when: ({ value }: { value: unknown }) => typeof value === 'object' && value !== null };

function wrong(context: z.core.$RefinementCtx, path: PropertyKey[], message: string): void {
  context.addIssue({ code: 'custom', path, message });
}

const uniqueIds = lazy(() =>
  z.array(positiveInt, 'must be a list of ids').superRefine((ids, context) => {
    const seen = new Set<unknown>();
    ids.forEach((id, index) => {
      if (seen.has(id)) wrong(context, [index], 'is in the list twice');
      seen.add(id);
    });
  }),
);

export const firewallsSchema = uniqueIds;

/** It may be empty: where an order may bring no servers, a person may say that there are none. */
export const foundServersSchema = uniqueIds;

const vmObjectIdsSchema = lazy(() => uniqueIds().min(1, 'must name at least one server'));

/** A value or its name. The redaction mark is none: a request that is copied from a redacted one would set it. */
function secret<T extends z.ZodType<string>>(value: T, what: string) {
  const real = value.refine((given) => given !== redactedMark, { abort: true });
  return z.union([real, secretReferenceSchema()], {
    error: ({ input }) => {
      const must = input === redactedMark ? 'was redacted: put the real value' : `must be ${what}`;
      return `${must}, or { "secret": the name of a secret }`;
    },
  });
}

/** True if a secret's value, once it is looked up, is what the document asks for. */
export function fitsDocument(field: 'password' | 'custom_ssh_key' | 'custom_script', value: string): boolean {
  return (field === 'password' ? nonEmpty : base64()).safeParse(value).success;
}

/** The fields of a cart item that a person may correct at any wait, while the item is not yet added. */
export const correctableItemFields = lazy(() => ({
  password: secret(nonEmpty, 'a text that is not empty').optional(),
  os_template_id: positiveInt.optional(),
  custom_ssh_key: secret(base64(), 'base64').optional(),
  custom_script: secret(base64(), 'base64').optional(),
}));

function itemFields(planTypes: PlanTypes) {
  const names = [...documentedPlanTypes, ...Object.keys(planTypes)];
  return {
    billing_cycle: z.literal([1, 3, 12], 'must be 1 (monthly), 3 (quarterly) or 12 (annually)'),
    plan_id: positiveInt.optional(),
    plan_type: z.enum(names, `must be one of ${names.join(', ')}`).optional(),
    quantity: positiveInt.optional(),
    addons: z.array(z.strictObject({ id: positiveInt, additional_value: z.int('must be a whole number') })).optional(),
    ...correctableItemFields(),
  };
}

/** Each costs a call, and perhaps a question, before the saga ends. */
const alternativesMax = 5;

/** What the plan decides of an item. An alternative has no secret, and never more than the item. */
function alternativesSchema(planTypes: PlanTypes) {
  const { plan_id, plan_type, os_template_id, billing_cycle } = itemFields(planTypes);
  return z
    .array(
      z.strictObject({ plan_id, plan_type, os_template_id, billing_cycle: billing_cycle.optional() }),
      'must be a list of alternatives',
    )
    .max(alternativesMax, `must not have more than ${alternativesMax} entries`);
}

function cartItemSchema(planTypes: PlanTypes) {
  const fields = { ...itemFields(planTypes), alternatives: alternativesSchema(planTypes).optional() };
  return z.strictObject(fields).superRefine((item, context) => {
    const alternatives = Array.isArray(item.alternatives) ? item.alternatives : [];
    const seen = new Set<string>();
    [item, ...alternatives].forEach((changes, index) => {
      const one = { ...item, ...changes };
      const { plan_id, plan_type, os_template_id, billing_cycle } = one;
      const plan = JSON.stringify([plan_id, plan_type, os_template_id, billing_cycle]);
      if (seen.has(plan)) wrong(context, ['alternatives', index - 1], 'equals the item, or an alternative before it');
      seen.add(plan);
      if (plan_type === undefined || !cloudServerPlanTypes.includes(plan_type)) return;
      if (index > 0 && plan_type === item.plan_type) return;
      for (const field of ['password', 'os_template_id'] as const) {
        if (one[field] === undefined) wrong(context, [field], `is required for plan_type ${plan_type}`);
      }
    });
  }, alsoBesideOthers);
}

/** The fields of an item, and those of the order, may be corrected if the provider refuses an order. */
export function purchaseCorrectionFields(planTypes: PlanTypes) {
  const { billing_cycle, ...fields } = itemFields(planTypes);
  return {
    ...fields,
    billing_cycle: billing_cycle.optional(),
    label: nonEmpty.optional(),
    currency: currency().optional(),
    vmObjectIds: vmObjectIdsSchema().optional(),
  };
}

/** A refusal before the pivot ends the saga, or a person is asked. */
const onRefusalSchema = lazy(() => z.enum(['fail', 'ask'], 'must be "fail" or "ask"'));
export type OnRefusal = z.infer<ReturnType<typeof onRefusalSchema>>;

/** @param planTypes of `plan_type`, beyond the document's four, as the provider's profile has them */
export function provisionServersSchema(planTypes: PlanTypes = {}) {
  return z
    .strictObject({
      reference: referenceSchema(),
      account: accountSchema(),
      currency: currency().optional(),
      label: nonEmpty.optional(),
      payment_type: z.literal('ccard', 'must be "ccard"').optional(),
      items: z.array(cartItemSchema(planTypes), 'must be a list of cart items').min(1, 'must hold at least one item'),
      firewalls: firewallsSchema().optional(),
      vmObjectIds: vmObjectIdsSchema().optional(),
      guard: purchaseGuardSchema().optional(),
      approval: purchaseApprovalSchema().optional(),
      metadata: metadataSchema().optional(),
      notAfter: timeSchema().optional(),
      onRefusal: onRefusalSchema().optional(),
    })
    .superRefine((request, context) => {
      const ordered = serversOrdered(request.items, planTypes);
      if (ordered.most === 0 && request.firewalls?.length) {
        wrong(context, ['firewalls'], 'protect servers, but no item is a server');
      }
      const servers = countOf(ordered);
      if (ordered.most > serversMax) {
        wrong(context, ['items'], `order ${servers} servers; one saga takes at most ${serversMax}`);
      } else if (ordered.most > stepsMax && request.firewalls?.length) {
        wrong(context, ['firewalls'], `are assigned to at most ${stepsMax} servers, but ${servers} are ordered`);
      }
      if (request.vmObjectIds === undefined || fits(request.vmObjectIds.length, ordered)) return;
      wrong(context, ['vmObjectIds'], `names ${request.vmObjectIds.length} servers, but ${servers} are ordered`);
    });
}

const documentedOnly = lazy(() => provisionServersSchema());

/** JavaScript has rounded any other one before it is read here. */
const exact = () => z.number().min(-Number.MAX_SAFE_INTEGER).max(Number.MAX_SAFE_INTEGER);

/** A numeric string, as the document's example has it. A number is accepted and sent as such a string. */
const deltaValue = () =>
  z
    .union([z.string(), exact()], 'must be a numeric string, or a number that has at most 15 digits')
    .transform(String)
    .pipe(z.string().regex(/^-?\d+(\.\d+)?$/, 'must be a number or a numeric string, like "1"'));

const amount = () => z.number('must be a number').nonnegative('must not be negative');

/** For each question; a year at most. */
const seconds = () =>
  z.int('must be a whole number').min(1, 'must be at least 1').max(31_536_000, 'must be a year at most');

const expiringSchema = () => z.strictObject({ expiresAfterSeconds: seconds() });

const aboveSchema = <T extends z.ZodType<number>>(above: T) =>
  z.strictObject({ above, expiresAfterSeconds: seconds().optional() });

const guardSchema = lazy(() =>
  z.strictObject({
    maxTotal: amount().optional(),
    currency: currency().optional(),
    allowInapplicable: z.boolean('must be true or false').optional(),
  }),
);
export type Guard = z.infer<ReturnType<typeof guardSchema>>;

const approvalSchema = lazy(() =>
  z.union(
    [z.literal('never'), z.literal('always'), aboveSchema(amount()), expiringSchema()],
    'must be "never", "always", { "above": a total } or { "expiresAfterSeconds": a whole number }, or both of these',
  ),
);

const count = () => z.int('must be a whole number').nonnegative('must not be negative');

/** Limits for a purchase. The provider does not quote it: `maxTotal` is compared with the operator's price list. */
const purchaseGuardSchema = lazy(() =>
  z.strictObject({ maxTotal: amount().optional(), maxServers: count().optional(), maxItems: count().optional() }),
);
export type PurchaseGuard = z.infer<ReturnType<typeof purchaseGuardSchema>>;

/** For a purchase: `above` is a number of servers, `aboveTotal` an amount by the operator's price list. */
const purchaseApprovalSchema = lazy(() =>
  z.union(
    [
      z.literal('never'),
      z.literal('always'),
      aboveSchema(count()),
      z.strictObject({ aboveTotal: amount(), expiresAfterSeconds: seconds().optional() }),
      expiringSchema(),
    ],
    'must be "never", "always", { "above": a number of servers }, { "aboveTotal": an amount } or { "expiresAfterSeconds": a whole number }, or one of these with it',
  ),
);

const resourceNames = ['vm_backup', 'china_route', 'vm_antiddos'] as const;

const resourcesSchema = () => {
  const resource_name = z.enum(resourceNames, `must be one of ${resourceNames.join(', ')}`);
  const resource = z.strictObject({ resource_name, delta_value: deltaValue() });
  return z.array(resource).min(1, 'must hold at least one resource');
};

/** The whole list may be corrected if the provider refuses a change order. */
export const changeCorrectionSchema = lazy(() => z.strictObject({ resources: resourcesSchema() }));

/** The plan may be corrected if the provider refuses a switch. */
export const switchCorrectionSchema = lazy(() => z.strictObject({ plan_id: positiveInt }));

/** The provider first quotes a change or a switch of a subscription. */
const quotedFields = () => ({
  reference: referenceSchema(),
  account: accountSchema().optional(),
  subscription_id: positiveInt,
  guard: guardSchema().optional(),
  approval: approvalSchema().optional(),
  metadata: metadataSchema().optional(),
  quoteOnly: z.boolean('must be true or false').optional(),
  notAfter: timeSchema().optional(),
  onRefusal: onRefusalSchema().optional(),
});

export const changeOrderSchema = lazy(() => z.strictObject({ ...quotedFields(), resources: resourcesSchema() }));

export const switchPlanSchema = lazy(() => z.strictObject({ ...quotedFields(), plan_id: positiveInt }));

const setFirewallsSchema = lazy(() =>
  z
    .strictObject({
      reference: referenceSchema(),
      vmObjectId: positiveInt,
      assign: uniqueIds().optional(),
      unassign: uniqueIds().optional(),
      exactly: uniqueIds().optional(),
      metadata: metadataSchema().optional(),
      notAfter: timeSchema().optional(),
    })
    .superRefine(({ assign, unassign, exactly }, context) => {
      if (exactly && (assign || unassign)) {
        wrong(context, ['exactly'], 'cannot be combined with assign or unassign');
      }
      if (!exactly && !assign?.length && !unassign?.length) {
        wrong(context, [], 'one of assign, unassign (not empty) or exactly is required');
      }
      const assigned = new Set(assign);
      unassign?.forEach((id, index) => {
        if (!assigned.has(id)) return;
        wrong(context, ['unassign', index], 'is in assign, too');
      });
    }),
);

/** Delete what a terminated or timed-out `provisionServers` of this reference left in the cart. */
const cleanCartSchema = lazy(() => z.strictObject({ reference: referenceSchema() }));

/** The caller's words about a request, by its own names. */
export type Metadata = Record<string, string>;
export type ProvisionServersRequest = z.output<ReturnType<typeof provisionServersSchema>>;
export type CartItem = ProvisionServersRequest['items'][number];
export type ChangeOrderRequest = z.output<ReturnType<typeof changeOrderSchema>>;
export type SwitchPlanRequest = z.output<ReturnType<typeof switchPlanSchema>>;
export type SetFirewallsRequest = z.output<ReturnType<typeof setFirewallsSchema>>;

export interface RequestOf extends Record<WorkflowName, { reference: string }> {
  provisionServers: ProvisionServersRequest;
  changeOrder: ChangeOrderRequest;
  switchPlan: SwitchPlanRequest;
  setFirewalls: SetFirewallsRequest;
  cleanCart: z.output<ReturnType<typeof cleanCartSchema>>;
}

export type RequestSchemas = { readonly [W in WorkflowName]: () => z.ZodType<RequestOf[W]> };

/** The schema of each workflow's request. Keep the answer where there is more than one request to check. */
export function requestSchemas(planTypes: PlanTypes = {}): RequestSchemas {
  return {
    provisionServers:
      Object.keys(planTypes).length === 0 ? documentedOnly : lazy(() => provisionServersSchema(planTypes)),
    changeOrder: changeOrderSchema,
    switchPlan: switchPlanSchema,
    setFirewalls: setFirewallsSchema,
    cleanCart: cleanCartSchema,
  };
}
