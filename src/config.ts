/**
 * The environment, read once into frozen typed objects: the only reader of `process.env` in `src`.
 *
 * A setting that is missing or wrong stops the program at once, with one message that lists all that are.
 */
import { X509Certificate } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { createSecureContext } from 'node:tls';
import { loadClientConnectConfig, type ClientConnectConfig } from '@temporalio/envconfig';
import { z } from 'zod';
import type { ActivitySettings, Mood, RetryBudget } from './activities/settings';
import { defaultTaskQueue } from './domain/identity';
import type { JwtRules } from './security/codec-server/jwt';
import { parseTokens, type Token } from './security/codec-server/tokens';
import { parsePayloadKeys, type PayloadKeys } from './security/keys';
import type { SecretSources } from './security/secret-resolver';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Says, in one message, every setting that is missing or wrong, by name, with what was expected. */
export class SettingsError extends Error {
  constructor(readonly problems: readonly string[]) {
    super(`settings that are missing or wrong:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
  }
}

const text = z.string().trim().min(1, 'must not be empty');
const flag = z.enum(['true', 'false'], 'must be true or false').transform((value) => value === 'true');
const whole = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d+$/, `must be a whole number from ${String(min)} to ${String(max)}`)
    .transform(Number)
    .refine((value) => value >= min && value <= max, `must be from ${String(min)} to ${String(max)}`);
const list = z.string().transform((value) =>
  value
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== ''),
);
const pointers = list.refine(
  (all) => all.every((pointer) => pointer === '' || pointer.startsWith('/')),
  'must be JSON pointers, comma-separated, each beginning with /',
);

/** `attempts,backoffMs,backoffMaxMs,totalMs` */
const budget = z
  .string()
  .regex(/^\d+(,\d+){3}$/, 'must be four whole numbers: attempts,backoffMs,backoffMaxMs,totalMs')
  .transform((value): RetryBudget => {
    const [attemptsMax = 1, backoffMs = 0, backoffMaxMs = 0, totalMs = 0] = value.split(',').map(Number);
    return { attemptsMax: Math.max(1, attemptsMax), backoffMs, backoffMaxMs, totalMs };
  });

const statuses = list
  .refine((all) => all.every((status) => /^[45]\d\d$/.test(status)), 'must be statuses like 429,503')
  .transform((all) => all.map(Number));

const parsedBy = <T>(parse: (value: string) => T, expected: string) =>
  z.string(expected).transform((value, context) => {
    try {
      return parse(value);
    } catch (error) {
      context.addIssue({ code: 'custom', message: `${expected}: ${(error as Error).message}` });
      return z.NEVER;
    }
  });

const payloadKeys = parsedBy(parsePayloadKeys, 'must be id:base64-of-32-bytes');

const origins = list.refine(
  (all) => all.every((origin) => /^https?:/.test(origin) && URL.canParse(origin) && new URL(origin).origin === origin),
  'must be origins like https://temporal.example, comma-separated, with nothing after the host or port',
);

/** An address to listen on: by number, since a name may stand for several. */
const listenAddress = (portMin: number) =>
  z.string().transform((value, context): ListenAddress => {
    const [, name = '', digits] = /^(\[[^\]]+\]|[^:]+):(\d{1,5})$/.exec(value) ?? [];
    const host = name.replace(/^\[|\]$/g, '');
    const port = Number(digits);
    if (isIP(host) !== 0 && port >= portMin && port <= 65_535) return { host, port };
    context.addIssue({ code: 'custom', message: 'must be an IP address and a port, like 0.0.0.0:9464' });
    return z.NEVER;
  });

const clientSettings = {
  PAYLOAD_KEYS: payloadKeys.optional(),
  PAYLOAD_ENCRYPTION: z.enum(['on', 'off'], 'must be on or off').default('on'),
  TASK_QUEUE: text.default(defaultTaskQueue),
  PLAN_TYPES_MORE: list.default([]),
};

/**
 * Retries in words: a provider that restarts is back within the first minutes; past a quarter of an hour a person should
 * know. Undoing is tried longer, since giving up leaves something behind; servers of an order may take half an hour.
 */
const workerSettings = {
  ...clientSettings,
  PROVIDER_BASE_URL: z
    .url({ protocol: /^https?$/, error: 'is required: the address of the provider’s service, https://…' })
    .refine((url) => !/[?#]/.test(url) && !hasCredentials(url), 'must have no credentials, no query and no fragment'),
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
  /** The whole call. At most 25 s: the activity's own limit is 30 s, and the call must end first and say how. */
  PROVIDER_TIMEOUT_MS: whole(1, 25_000).default(20_000),
  PROVIDER_RESPONSE_BYTES_MAX: whole(1_024, 64 * 1024 * 1024).default(1024 * 1024),
  PROVIDER_CONNECTIONS: whole(1, 10_000).default(64),
  PROVIDER_PAUSE_MAX_MS: whole(0, 3_600_000).default(60_000),
  PROVIDER_CALLS_PER_SECOND: z
    .string()
    .regex(/^\d+(\.\d+)?$/, 'must be a number above 0, like 5 or 0.5')
    .transform(Number)
    .refine((value) => value > 0, 'must be above 0')
    .optional(),
  PROVIDER_QUOTE_METHOD: z.enum(['PUT', 'GET'], 'must be PUT or GET').default('PUT'),
  SERVER_POINTERS: pointers.default([]),
  SERVER_DIRECTORY_PATH: text.regex(/^\//, 'must begin with /').optional(),
  SERVER_DIRECTORY_POINTERS: pointers.default([]),
  SERVER_DIRECTORY_LABEL_IS_UNIQUE: flag.default(false),
  TEMPORAL_DEPLOYMENT_NAME: text.regex(/^[^.]+$/, 'must have no dot in it').optional(),
  TEMPORAL_WORKER_BUILD_ID: text.optional(),
  VERSIONING_BEHAVIOR: z.enum(['PINNED', 'AUTO_UPGRADE'], 'must be PINNED or AUTO_UPGRADE').default('PINNED'),
  PIVOT_RETRY_STATUSES: statuses.default([429]),
  APPROVAL_MAX_AGE_MS: whole(0, Number.MAX_SAFE_INTEGER).default(24 * 60 * 60 * 1000),
  HOLD_FILE: text.optional(),
  TAKE_CLEAR_REQUESTS: flag.default(false),
  SECRETS_FOLDER: text.optional(),
  PROVIDER_CA_FILE: text.optional(),
  RETRY_READING: budget.default({ attemptsMax: 8, backoffMs: 1_000, backoffMaxMs: 60_000, totalMs: 900_000 }),
  RETRY_ACTING: budget.default({ attemptsMax: 8, backoffMs: 1_000, backoffMaxMs: 60_000, totalMs: 900_000 }),
  RETRY_UNDOING: budget.default({ attemptsMax: 12, backoffMs: 1_000, backoffMaxMs: 300_000, totalMs: 3_600_000 }),
  RETRY_DARING: budget.default({ attemptsMax: 8, backoffMs: 1_000, backoffMaxMs: 60_000, totalMs: 900_000 }),
  RETRY_EXPECTING: budget.default({ attemptsMax: 40, backoffMs: 2_000, backoffMaxMs: 60_000, totalMs: 1_800_000 }),
  /** How long a stop waits for calls in flight. Longer than the HTTP timeout, so that a pivot finishes and is known. */
  SHUTDOWN_GRACE_MS: whole(0, 600_000).default(30_000),
  ACTIVITIES_AT_ONCE: whole(1, 10_000).default(200),
  WORKFLOW_TASKS_AT_ONCE: whole(2, 10_000).default(200),
  HEALTH_ADDRESS: listenAddress(0).optional(),
  /** Not port 0: nobody would learn which one it became. */
  METRICS_ADDRESS: listenAddress(1).optional(),
  OTEL_EXPORTER_OTLP_ENDPOINT: z
    .url({ protocol: /^https?$/, error: 'must be the address of a collector, http://…' })
    .refine((url) => !/[?#]/.test(url) && !hasCredentials(url), 'must have no credentials, no query and no fragment')
    .optional(),
  LOG_LEVEL: z
    .enum(['trace', 'debug', 'info', 'warn', 'error'], 'must be trace, debug, info, warn or error')
    .default('info'),
};

const codecServerSettings = {
  PAYLOAD_KEYS: z.string('is required: the keys that the workers have').pipe(payloadKeys),
  CODEC_HOST: text.default('127.0.0.1'),
  CODEC_PORT: whole(0, 65_535).default(8088),
  CODEC_TOKEN: parsedBy(parseTokens, 'must be a token, or label:token, more after a comma').optional(),
  CODEC_TOKEN_FILE: text.optional(),
  CODEC_JWKS_URL: z.url({ protocol: /^https?$/, error: 'must be an address, https://…' }).optional(),
  CODEC_JWT_ISSUER: text.optional(),
  CODEC_JWT_AUDIENCE: text.optional(),
  CODEC_ORIGINS: origins.default([]),
  CODEC_TLS_CERT_FILE: text.optional(),
  CODEC_TLS_KEY_FILE: text.optional(),
  CODEC_ALLOW_HTTP: flag.default(false),
  /** Temporal takes no message above 4 MiB; in base64, and with the JSON around it, that is less than this. */
  CODEC_BODY_BYTES_MAX: whole(1_024, 64 * 1024 * 1024).default(8 * 1024 * 1024),
};

export interface ListenAddress {
  /** IPv4 or IPv6, without brackets. */
  host: string;
  /** 0: any that is free. */
  port: number;
}

export interface ClientConfig {
  /** As the official environment configuration reads it: `TEMPORAL_ADDRESS`, `TEMPORAL_NAMESPACE`, `TEMPORAL_TLS…`, profiles. */
  temporal: ClientConnectConfig;
  namespace: string;
  taskQueue: string;
  planTypesMore: readonly string[];
  /** Absent: payloads are not encrypted. */
  payloadKeys: PayloadKeys | undefined;
}

export interface ProviderConfig {
  baseUrl: string;
  allowHttp: boolean;
  /** Reads the token; again after a 401 where it stands in a file. Absent: no credentials are sent. */
  readToken: (() => string) | undefined;
  authHeader: string;
  authScheme: string;
  connectTimeoutMs: number;
  totalTimeoutMs: number;
  responseBytesMax: number;
  connections: number;
  pauseMaxMs: number;
  quoteMethod: 'PUT' | 'GET';
  /** PEM of a private authority that the provider's certificate is from. */
  ca: string | undefined;
}

export interface WorkerConfig extends ClientConfig {
  provider: ProviderConfig;
  activities: ActivitySettings;
  secrets: SecretSources;
  /** Over all workers of the task queue; absent: as many as there are slots for. */
  callsPerSecond: number | undefined;
  /** Absent: every worker takes every saga. */
  version: WorkerVersion | undefined;
  shutdownGraceMs: number;
  activitiesAtOnce: number;
  workflowTasksAtOnce: number;
  /** Absent: nobody is told how the worker is. */
  healthAddress: ListenAddress | undefined;
  /** Absent: nothing is measured. */
  metricsAddress: ListenAddress | undefined;
  /** Of a collector. Absent: nothing is traced. */
  tracesEndpoint: string | undefined;
  logLevel: string;
}

/** Of a Temporal Worker Deployment. */
export interface WorkerVersion {
  deploymentName: string;
  buildId: string;
  /** Whether a saga ends on the version that it began on, or goes on with the one that is current. */
  behavior: 'PINNED' | 'AUTO_UPGRADE';
}

export interface CodecServerConfig {
  host: string;
  port: number;
  keys: PayloadKeys;
  tokens: readonly Token[];
  jwt: JwtRules | undefined;
  origins: readonly string[];
  /** PEM. Absent: HTTP. */
  tls: { cert: string; key: string } | undefined;
  bodyBytesMax: number;
}

/** @throws SettingsError */
export function readClientConfig(env: Environment = process.env): Readonly<ClientConfig> {
  const problems: string[] = [];
  const settings = readSettings(clientSettings, env, problems);
  const temporal = readTemporal(env, problems);
  if (temporal) requireKeys(env, temporal, problems);
  if (settings === undefined || temporal === undefined || problems.length > 0) throw new SettingsError(problems);
  return Object.freeze({
    ...temporal,
    taskQueue: settings.TASK_QUEUE,
    planTypesMore: settings.PLAN_TYPES_MORE,
    payloadKeys: settings.PAYLOAD_KEYS,
  });
}

/** @throws SettingsError */
export function readWorkerConfig(env: Environment = process.env): Readonly<WorkerConfig> {
  const problems: string[] = [];
  const settings = readSettings(workerSettings, env, problems);
  const temporal = readTemporal(env, problems);
  const readToken = tokenReader(env, problems);
  if (temporal) requireKeys(env, temporal, problems);
  requireHttps(env, problems);
  const ca = env['PROVIDER_CA_FILE'] ? readText('PROVIDER_CA_FILE', env['PROVIDER_CA_FILE'], problems) : undefined;
  if (ca !== undefined && !isCertificate(ca)) problems.push('PROVIDER_CA_FILE: must be the PEM of a certificate');
  if (settings) {
    if (settings.SHUTDOWN_GRACE_MS < settings.PROVIDER_TIMEOUT_MS) {
      problems.push('SHUTDOWN_GRACE_MS: must be at least PROVIDER_TIMEOUT_MS, so that a call in flight can finish');
    }
    if ((settings.TEMPORAL_DEPLOYMENT_NAME === undefined) !== (settings.TEMPORAL_WORKER_BUILD_ID === undefined)) {
      problems.push('TEMPORAL_DEPLOYMENT_NAME, TEMPORAL_WORKER_BUILD_ID: one of them needs the other');
    }
    if (settings.SERVER_DIRECTORY_PATH !== undefined && settings.SERVER_DIRECTORY_POINTERS.length === 0) {
      problems.push('SERVER_DIRECTORY_POINTERS: is required with SERVER_DIRECTORY_PATH');
    }
  }
  if (settings === undefined || temporal === undefined || problems.length > 0) throw new SettingsError(problems);
  const moods: Record<Mood, RetryBudget> = {
    reading: settings.RETRY_READING,
    acting: settings.RETRY_ACTING,
    undoing: settings.RETRY_UNDOING,
    daring: settings.RETRY_DARING,
    expecting: settings.RETRY_EXPECTING,
  };
  return Object.freeze({
    ...temporal,
    taskQueue: settings.TASK_QUEUE,
    planTypesMore: settings.PLAN_TYPES_MORE,
    payloadKeys: settings.PAYLOAD_KEYS,
    provider: {
      baseUrl: settings.PROVIDER_BASE_URL,
      allowHttp: settings.PROVIDER_ALLOW_HTTP,
      readToken,
      authHeader: settings.PROVIDER_AUTH_HEADER,
      authScheme: settings.PROVIDER_AUTH_SCHEME,
      connectTimeoutMs: settings.PROVIDER_CONNECT_TIMEOUT_MS,
      totalTimeoutMs: settings.PROVIDER_TIMEOUT_MS,
      responseBytesMax: settings.PROVIDER_RESPONSE_BYTES_MAX,
      connections: settings.PROVIDER_CONNECTIONS,
      pauseMaxMs: settings.PROVIDER_PAUSE_MAX_MS,
      quoteMethod: settings.PROVIDER_QUOTE_METHOD,
      ca,
    },
    activities: {
      retries: moods,
      pivotRetryStatuses: settings.PIVOT_RETRY_STATUSES,
      planTypesMore: settings.PLAN_TYPES_MORE,
      takesClearRequests: settings.TAKE_CLEAR_REQUESTS,
      serverPointers: settings.SERVER_POINTERS,
      directory:
        settings.SERVER_DIRECTORY_PATH === undefined
          ? undefined
          : {
              path: settings.SERVER_DIRECTORY_PATH,
              pointers: settings.SERVER_DIRECTORY_POINTERS,
              labelIsUnique: settings.SERVER_DIRECTORY_LABEL_IS_UNIQUE,
            },
      approvalMaxAgeMs: settings.APPROVAL_MAX_AGE_MS,
      holdFile: settings.HOLD_FILE,
    },
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

function versionIn(settings: {
  TEMPORAL_DEPLOYMENT_NAME?: string | undefined;
  TEMPORAL_WORKER_BUILD_ID?: string | undefined;
  VERSIONING_BEHAVIOR: WorkerVersion['behavior'];
}): WorkerVersion | undefined {
  const { TEMPORAL_DEPLOYMENT_NAME: deploymentName, TEMPORAL_WORKER_BUILD_ID: buildId } = settings;
  if (deploymentName === undefined || buildId === undefined) return undefined;
  return { deploymentName, buildId, behavior: settings.VERSIONING_BEHAVIOR };
}

/** @throws SettingsError */
export function readCodecServerConfig(env: Environment = process.env): Readonly<CodecServerConfig> {
  const problems: string[] = [];
  const settings = readSettings(codecServerSettings, env, problems);
  const tokensOfFile = codecTokenFile(env, problems);
  const jwt = jwtRules(env, problems);
  const tls = codecTls(env, problems);
  requireDoors(env, problems);
  if (settings === undefined || problems.length > 0) throw new SettingsError(problems);
  return Object.freeze({
    host: settings.CODEC_HOST,
    port: settings.CODEC_PORT,
    keys: settings.PAYLOAD_KEYS,
    tokens: settings.CODEC_TOKEN ?? tokensOfFile,
    jwt,
    origins: settings.CODEC_ORIGINS,
    tls,
    bodyBytesMax: settings.CODEC_BODY_BYTES_MAX,
  });
}

/** What Temporal is called by when it cannot be reached. */
export function temporalAddress(config: ClientConfig): string {
  return config.temporal.connectionOptions.address ?? defaultAddress;
}

const defaultAddress = 'localhost:7233';

function readSettings<S extends z.ZodRawShape>(shape: S, env: Environment, problems: string[]) {
  // An empty variable is how many tools say "unset".
  const given = Object.fromEntries(Object.keys(shape).flatMap((name) => (env[name] ? [[name, env[name]]] : [])));
  const parsed = z.object(shape).safeParse(given);
  if (parsed.success) return parsed.data;
  for (const issue of parsed.error.issues) problems.push(`${issue.path.join('.')}: ${issue.message}`);
  return undefined;
}

function readTemporal(env: Environment, problems: string[]): Pick<ClientConfig, 'temporal' | 'namespace'> | undefined {
  const { TEMPORAL_CONFIG_FILE } = env;
  if (TEMPORAL_CONFIG_FILE && !existsSync(TEMPORAL_CONFIG_FILE)) {
    problems.push('TEMPORAL_CONFIG_FILE: there is no such file');
    return undefined;
  }
  try {
    const overrideEnvVars = Object.fromEntries(
      Object.entries(env).flatMap(([name, value]) => (value ? [[name, value]] : [])),
    );
    const temporal = loadClientConnectConfig({ overrideEnvVars, configFileStrict: true });
    if (!checkConnection(temporal.connectionOptions, problems)) return undefined;
    return { temporal, namespace: temporal.namespace ?? 'default' };
  } catch (error) {
    problems.push(`TEMPORAL_…: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
}

/** What a connection would only stumble over, in words that name no setting. */
function checkConnection({ address, tls }: ClientConnectConfig['connectionOptions'], problems: string[]): boolean {
  const known = problems.length;
  if (address !== undefined && !/^(\[[\da-fA-F:.]+\]|[^\s:/?#@[\]]+)(:\d{1,5})?$/.test(address)) {
    problems.push('TEMPORAL_ADDRESS: must be a host and a port, like localhost:7233');
  }
  if (typeof tls === 'object' && tls !== null) {
    const { clientCertPair: own, serverRootCACertificate: authority } = tls;
    try {
      if (own) createSecureContext({ cert: Buffer.from(own.crt), key: Buffer.from(own.key) });
    } catch {
      problems.push(
        'TEMPORAL_TLS_CLIENT_CERT_…, TEMPORAL_TLS_CLIENT_KEY_…: must be the PEM of a certificate and of its own key',
      );
    }
    if (authority && !isCertificate(authority)) {
      problems.push('TEMPORAL_TLS_SERVER_CA_CERT_…: must be the PEM of a certificate');
    }
  }
  return problems.length === known;
}

function isCertificate(pem: string | Uint8Array): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0;
  } catch {
    return false;
  }
}

function tokenReader(
  { PROVIDER_TOKEN, PROVIDER_TOKEN_FILE }: Environment,
  problems: string[],
): (() => string) | undefined {
  if (PROVIDER_TOKEN && PROVIDER_TOKEN_FILE) {
    problems.push('PROVIDER_TOKEN: cannot stand beside PROVIDER_TOKEN_FILE; set one of them');
  }
  if (PROVIDER_TOKEN) return () => PROVIDER_TOKEN;
  if (!PROVIDER_TOKEN_FILE) return undefined;
  if (readText('PROVIDER_TOKEN_FILE', PROVIDER_TOKEN_FILE, problems) === '') {
    problems.push('PROVIDER_TOKEN_FILE: the file is empty');
  }
  return () => readFileSync(PROVIDER_TOKEN_FILE, 'utf8').trim();
}

function codecTokenFile({ CODEC_TOKEN, CODEC_TOKEN_FILE }: Environment, problems: string[]): readonly Token[] {
  if (!CODEC_TOKEN_FILE) return [];
  if (CODEC_TOKEN) problems.push('CODEC_TOKEN: cannot stand beside CODEC_TOKEN_FILE; set one of them');
  const read = readText('CODEC_TOKEN_FILE', CODEC_TOKEN_FILE, problems);
  if (read === undefined) return [];
  try {
    return parseTokens(read);
  } catch (error) {
    problems.push(`CODEC_TOKEN_FILE: must hold a token, or label:token, one to a line: ${(error as Error).message}`);
    return [];
  }
}

/** All three or none: a token that the issuer signed for somebody else's service must open nothing here. */
function jwtRules(
  { CODEC_JWKS_URL, CODEC_JWT_ISSUER, CODEC_JWT_AUDIENCE }: Environment,
  problems: string[],
): JwtRules | undefined {
  if (CODEC_JWKS_URL && URL.canParse(CODEC_JWKS_URL)) {
    const { protocol, hostname } = new URL(CODEC_JWKS_URL);
    if (protocol === 'http:' && !isLoopback(hostname)) {
      problems.push('CODEC_JWKS_URL: must be https: (whoever can alter the keys on their way can sign tokens)');
    }
  }
  const together = { CODEC_JWKS_URL, CODEC_JWT_ISSUER, CODEC_JWT_AUDIENCE };
  const missing = Object.entries(together).flatMap(([name, value]) => (value ? [] : [name]));
  if (missing.length === 3) return undefined;
  for (const name of missing) {
    const others = Object.keys(together).filter((other) => other !== name);
    problems.push(`${name}: is required with ${others.join(' and ')}`);
  }
  if (!CODEC_JWKS_URL || !CODEC_JWT_ISSUER || !CODEC_JWT_AUDIENCE) return undefined;
  return { jwksUrl: CODEC_JWKS_URL, issuer: CODEC_JWT_ISSUER, audience: CODEC_JWT_AUDIENCE };
}

function codecTls(
  { CODEC_TLS_CERT_FILE, CODEC_TLS_KEY_FILE }: Environment,
  problems: string[],
): CodecServerConfig['tls'] {
  if (!CODEC_TLS_CERT_FILE && !CODEC_TLS_KEY_FILE) return undefined;
  if (!CODEC_TLS_CERT_FILE || !CODEC_TLS_KEY_FILE) {
    problems.push('CODEC_TLS_CERT_FILE, CODEC_TLS_KEY_FILE: are required together');
    return undefined;
  }
  const cert = readText('CODEC_TLS_CERT_FILE', CODEC_TLS_CERT_FILE, problems);
  const key = readText('CODEC_TLS_KEY_FILE', CODEC_TLS_KEY_FILE, problems);
  if (cert === undefined || key === undefined) return undefined;
  try {
    createSecureContext({ cert, key });
  } catch {
    problems.push('CODEC_TLS_CERT_FILE, CODEC_TLS_KEY_FILE: must be the PEM of a certificate and of its own key');
  }
  return { cert, key };
}

/** On this machine's own address nobody else can connect; on any other, everybody who can is asked who they are, in private. */
function requireDoors(env: Environment, problems: string[]): void {
  const host = env['CODEC_HOST']?.trim() || '127.0.0.1';
  if (isLoopback(host)) return;
  const given = (...names: string[]) => names.some((name) => env[name]);
  const why = `is required, since CODEC_HOST=${host} is not a loopback address`;
  if (!given('CODEC_TOKEN', 'CODEC_TOKEN_FILE', 'CODEC_JWKS_URL')) {
    problems.push(`CODEC_TOKEN: ${why} (or CODEC_TOKEN_FILE, or CODEC_JWKS_URL)`);
  }
  if (!given('CODEC_TLS_CERT_FILE', 'CODEC_TLS_KEY_FILE') && env['CODEC_ALLOW_HTTP'] !== 'true') {
    problems.push(`CODEC_TLS_CERT_FILE: ${why} (or CODEC_ALLOW_HTTP=true, behind a proxy that does TLS)`);
  }
}

function readText(name: string, path: string, problems: string[]): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    problems.push(`${name}: cannot be read (${(error as NodeJS.ErrnoException).code ?? String(error)})`);
    return undefined;
  }
}

/** Unencrypted payloads stay on this machine, unless somebody says that they may travel. */
function requireKeys(
  { PAYLOAD_KEYS, PAYLOAD_ENCRYPTION }: Environment,
  { temporal }: Pick<ClientConfig, 'temporal'>,
  problems: string[],
): void {
  if (PAYLOAD_KEYS || PAYLOAD_ENCRYPTION === 'off') return;
  const { hostname } = new URL(`tcp://${temporal.connectionOptions.address ?? defaultAddress}`);
  if (isLoopback(hostname)) return;
  problems.push(
    'PAYLOAD_KEYS: is required for a Temporal server that is not on this machine ' +
      '(or PAYLOAD_ENCRYPTION=off, and passwords are stored there in the clear)',
  );
}

/** Orders and passwords stay on this machine, or travel in private. What is no address at all is told elsewhere. */
function requireHttps({ PROVIDER_BASE_URL = '', PROVIDER_ALLOW_HTTP }: Environment, problems: string[]): void {
  if (!URL.canParse(PROVIDER_BASE_URL) || PROVIDER_ALLOW_HTTP === 'true') return;
  const { protocol, hostname } = new URL(PROVIDER_BASE_URL);
  if (protocol !== 'http:' || isLoopback(hostname)) return;
  problems.push(
    'PROVIDER_BASE_URL: must be https: (http: only to a loopback address, or with PROVIDER_ALLOW_HTTP=true)',
  );
}

function hasCredentials(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { username, password } = new URL(url);
  return username !== '' || password !== '';
}

function isLoopback(hostname: string): boolean {
  return ['localhost', '[::1]', '::1'].includes(hostname) || /^127(\.\d{1,3}){3}$/.test(hostname);
}
