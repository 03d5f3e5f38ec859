/**
 * Events of sagas, the routes that they take, and the message that a receiver gets.
 *
 * A message holds names, ids, times and words of ours. It holds nothing of the request but its reference,
 * account and metadata, no words of people, and nothing of the provider's answers.
 */
import { z } from 'zod';
import { decisionNames } from './decisions';
import { callFailureNames } from './failures';
import { accountName, workflowNames } from './identity';
import { lazy } from './lazy';
import { leftoverKinds, sagaOutcomes } from './outcomes';
import { milestones, sagaStates, waitKinds } from './progress';
import { endedAs } from './record';
import { webhookSecretPrefix } from './secrets';

/**
 * - `waiting`: a saga asks a person.
 * - `reminder`: it still does.
 * - `settled`: that wait is over: by a decision, by a try of its own, or because the saga was cancelled or failed.
 * - `placed`, `servers`, `protected`: it has come to that {@link milestones | milestone}.
 * - `ended`: the saga has ended.
 */
const notificationEvents = ['waiting', 'reminder', 'settled', ...milestones, 'ended'] as const;
export type NotificationEvent = (typeof notificationEvents)[number];
/** The type of the run that notifies one receiver of one saga; its id has both behind it. */
export const notifyWorkflow = 'notify';
export const deliverSignal = 'deliver';
/** Between two tries; an hour at most: a receiver that is back is told within that. */
export const deliveryDelays = { initialMs: 1_000, maximumMs: 3_600_000 };
/** A receiver that nobody has seen to for so long is given up. */
export const deliveryMaxMs = 30 * 24 * 3_600_000;

const time = () => z.iso.datetime();

/** The workflow's part of an event. The activity knows what else a message has. */
const saidSchema = lazy(() =>
  z.strictObject({
    state: z.enum(sagaStates),
    /** The question, with `waiting`, `reminder` and `settled`. */
    kind: z.enum(waitKinds).optional(),
    step: z.string().optional(),
    /** The ids of all steps that wait together, where more than one does. */
    steps: z.array(z.string()).optional(),
    question: z.string().optional(),
    choices: z.array(z.enum(decisionNames)).optional(),
    since: time().optional(),
    /** When the approval is rejected, if nobody has decided until then. */
    expiresAt: time().optional(),
    failure: z.enum(callFailureNames).optional(),
    /** How many reminders of this question there were, this one included. */
    reminders: z.int().optional(),
    /** With `settled`. Absent where no decision was taken: see there. */
    decision: z.enum(decisionNames).optional(),
    /** Their object ids, the first hundred, with `servers` and `protected`. */
    vmObjectIds: z.array(z.int()).optional(),
    /** With `ended`. */
    outcome: z.enum(sagaOutcomes).optional(),
    ended: z.enum(endedAs).optional(),
    leftovers: z.array(z.enum(leftoverKinds)).optional(),
  }),
);

export interface SagaEvent extends z.infer<ReturnType<typeof saidSchema>> {
  /** Random, chosen by the workflow: the same whenever the event is written or sent again. */
  id: string;
  event: NotificationEvent;
  at: string;
}

/** The body of a webhook; other forms say a part of it. */
export const messageSchema = lazy(() =>
  z.strictObject({
    type: z.enum(notificationEvents.map((event) => `saga.${event}` as const)),
    /** When it happened; not when it was sent. */
    timestamp: time(),
    data: z.strictObject({
      reference: z.string(),
      workflow: z.enum(workflowNames),
      workflowId: z.string(),
      runId: z.string(),
      namespace: z.string(),
      account: z.string().optional(),
      /** The request's. */
      metadata: z.record(z.string(), z.string()).optional(),
      /** The run in Temporal's Web UI. */
      link: z.string().optional(),
      ...saidSchema().shape,
    }),
  }),
);
export type Message = z.infer<ReturnType<typeof messageSchema>>;

/** One webhook: the same id each time that it is sent. `again`: after it was given up. */
const noticeSchema = lazy(() =>
  z.strictObject({ id: z.string(), message: messageSchema(), again: z.literal(true).optional() }),
);
export type Notice = z.infer<ReturnType<typeof noticeSchema>>;
/** What the signal carries. */
export const noticesSchema = lazy(() => z.array(noticeSchema()));

const mustBeHttps = 'must be an https:// address';
const some = <T extends string>(values: readonly [T, ...T[]]) =>
  z.array(z.enum(values)).min(1, 'must not be empty; leave it out for all');

export function hasCredentials({ username, password }: URL): boolean {
  return username !== '' || password !== '';
}

const routeFormats = ['webhook', 'pagerduty', 'slack'] as const;
export type RouteFormat = (typeof routeFormats)[number];

/** An incident of a pager is one question: it begins with these, and ends with the last one. */
const pagerEvents: NotificationEvent[] = ['waiting', 'reminder', 'settled'];

const routeFields = lazy(() =>
  z.strictObject({
    name: z.string().regex(/^[a-z0-9][a-z0-9-]{0,31}$/, 'must be 1 to 32 of the characters a-z 0-9 -'),
    /** `pagerduty`: the Events API v2; `slack`: an incoming webhook. @default webhook */
    format: z.enum(routeFormats).optional(),
    /** Required of a `webhook`; a `slack` has its own in the secret. @default for `pagerduty` its own */
    url: z
      .url({ protocol: /^https?$/, error: mustBeHttps })
      .refine((url) => !URL.canParse(url) || !hasCredentials(new URL(url)), 'must have no user and no password')
      .optional(),
    secret: z
      .string('must be the name of a secret')
      .regex(
        new RegExp(`^${webhookSecretPrefix}[A-Za-z0-9._-]{1,120}$`),
        `must be the name of a secret that begins with ${webhookSecretPrefix}, and not the secret itself`,
      ),
    /** Only events of these accounts; an event without an account does not match. @default all */
    accounts: z.array(z.string().min(1)).min(1, 'must not be empty; leave it out for all').optional(),
    /** @default all */
    events: some(notificationEvents).optional(),
    /** Only questions of these kinds; `ended` has none, and is not left out by it. @default all */
    kinds: some(waitKinds).optional(),
    /** Only ends with these outcomes. @default all */
    outcomes: some(sagaOutcomes).optional(),
  }),
);
export type Route = z.infer<ReturnType<typeof routeFields>>;

const routeSchema = lazy(() =>
  routeFields().superRefine(({ format = 'webhook', url, events }, context) => {
    const wrong = (field: keyof Route, message: string) => {
      context.addIssue({ code: 'custom', path: [field], message });
    };
    if (format === 'webhook' && url === undefined) wrong('url', mustBeHttps);
    if (format === 'slack' && url !== undefined) wrong('url', 'must be left out: the secret is Slack’s address');
    if (format === 'pagerduty' && events) wrong('events', `must be left out: a pager takes ${pagerEvents.join(', ')}`);
  }),
);

/** Each event looks through all of them. */
const routesMax = 50;

export const routesSchema = lazy(() =>
  z
    .array(routeSchema(), 'must be a JSON list of routes')
    .max(routesMax, `must be at most ${routesMax} routes`)
    .refine((routes) => new Set(routes.map(({ name }) => name)).size === routes.length, 'must have different names'),
);

/** The names of all routes that an event takes. */
export function routesOf(
  { event, kind, outcome }: Pick<SagaEvent, 'event' | 'kind' | 'outcome'>,
  account: string | undefined,
  routes: readonly Route[],
): string[] {
  const takes = ({
    format,
    accounts,
    events = format === 'pagerduty' ? pagerEvents : undefined,
    kinds,
    outcomes,
  }: Route) =>
    (accounts === undefined || (account !== undefined && accounts.map(accountName).includes(accountName(account)))) &&
    (events === undefined || events.includes(event)) &&
    (kinds === undefined || kind === undefined || kinds.includes(kind)) &&
    (outcomes === undefined || outcome === undefined || outcomes.includes(outcome));
  return routes.filter(takes).map(({ name }) => name);
}
