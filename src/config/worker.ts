import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { ActivitySettings, RetryBudget } from '../activities/settings';
import type { SecretSources } from '../security/secret-resolver';
import { tryOr } from '../domain/ignore-errors';
import { describeLimit, isCurrency } from '../domain/spending';
import { requireHttps, requireKeys } from './checks';
import { clientSettings, readTemporal } from './client';
import { readJournal, type JournalConfig } from './journal';
import * as kinds from './parsers';
import { readerOf, valuesIn } from './environment';
import { notificationSettings, readNotifications } from './notifications';
import { proxyFor } from './proxy';
import {
  from,
  fromTextOrFile,
  mayBeSecret,
  readSettings,
  requireTogether,
  variablesOf,
  type Environment,
} from './settings';

export const workerSettings = z.object({
  ...clientSettings.shape,
  notifications: notificationSettings,
  provider: z.object({
    baseUrl: from(
      'PROVIDER_BASE_URL',
      kinds.serviceUrl('is required: the address of the provider’s service, https://…'),
    ),
    allowHttp: from('PROVIDER_ALLOW_HTTP', kinds.flag.default(false)),
    readToken: fromTextOrFile('PROVIDER_TOKEN', kinds.token.optional()),
    ca: from('PROVIDER_CA_FILE', kinds.certificateFile.optional()),
    authHeader: from(
      'PROVIDER_AUTH_HEADER',
      kinds.text.regex(/^[\w!#$%&'*+.^`|~-]+$/, 'must be the name of a header').default('authorization'),
    ),
    authScheme: from(
      'PROVIDER_AUTH_SCHEME',
      z
        .string()
        .trim()
        .regex(/^[\x21-\x7e]*$/, 'must be one word')
        .default('Bearer'),
    ),
    /** The whole call. At most 25 s: its outcome must be in the journal before the activity's limit of 50 s. */
    totalTimeoutMs: from('PROVIDER_TIMEOUT_MS', kinds.whole(1, 25_000).default(20_000)),
    quoteMethod: from('PROVIDER_QUOTE_METHOD', kinds.oneOf('PUT', 'GET').default('PUT')),
  }),
  /** How long a call that we gave up may still take effect at the provider. */
  settlesMs: from('PROVIDER_SETTLES_MS', kinds.whole(0, 3_600_000).default(30_000)),
  /** With less than one call in a hundred seconds, sagas seem to stand still. */
  callsPerSecond: from('PROVIDER_CALLS_PER_SECOND', kinds.rate(0.01, 10_000).optional()),
  activities: z.object({
    takesClearRequests: from('TAKE_CLEAR_REQUESTS', kinds.flag.default(false)),
    onRefusal: from('ON_REFUSAL', kinds.oneOf('fail', 'ask').default('fail')),
    pivotRetryStatuses: from('PIVOT_RETRY_STATUSES', kinds.statuses.default([429])),
    /** Off by default: a caller that buys equal servers one by one should not be asked each time. */
    duplicateWithinMs: from('DUPLICATE_WITHIN_MS', kinds.whole(0, 30 * 24 * 60 * 60 * 1000).default(0)),
    spendLimits: from('SPEND_LIMITS', kinds.spendLimits.default([])),
    /** A file of JSON. Without it no order has an estimate. */
    priceList: from('PRICE_LIST_FILE', kinds.priceList.optional()),
    /** Off by default: not every provider's servers need firewalls of their own. */
    requireFirewalls: from('REQUIRE_FIREWALLS', kinds.oneOf('off', 'ask', 'refuse').default('off')),
  }),
  /**
   * A provider that restarts is back within minutes; after a quarter of an hour a person should know. An attempt costs
   * a history up to 11 events, and a saga may have 200 steps that act and undo: with 8 attempts each, they reach in one
   * outage the 10,000 events after which nothing is retried.
   */
  retries: from(
    'RETRY_BUDGET',
    kinds.budget.default({ attemptsMax: 8, backoffMs: 1_000, backoffMaxMs: 60_000, totalMs: 900_000 }),
  ),
  /**
   * 5, 20 and 60 minutes after a saga began to wait, then each four hours, then daily. A provider has closed accounts that
   * asked too often.
   */
  ownTriesMs: from(
    'OWN_TRIES_MS',
    kinds.delays.default([300_000, 900_000, 2_400_000, ...Array<number>(6).fill(14_400_000), 86_400_000]),
  ),
  secretsFolder: from('SECRETS_FOLDER', kinds.text.optional()),
  version: z.object({
    deploymentName: from('TEMPORAL_DEPLOYMENT_NAME', kinds.text.regex(/^[^.]+$/, 'must not contain a dot').optional()),
    buildId: from('TEMPORAL_WORKER_BUILD_ID', kinds.text.optional()),
    behavior: from('VERSIONING_BEHAVIOR', kinds.oneOf('PINNED', 'AUTO_UPGRADE').default('PINNED')),
  }),
  /** Without it, no health checks are served. */
  healthAddress: from('HEALTH_ADDRESS', kinds.listenAddress(0).optional()),
  /** Without it, nothing is measured. Port 0 is refused, because no scraper could find the port. */
  metricsAddress: from('METRICS_ADDRESS', kinds.listenAddress(1).optional()),
  /** Without it, nothing is traced. */
  tracesEndpoint: from(
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    kinds.serviceUrl('must be the address of a collector, http://…').optional(),
  ),
  logLevel: from('LOG_LEVEL', kinds.oneOf('trace', 'debug', 'info', 'warn', 'error').default('info')),
});

/** The table says what all others mean: after a 409 or a 423 a pivot may have happened. */
const mayBeSafe = (status: number) => status === 408 || status === 429 || status >= 500;
/** From before the journal is asked until the call leaves. People wait as long before they may say "not placed". */
const sendWithinMaxMs = 5_000;
/** After the longest call its outcome is written down, also where the journal has to be connected to again. */
const writingMs = 15_000;
/** Nobody sets these times. */
const times = {
  /** The document does not say how late a list shows a change; no provider is known that takes a minute. */
  listLagMs: 60_000,
  /** A server is ready, and listed, within minutes; what a provider says of it after half an hour, it will say again. */
  newServerWithinMs: 30 * 60_000,
  /** Who approves tomorrow is asked again, with the price of that day: that costs one answer, and no surprise. */
  approvalMaxAgeMs: 24 * 60 * 60_000,
  /** Longer than a quote and a pivot take together, so that a new quote is still valid when the pivot is sent. */
  quoteMaxAgeMs: 300_000,
};
/** More than the provider's client has connections: many activities ask only the journal. */
const activitiesAtOnce = 200;

/** How the provider is reached, without all else. */
export const readProviderConfig = readerOf((env, problems) => {
  const settings = readSettings(workerSettings.pick({ provider: true, profile: true }), env, problems);
  const proxy = reachedBy(env, problems);
  return settings && { ...settings.provider, profile: settings.profile, proxy };
});

/** @returns the proxy, where there is one */
function reachedBy(env: Environment, problems: string[]): string | undefined {
  const { PROVIDER_BASE_URL = '', PROVIDER_ALLOW_HTTP } = env;
  const proxy = proxyFor(PROVIDER_BASE_URL, env, problems);
  const why = 'http: only to a loopback address, or with PROVIDER_ALLOW_HTTP=true';
  // Orders and passwords stay on this machine, or go over TLS.
  if (PROVIDER_ALLOW_HTTP !== 'true') requireHttps('PROVIDER_BASE_URL', PROVIDER_BASE_URL, why, problems);
  return proxy;
}

export type WorkerConfig = ReturnType<typeof readWorkerConfig>;
/** A version of a Temporal Worker Deployment, and whether a saga stays on the version that it began on. */
export type WorkerVersion = NonNullable<WorkerConfig['version']>;

export const readWorkerConfig = readerOf((env, problems) => {
  const settings = readSettings(workerSettings, env, problems);
  const temporal = readTemporal(env, problems);
  const proxy = reachedBy(env, problems);
  const journal = readJournal(env, temporal?.temporalHost, problems);
  if (journal) requireSealed(env, journal, problems);
  requireTogether(['TEMPORAL_DEPLOYMENT_NAME', 'TEMPORAL_WORKER_BUILD_ID'], env, problems);
  if (settings) requirePriced(settings, problems);
  const notifications = readNotifications(settings?.notifications, problems);
  if (!settings || !temporal || !journal || !notifications) return undefined;
  const { provider, profile, activities, version, webUiUrl } = settings;
  const { deploymentName, buildId, behavior } = version;
  const sendWithinMs = Math.min(sendWithinMaxMs, provider.totalTimeoutMs);
  const callMs = sendWithinMs + provider.totalTimeoutMs;
  const ofActivities: ActivitySettings = {
    ...activities,
    profile,
    pivotRetryStatuses: activities.pivotRetryStatuses.filter(mayBeSafe),
    retries: retriesOf(settings.retries),
    ownTriesMs: settings.ownTriesMs,
    ...times,
    sendWithinMs,
    inFlightMs: callMs + settings.settlesMs,
    notifications: { ...notifications, webUiUrl },
  };
  const secrets: SecretSources = { folder: settings.secretsFolder, variable: (name) => env[name] };
  return {
    ...settings,
    ...temporal,
    provider: { ...provider, profile, proxy },
    journal,
    activities: ofActivities,
    secrets,
    version: deploymentName === undefined || buildId === undefined ? undefined : { deploymentName, buildId, behavior },
    shutdownGraceMs: callMs + writingMs,
    activitiesAtOnce,
  };
});

/** A limit in a currency that nothing is priced in limits nothing. What the provider quotes in is known only then. */
function requirePriced({ activities }: z.output<typeof workerSettings>, problems: string[]): void {
  const { spendLimits, priceList } = activities;
  const other = spendLimits.find(({ unit }) => isCurrency(unit) && priceList && unit !== priceList.currency);
  if (other === undefined) return;
  const [limit, list] = [describeLimit(other), priceList?.currency.toUpperCase()];
  problems.push(`SPEND_LIMITS: ${limit}: PRICE_LIST_FILE is in ${list}, and nothing is priced in another currency`);
}

/** Giving up an undo leaves something behind; new servers may take half an hour to appear, and are looked for once. */
function retriesOf(most: RetryBudget): ActivitySettings['retries'] {
  const { attemptsMax, backoffMs, backoffMaxMs, totalMs } = most;
  return {
    read: most,
    mutate: most,
    pivot: most,
    compensate: {
      ...most,
      attemptsMax: Math.ceil(attemptsMax * 1.5),
      backoffMaxMs: 5 * backoffMaxMs,
      totalMs: 4 * totalMs,
    },
    poll: { ...most, attemptsMax: 5 * attemptsMax, backoffMs: 2 * backoffMs, totalMs: 2 * totalMs },
  };
}

function requireSealed(env: Environment, { address }: JournalConfig, problems: string[]): void {
  if ('file' in address) return;
  const { hostname, searchParams } = new URL(address.postgres);
  const host = searchParams.get('host') ?? hostname;
  // A path is a socket of this machine.
  if (!host.startsWith('/')) requireKeys('journal', host, env, problems);
}

/**
 * Whether the files now give another way to Temporal, or another authority of the provider's, which can be used:
 * certificate and key may come one by one.
 */
export function isRenewed({ temporal, provider }: WorkerConfig, env: Environment = process.env): boolean {
  const now = readTemporal(valuesIn(env), []);
  const { ca } = tryOr(() => readProviderConfig(env), provider);
  return (now !== undefined && !isDeepStrictEqual(now.temporal, temporal)) || ca !== provider.ca;
}

/** The worker's settings that the environment gives. Those that may hold a secret only say that they are there. */
export function settingsGiven(env: Environment = process.env): Record<string, string> {
  const settings = variablesOf(workerSettings);
  const isPlain = (name: string) =>
    ['TEMPORAL_ADDRESS', 'TEMPORAL_NAMESPACE'].includes(name) ||
    (settings[name] !== undefined && !mayBeSecret(settings[name]) && !name.startsWith('NOTIFICATION'));
  const isOurs = (name: string) => /^(JOURNAL|PAYLOAD|PROVIDER|TEMPORAL|NOTIFICATION)_/.test(name);
  const given = Object.entries(valuesIn(env)).flatMap(([name, value]) => {
    // An empty one counts as none, as everywhere.
    if (!value) return [];
    if (isPlain(name)) return [[name, shown(name, value)] as const];
    return isOurs(name) ? [[name, name.endsWith('_FILE') ? value : '(set)'] as const] : [];
  });
  return Object.fromEntries(given);
}

/** A password may stand anywhere in a URL that is wrong, and a key in the query of a path. */
function shown(name: string, value: string): string {
  const isWrong = value.includes('@') || (/_(URL|ENDPOINT)$/.test(name) && !/^\w+:\/\/[^/]/.test(value));
  return isWrong ? '(set)' : value.replace(/\?.*/s, '?…');
}
