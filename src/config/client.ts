import { loadClientConnectConfig, type ClientConnectConfig } from '@temporalio/envconfig';
import { z } from 'zod';
import { defaultTaskQueue } from '../domain/identity';
import { withoutMarks } from '../domain/values';
import { readerOf } from './environment';
import { isCertificate, isKeyPair, requireKeys } from './checks';
import { oneOf, payloadKeys, profile, serviceUrl, text } from './parsers';
import { from, fromTextOrFile, readSettings, readText, type Environment } from './settings';

/** The settings of the client and of the worker. */
export const clientSettings = z.object({
  payloadKeys: fromTextOrFile('PAYLOAD_KEYS', payloadKeys.optional()),
  payloadEncryption: from('PAYLOAD_ENCRYPTION', oneOf('on', 'off').default('on')),
  taskQueue: from('TASK_QUEUE', text.default(defaultTaskQueue)),
  /** Without it nothing is declared. */
  profile: from('PROVIDER_PROFILE', profile.optional()),
  /** Without it, nothing is linked. */
  webUiUrl: from(
    'TEMPORAL_UI_URL',
    serviceUrl('must be the address of Temporal’s Web UI, http://… or https://…').optional(),
  ),
});

type TLSConfig = Exclude<ClientConnectConfig['connectionOptions']['tls'], boolean | null | undefined>;

export type ClientConfig = ReturnType<typeof readClientConfig>;

export const readClientConfig = readerOf((env, problems) => {
  const settings = readSettings(clientSettings, env, problems);
  const temporal = readTemporal(env, problems);
  return settings && temporal && { ...temporal, ...settings };
});

export function readTemporal(env: Environment, problems: string[]) {
  const { TEMPORAL_CONFIG_FILE: file } = env;
  try {
    const overrideEnvVars = Object.fromEntries(
      Object.entries(env).flatMap(([name, value]) => (value ? [[name, value]] : [])),
    );
    // Read here, because a byte order mark would be none of its letters.
    const configSource = file && { configSource: { data: readText(file, 'TEMPORAL_CONFIG_FILE: ') } };
    // Temporal's official environment configuration: `TEMPORAL_ADDRESS`, `TEMPORAL_NAMESPACE`, TLS, profiles.
    const temporal = loadClientConnectConfig({ ...configSource, overrideEnvVars, configFileStrict: true });
    const { tls } = temporal.connectionOptions;
    if (typeof tls === 'object' && tls !== null) temporal.connectionOptions.tls = withoutMarksIn(tls);
    const hasOwn = Object.keys(overrideEnvVars).some((name) => /^TEMPORAL_TLS_CLIENT_(CERT|KEY)_/.test(name));
    if (!checkConnection(temporal.connectionOptions, hasOwn, problems)) return undefined;
    const { namespace = 'default', connectionOptions } = temporal;
    const { address: temporalAddress = 'localhost:7233' } = connectionOptions;
    const temporalHost = new URL(`tcp://${temporalAddress}`).hostname;
    requireKeys('Temporal server', temporalHost, env, problems);
    return { temporal, temporalAddress, temporalHost, namespace };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    problems.push(why.startsWith('TEMPORAL_') ? why : `TEMPORAL_…: ${why}`);
    return undefined;
  }
}

/** OpenSSL passes over a byte order mark; the worker’s TLS library finds no certificate behind one. */
function withoutMarksIn(tls: TLSConfig): TLSConfig {
  const { clientCertPair: own, serverRootCACertificate: authority, ...others } = tls;
  const pem = (bytes: Uint8Array) => Buffer.from(withoutMarks(Buffer.from(bytes).toString()));
  return {
    ...others,
    ...(own && { clientCertPair: { crt: pem(own.crt), key: pem(own.key) } }),
    ...(authority && { serverRootCACertificate: pem(authority) }),
  };
}

/**
 * Finds what would fail only when the connection is made, with an error that names no setting.
 *
 * @param hasOwn whether a setting gives a client certificate or a key: without the other one it would be left out
 */
function checkConnection(
  { address, tls }: ClientConnectConfig['connectionOptions'],
  hasOwn: boolean,
  problems: string[],
): boolean {
  const known = problems.length;
  if (address !== undefined && !/^(\[[\da-fA-F:.]+\]|[^\s:/?#@[\]]+)(:\d{1,5})?$/.test(address)) {
    problems.push('TEMPORAL_ADDRESS: must be a host and a port, like localhost:7233');
  }
  if (typeof tls === 'object' && tls !== null) {
    const { clientCertPair: own, serverRootCACertificate: authority } = tls;
    if (own ? !isKeyPair(Buffer.from(own.crt), Buffer.from(own.key)) : hasOwn) {
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

/** The abilities of a command's terminal, and how the command was called. */
export function readTerminal(env: Environment = process.env) {
  return {
    /** Lines can be written over. */
    draws: env['TERM'] !== 'dumb',
    /** A person types this before a command: `order-saga`, or in a checkout `npm run cli --`. */
    self: env['npm_lifecycle_event'] === 'cli' ? 'npm run --silent cli --' : 'order-saga',
  };
}
