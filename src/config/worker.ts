import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { ActivitySettings } from '../activities/settings';
import type { SecretSources } from '../security/secret-resolver';
import type { PlacedIf } from '../provider/options';
import { isCertificate, isLoopback } from './checks';
import { clientSettings, readTemporal, sagasIn, temporalHost, type ClientConfig } from './client';
import { readJournal, type JournalConfig } from './journal';
import {
  budget,
  flag,
  listenAddress,
  pointers,
  rate,
  serviceUrl,
  spendLimits,
  placedIf,
  statuses,
  text,
  whole,
  type ListenAddress,
} from './kinds';
import { notificationSettings, readNotifications } from './notifications';
import { hasKeys, readPayloadKeys } from './payload-keys';
import { proxyFor } from './proxy';
import { readSettings, readText, SettingsError, type Environment } from './settings';

/**
 * How long to retry: a provider that restarts is back within minutes; after a quarter of an hour a person should know.
 * Undoing is tried longer, because giving up leaves something behind; the servers of an order may take half an hour to
 * appear.
 */
export const workerSettings = {
  ...clientSettings,
  ...notificationSettings,
  PROVIDER_BASE_URL: serviceUrl('is required: the address of the provider’s service, https://…'),
  PROVIDER_ALLOW_HTTP: flag.default(false),
  PROVIDER_TOKEN: text.optional(),
  PROVIDER_TOKEN_FILE: text.optional(),
  PROVIDER_AUTH_HEADER: text.regex(/^[\w!#$%&'*+.^`|~-]+$/, 'must be the name of a header').default('authorization'),
  PROVIDER_AUTH_SCHEME: z
    .string()
    .trim()
    .regex(/^[\x21-\x7e]*$/, 'must be one word')
    .default('Bearer'),
  PROVIDER_CONNECT_TIMEOUT_MS: whole(1, 25_000).default(5_000),
  /**
   * The whole call. At most 25 s: the call must end, and its outcome must be in the journal, before the activity's
   * limit of 50 s.
   */
  PROVIDER_TIMEOUT_MS: whole(1, 25_000).default(20_000),
  PROVIDER_RESPONSE_BYTES_MAX: whole(1_024, 64 * 1024 * 1024).default(1024 * 1024),
  PROVIDER_CONNECTIONS: whole(1, 10_000).default(64),
  /** Read in proxy.ts, which also knows them in small letters. */
  HTTPS_PROXY: text.optional(),
  HTTP_PROXY: text.optional(),
  NO_PROXY: text.optional(),
  /**
   * With less than one call in a hundred seconds, activities wait so long in their queue that sagas seem to stand
   * still.
   */
  PROVIDER_CALLS_PER_SECOND: rate(0.01, 10_000).optional(),
  PROVIDER_QUOTE_METHOD: z.enum(['PUT', 'GET'], 'must be PUT or GET').default('PUT'),
  SERVER_POINTERS: pointers.default([]),
  SERVER_DIRECTORY_PATH: text.regex(/^\//, 'must begin with /').optional(),
  SERVER_DIRECTORY_POINTERS: pointers.default([]),
  SERVER_DIRECTORY_LABEL_IS_UNIQUE: flag.default(false),
  PROVIDER_LIST_LAG_MS: whole(0, 3_600_000).default(60_000),
  NEW_SERVER_WITHIN_MS: whole(0, 7 * 24 * 60 * 60 * 1000).default(30 * 60_000),
  TEMPORAL_DEPLOYMENT_NAME: text.regex(/^[^.]+$/, 'must not contain a dot').optional(),
  TEMPORAL_WORKER_BUILD_ID: text.optional(),
  VERSIONING_BEHAVIOR: z.enum(['PINNED', 'AUTO_UPGRADE'], 'must be PINNED or AUTO_UPGRADE').default('PINNED'),
  PIVOT_RETRY_STATUSES: statuses.default([429]),
  PIVOT_UNSURE_STATUSES: statuses.default([]),
  PLACED_IF: placedIf.default([]),
  /** From before the journal is asked until the call leaves. */
  SEND_WITHIN_MS: whole(500, 8_000).default(5_000),
  /** How long a call that we gave up may still take effect at the provider. */
  PROVIDER_SETTLES_MS: whole(0, 3_600_000).default(30_000),
  /** A person needs more than a minute; a price older than thirty days is no longer valid. */
  APPROVAL_MAX_AGE_MS: whole(60_000, 30 * 24 * 60 * 60 * 1000).default(24 * 60 * 60 * 1000),
  /** Longer than a quote and a pivot take together, so that a new quote is still valid when the pivot is sent. */
  QUOTE_MAX_AGE_MS: whole(60_000, 86_400_000).default(300_000),
  ON_REFUSAL: z.enum(['fail', 'ask'], 'must be fail or ask').default('fail'),
  /**
   * Off by default: a caller that buys equal servers one by one, each with its own reference, should not be asked each
   * time.
   */
  DUPLICATE_WITHIN_MS: whole(0, 30 * 24 * 60 * 60 * 1000).default(0),
  SPEND_LIMITS: spendLimits.default([]),
  /**
   * Off by default: a hold stops all selling. Whoever turns it on has looked at how often the provider's calls fail on
   * a good day.
   */
  OUTAGE_HOLD_MS: whole(1_000, 3_600_000).optional(),
  OUTAGE_WINDOW_MS: whole(1_000, 3_600_000).default(60_000),
  OUTAGE_CALLS_MIN: whole(5, 10_000).default(20),
  TAKE_CLEAR_REQUESTS: flag.default(false),
  SECRETS_FOLDER: text.optional(),
  PROVIDER_CA_FILE: text.optional(),
  /**
   * Attempts: one costs a history up to 11 events, and a saga may have 200 steps that act and undo. After 10,000 events
   * there are no more automatic retries: with 8 attempts each, 200 steps reach that in one outage. A saga has only one
   * pivot, and one search for new servers.
   */
  RETRY_READING: budget(10).default({ attemptsMax: 8, backoffMs: 1_000, backoffMaxMs: 60_000, totalMs: 900_000 }),
  RETRY_MUTATING: budget(10).default({ attemptsMax: 8, backoffMs: 1_000, backoffMaxMs: 60_000, totalMs: 900_000 }),
  RETRY_COMPENSATING: budget(12).default({
    attemptsMax: 12,
    backoffMs: 1_000,
    backoffMaxMs: 300_000,
    totalMs: 3_600_000,
  }),
  RETRY_PIVOT: budget(100).default({ attemptsMax: 8, backoffMs: 1_000, backoffMaxMs: 60_000, totalMs: 900_000 }),
  RETRY_POLLING: budget(100).default({ attemptsMax: 40, backoffMs: 2_000, backoffMaxMs: 60_000, totalMs: 1_800_000 }),
  /**
   * How long a stop waits for calls in flight. Longer than a call may take, so that the outcome of a pivot is known.
   */
  SHUTDOWN_GRACE_MS: whole(0, 600_000).default(40_000),
  ACTIVITIES_AT_ONCE: whole(1, 10_000).default(200),
  WORKFLOW_TASKS_AT_ONCE: whole(2, 10_000).default(200),
  HEALTH_ADDRESS: listenAddress(0).optional(),
  /** Port 0 is refused, because no scraper could find the port. */
  METRICS_ADDRESS: listenAddress(1).optional(),
  OTEL_EXPORTER_OTLP_ENDPOINT: serviceUrl('must be the address of a collector, http://…').optional(),
  LOG_LEVEL: z
    .enum(['trace', 'debug', 'info', 'warn', 'error'], 'must be trace, debug, info, warn or error')
    .default('info'),
};

export interface ProviderConfig {
  baseUrl: string;
  allowHttp: boolean;
  /** Reads the token: again after a 401, if it is in a file. Undefined: no credentials are sent. */
  readToken: (() => string) | undefined;
  authHeader: string;
  authScheme: string;
  connectTimeoutMs: number;
  totalTimeoutMs: number;
  responseBytesMax: number;
  connections: number;
  pivotUnsureStatuses: readonly number[];
  placedIf: readonly PlacedIf[];
  quoteMethod: 'PUT' | 'GET';
  /** PEM of the private certificate authority that signed the provider's certificate. */
  ca: string | undefined;
  /** With a name and a password, where it wants them. */
  proxy: string | undefined;
}

/** When a worker holds new sagas by itself. */
export interface OutageConfig {
  /** The first hold of an outage ends after so long; each one that follows at once lasts twice as long. */
  holdMs: number;
  windowMs: number;
  callsMin: number;
}

export interface WorkerConfig extends ClientConfig {
  provider: ProviderConfig;
  journal: JournalConfig;
  activities: ActivitySettings;
  /** Undefined: only people hold. */
  outage: OutageConfig | undefined;
  secrets: SecretSources;
  /** The limit for all workers of the task queue together. Undefined: only their slots limit the calls. */
  callsPerSecond: number | undefined;
  /** Undefined: every worker takes every saga. */
  version: WorkerVersion | undefined;
  shutdownGraceMs: number;
  activitiesAtOnce: number;
  workflowTasksAtOnce: number;
  /** Undefined: no health checks are served. */
  healthAddress: ListenAddress | undefined;
  /** Undefined: nothing is measured. */
  metricsAddress: ListenAddress | undefined;
  /** The collector's. Undefined: nothing is traced. */
  tracesEndpoint: string | undefined;
  logLevel: string;
}

/** A version of a Temporal Worker Deployment. */
export interface WorkerVersion {
  deploymentName: string;
  buildId: string;
  /** Whether a saga stays on the version that it began on, or moves to the current one. */
  behavior: 'PINNED' | 'AUTO_UPGRADE';
}

type WorkerSettings = z.output<z.ZodObject<typeof workerSettings>>;

/** @throws SettingsError */
export function readWorkerConfig(env: Environment = process.env): Readonly<WorkerConfig> {
  const problems: string[] = [];
  const settings = readSettings(workerSettings, env, problems);
  const temporal = readTemporal(env, problems);
  const payloadKeys = readPayloadKeys(env, problems);
  const readToken = tokenReader(env, problems);
  const ca = privateAuthority(env, problems);
  const proxy = proxyFor(env['PROVIDER_BASE_URL'] ?? '', env, problems);
  const journal = readJournal(env, temporal && temporalHost(temporal), problems);
  if (journal) requireSealed(env, journal, problems);
  requireHttps(env, problems);
  if (settings) checkTogether(settings, problems);
  const notifications = settings && readNotifications(settings, problems);
  if (!settings || !temporal || !journal || !notifications || problems.length > 0) {
    throw new SettingsError(problems);
  }
  const sagas = sagasIn(settings);
  return Object.freeze({
    ...temporal,
    ...sagas,
    payloadKeys,
    provider: { ...providerIn(settings), readToken, ca, proxy },
    journal,
    activities: { ...activitiesIn(settings), notifications: { ...notifications, webUiUrl: sagas.webUiUrl } },
    outage: outageIn(settings),
    secrets: { folder: settings.SECRETS_FOLDER, variable: (name: string) => env[name] },
    callsPerSecond: settings.PROVIDER_CALLS_PER_SECOND,
    version: versionIn(settings),
    shutdownGraceMs: settings.SHUTDOWN_GRACE_MS,
    activitiesAtOnce: settings.ACTIVITIES_AT_ONCE,
    workflowTasksAtOnce: settings.WORKFLOW_TASKS_AT_ONCE,
    healthAddress: settings.HEALTH_ADDRESS,
    metricsAddress: settings.METRICS_ADDRESS,
    tracesEndpoint: settings.OTEL_EXPORTER_OTLP_ENDPOINT,
    logLevel: settings.LOG_LEVEL,
  });
}

/** Unencrypted requests and answers in the journal stay on this machine, unless the operator allows more. */
function requireSealed(env: Environment, { address }: JournalConfig, problems: string[]): void {
  if (hasKeys(env) || env['PAYLOAD_ENCRYPTION'] === 'off' || 'file' in address) return;
  const { hostname, searchParams } = new URL(address.postgres);
  const host = searchParams.get('host') ?? hostname;
  // A path is a socket of this machine.
  if (isLoopback(host) || host.startsWith('/')) return;
  problems.push(
    'PAYLOAD_KEYS: is required for a journal that is not on this machine ' +
      '(or set PAYLOAD_ENCRYPTION=off: passwords are then stored there unencrypted)',
  );
}

function checkTogether(settings: WorkerSettings, problems: string[]): void {
  if (settings.SHUTDOWN_GRACE_MS < settings.SEND_WITHIN_MS + settings.PROVIDER_TIMEOUT_MS) {
    problems.push(
      'SHUTDOWN_GRACE_MS: must be at least SEND_WITHIN_MS + PROVIDER_TIMEOUT_MS, so that a call in flight can finish',
    );
  }
  if ((settings.TEMPORAL_DEPLOYMENT_NAME === undefined) !== (settings.TEMPORAL_WORKER_BUILD_ID === undefined)) {
    problems.push('TEMPORAL_DEPLOYMENT_NAME, TEMPORAL_WORKER_BUILD_ID: are required together');
  }
  if (settings.SERVER_DIRECTORY_PATH !== undefined && settings.SERVER_DIRECTORY_POINTERS.length === 0) {
    problems.push('SERVER_DIRECTORY_POINTERS: is required with SERVER_DIRECTORY_PATH');
  }
}

function providerIn(settings: WorkerSettings): Omit<ProviderConfig, 'readToken' | 'ca' | 'proxy'> {
  return {
    baseUrl: settings.PROVIDER_BASE_URL,
    allowHttp: settings.PROVIDER_ALLOW_HTTP,
    authHeader: settings.PROVIDER_AUTH_HEADER,
    authScheme: settings.PROVIDER_AUTH_SCHEME,
    connectTimeoutMs: settings.PROVIDER_CONNECT_TIMEOUT_MS,
    totalTimeoutMs: settings.PROVIDER_TIMEOUT_MS,
    responseBytesMax: settings.PROVIDER_RESPONSE_BYTES_MAX,
    connections: settings.PROVIDER_CONNECTIONS,
    pivotUnsureStatuses: settings.PIVOT_UNSURE_STATUSES,
    placedIf: settings.PLACED_IF,
    quoteMethod: settings.PROVIDER_QUOTE_METHOD,
  };
}

function activitiesIn(settings: WorkerSettings): ActivitySettings {
  return {
    retries: {
      read: settings.RETRY_READING,
      mutate: settings.RETRY_MUTATING,
      compensate: settings.RETRY_COMPENSATING,
      pivot: settings.RETRY_PIVOT,
      poll: settings.RETRY_POLLING,
    },
    pivotRetryStatuses: settings.PIVOT_RETRY_STATUSES,
    planTypesMore: settings.PLAN_TYPES_MORE,
    takesClearRequests: settings.TAKE_CLEAR_REQUESTS,
    onRefusal: settings.ON_REFUSAL,
    serverPointers: settings.SERVER_POINTERS,
    directory: directoryIn(settings),
    listLagMs: settings.PROVIDER_LIST_LAG_MS,
    newServerWithinMs: settings.NEW_SERVER_WITHIN_MS,
    sendWithinMs: settings.SEND_WITHIN_MS,
    inAirMs: settings.SEND_WITHIN_MS + settings.PROVIDER_TIMEOUT_MS + settings.PROVIDER_SETTLES_MS,
    approvalMaxAgeMs: settings.APPROVAL_MAX_AGE_MS,
    quoteMaxAgeMs: settings.QUOTE_MAX_AGE_MS,
    duplicateWithinMs: settings.DUPLICATE_WITHIN_MS,
    spendLimits: settings.SPEND_LIMITS,
  };
}

function outageIn({
  OUTAGE_HOLD_MS: holdMs,
  OUTAGE_WINDOW_MS: windowMs,
  OUTAGE_CALLS_MIN: callsMin,
}: WorkerSettings): OutageConfig | undefined {
  return holdMs === undefined ? undefined : { holdMs, windowMs, callsMin };
}

function directoryIn(settings: WorkerSettings): ActivitySettings['directory'] {
  if (settings.SERVER_DIRECTORY_PATH === undefined) return undefined;
  return {
    path: settings.SERVER_DIRECTORY_PATH,
    pointers: settings.SERVER_DIRECTORY_POINTERS,
    labelIsUnique: settings.SERVER_DIRECTORY_LABEL_IS_UNIQUE,
  };
}

function versionIn(settings: WorkerSettings): WorkerVersion | undefined {
  const { TEMPORAL_DEPLOYMENT_NAME: deploymentName, TEMPORAL_WORKER_BUILD_ID: buildId } = settings;
  if (deploymentName === undefined || buildId === undefined) return undefined;
  return { deploymentName, buildId, behavior: settings.VERSIONING_BEHAVIOR };
}

function privateAuthority({ PROVIDER_CA_FILE }: Environment, problems: string[]): string | undefined {
  if (!PROVIDER_CA_FILE) return undefined;
  const ca = readText('PROVIDER_CA_FILE', PROVIDER_CA_FILE, problems);
  if (ca !== undefined && !isCertificate(ca)) problems.push('PROVIDER_CA_FILE: must be the PEM of a certificate');
  return ca;
}

function tokenReader(
  { PROVIDER_TOKEN, PROVIDER_TOKEN_FILE }: Environment,
  problems: string[],
): (() => string) | undefined {
  if (PROVIDER_TOKEN && PROVIDER_TOKEN_FILE) {
    problems.push('PROVIDER_TOKEN: cannot be set together with PROVIDER_TOKEN_FILE; set one of them');
  }
  if (PROVIDER_TOKEN) return () => PROVIDER_TOKEN;
  if (!PROVIDER_TOKEN_FILE) return undefined;
  if (readText('PROVIDER_TOKEN_FILE', PROVIDER_TOKEN_FILE, problems) === '') {
    problems.push('PROVIDER_TOKEN_FILE: the file is empty');
  }
  return () => readFileSync(PROVIDER_TOKEN_FILE, 'utf8').trim();
}

/** Orders and passwords stay on this machine, or go over TLS. An invalid URL has its own message. */
function requireHttps({ PROVIDER_BASE_URL = '', PROVIDER_ALLOW_HTTP }: Environment, problems: string[]): void {
  if (!URL.canParse(PROVIDER_BASE_URL) || PROVIDER_ALLOW_HTTP === 'true') return;
  const { protocol, hostname } = new URL(PROVIDER_BASE_URL);
  if (protocol !== 'http:' || isLoopback(hostname)) return;
  problems.push(
    'PROVIDER_BASE_URL: must be https: (http: only to a loopback address, or with PROVIDER_ALLOW_HTTP=true)',
  );
}
