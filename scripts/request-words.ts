/** What each field of a request means: for `schemas/`, and for docs/requests.md. The compiler names a field without words. */
import type { WorkflowName } from '../src/domain/identity';
import type { CartItem, Guard, PurchaseGuard, RequestOf } from '../src/domain/requests';

type Words<T> = Record<keyof T, string>;

/** Fields of a request, or of an object in it. */
interface Section {
  /** A heading: whose fields they are. */
  of: string;
  words: Readonly<Record<string, string>>;
  /** By field: those of the object, or of each object of the list, that it holds. */
  within?: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

const shared = {
  reference:
    'Names the request, and with it the saga: 1 to 128 of `A-Z a-z 0-9 . _ : -`. The same reference with the same request is the same saga, never a second order; with another request it is refused.',
  metadata:
    'Your own words about it, at most five texts of 100 characters, like `{"ticket":"OPS-7"}`. It is found by them, reports and webhooks have them, and they are **not encrypted**.',
  notAfter:
    'A time with its zone, like `2026-01-31T18:00:00Z`. After it nothing is sent that buys or changes anything, but undos, and the saga ends as `DeadlinePassed`. By default there is no such time.',
};

const paying = {
  ...shared,
  notAfter: `${shared.notAfter} What was placed by then, or may have been, goes on: bought servers get their firewalls.`,
  onRefusal:
    'What follows a refusal before anything is placed: `fail` undoes and ends, `ask` waits for a person, who may correct it. By default the worker’s `ON_REFUSAL` says it.',
};

const expires =
  'With `expiresAfterSeconds` in the same object, or alone for “always”, each question whether to place it counts as rejected after so many seconds, a year at most; without it, it waits until somebody answers.';

const item: Words<CartItem> = {
  billing_cycle: 'Months that are billed at once: 1, 3 or 12.',
  plan_id: 'The id of the provider’s plan.',
  plan_type:
    'One of the document’s four types of cloud servers, or one that `planTypes` of the [profile](profile.md) has. An item without it may be servers or not.',
  quantity: 'How many of it. Without it, it counts as one.',
  addons: 'Add-ons, like `[{"id":6,"additional_value":1}]`: the add-on’s id, and how much of it.',
  password: 'The servers’ password, as a value or by name: `{"secret":"web-root"}`. Required for cloud servers.',
  os_template_id: 'The id of the operating system’s template. Required for cloud servers.',
  custom_ssh_key:
    'An SSH key in base64, as a value or by name. The document has it for the default Linux templates only.',
  custom_script:
    'A script in base64 that runs when the server is made, as a value or by name. The document has it for the default Linux templates only.',
  alternatives:
    'At most five, in order: what is bought in its place if the provider says that it is sold out, as the [profile](profile.md#refusals) declares it. Each has `plan_id`, `plan_type`, `os_template_id` or `billing_cycle`; the rest is the item’s. One that the guard forbids is passed over.',
};

const purchaseGuard: Words<PurchaseGuard> = {
  maxTotal:
    'The most that it may cost by the operator’s price list, in the list’s currency. A price that is not known is asked about.',
  maxServers: 'The most servers. What may be servers counts as servers, by its `quantity`.',
  maxItems: 'The most entries of `items`, whatever their `quantity`.',
};

const quotedGuard: Words<Guard> = {
  maxTotal: 'The most that the quote’s total may be. A total that is not known is asked about.',
  currency: 'The currency of `maxTotal`, three letters; a quote in another one is asked about.',
  allowInapplicable:
    '`true` places a change also where the quote lists resources that would not apply. By default the saga ends as `GuardViolated` then.',
};

const quoted = {
  ...paying,
  account: 'The provider’s account, like `AB-12345678`: for limits, lists and webhooks. The provider is not sent it.',
  subscription_id: 'The id of the subscription.',
  guard: 'Limits for the quote, compared each time before it is sent. A broken one ends the saga as `GuardViolated`.',
  approval: `Whether a person has to say yes to the quote first: \`never\` (the default), \`always\`, or \`{"above":20}\`: if the total is higher, or not known. ${expires}`,
  quoteOnly: '`true` only asks what it would cost, and places nothing. By default `false`.',
};

export const requestWords: { [W in WorkflowName]: Section & { words: Words<RequestOf[W]> } } = {
  provisionServers: {
    of: 'Buy servers, and what else is ordered with them',
    words: {
      ...paying,
      account: 'The provider’s account, like `AB-12345678`.',
      currency:
        'Three letters. Needed where the account has no currency yet: its first order fixes it for ever. Else the provider ignores it.',
      label: 'The label of the servers. A person, or the server directory, finds the order again by it.',
      payment_type: 'Only `ccard`: a credit card.',
      items: 'What is bought: each becomes a cart item.',
      firewalls: 'Ids of firewalls that each new server gets. The provider’s panel shows them.',
      vmObjectIds: 'The object ids of the new servers, as many as are ordered, if you know them in advance.',
      guard:
        'Limits for the order. They are compared before anything is added, and each time before the order is sent. A broken one ends the saga as `GuardViolated`.',
      approval: `Whether a person has to say yes first: \`never\` (the default), \`always\`, \`{"above":3}\`: if it may bring more servers, or \`{"aboveTotal":100}\`: if it costs more by the price list, or that does not know it. ${expires}`,
    },
    within: { items: item, guard: purchaseGuard },
  },
  changeOrder: {
    of: 'Add resources to a subscription',
    words: {
      ...quoted,
      resources:
        'What is added, like `[{"resource_name":"vm_backup","delta_value":"1"}]`: `vm_backup`, `china_route` or `vm_antiddos`, and how much more of it.',
    },
    within: { guard: quotedGuard },
  },
  switchPlan: {
    of: 'Move a subscription to another plan of the same type',
    words: { ...quoted, plan_id: 'The id of the plan that it is moved to.' },
    within: { guard: quotedGuard },
  },
  setFirewalls: {
    of: 'Change which firewalls protect a server',
    words: {
      ...shared,
      vmObjectId: 'The object id of the server.',
      assign: 'Ids of firewalls that it gets, beside those that it has.',
      unassign: 'Ids of firewalls that it loses, once the others are active.',
      exactly: 'Ids of all firewalls that it shall have, and no other. Not beside `assign` or `unassign`.',
    },
  },
  cleanCart: {
    of: 'Delete what a lost purchase left in the cart',
    words: { reference: 'The reference of the `provisionServers` that was terminated, or timed out.' },
  },
};

interface Json {
  properties?: Record<string, Json>;
  items?: Json;
  required?: string[];
  description?: string;
}

/** Writes the words into a request's JSON Schema. */
export function describe(json: Json, { words, within = {} }: Section): Json {
  const described = Object.entries(json.properties ?? {}).map(([field, schema]) => {
    const inner = within[field] && { of: field, words: within[field] };
    const full = inner === undefined ? schema : describe(schema.items ?? schema, inner);
    return [field, { ...(schema.items && inner ? { ...schema, items: full } : full), description: words[field] }];
  });
  return { ...json, properties: Object.fromEntries(described) as Record<string, Json> };
}

/** @param schemaOf a request's JSON Schema, which says what is required */
export function requestsPage(schemaOf: (workflow: WorkflowName) => Json): string {
  const sections = Object.entries(requestWords).flatMap(([name, section]) => {
    const json = schemaOf(name as WorkflowName);
    const inner = Object.entries((section as Section).within ?? {}).flatMap(([field, words]) => {
      const schema = json.properties?.[field];
      return [`\n### Of ${schema?.items ? 'each of ' : ''}\`${field}\`\n`, ...fields(words, schema?.items ?? schema)];
    });
    return [`\n## \`${name}\`\n\n${section.of}.\n`, ...fields(section.words, json), ...inner];
  });
  return [
    '# Every field of a request',
    '\nPrinted by `npm run schemas` from `scripts/request-words.ts`. `schemas/<workflow>.request.json` has the same for programs, and `examples` has some. Fields are strict: an unknown one is refused, by name. Fields with an underscore are the provider’s, by its own names; [how one is added](../CONTRIBUTING.md#add-a-field-of-the-provider).',
    ...sections,
  ].join('\n');
}

function fields(words: Readonly<Record<string, string>>, json: Json = {}): string[] {
  return Object.entries(words).map(([field, text]) => {
    const isRequired = json.required?.includes(field) ? ' (required)' : '';
    return `- \`${field}\`${isRequired}: ${text}`;
  });
}
