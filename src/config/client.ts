import { existsSync } from 'node:fs';
import { loadClientConnectConfig, type ClientConnectConfig } from '@temporalio/envconfig';
import { z } from 'zod';
import { defaultTaskQueue } from '../domain/identity';
import { isCertificate, isKeyPair, requireKeys } from './checks';
import { oneOf, payloadKeys, planTypes, serviceUrl, text } from './kinds';
import { from, fromTextOrFile, readSettings, SettingsError, type Environment } from './settings';

/** The settings of the client and of the worker. */
export const clientSettings = z.object({
  payloadKeys: fromTextOrFile('PAYLOAD_KEYS', payloadKeys.optional()),
  payloadEncryption: from('PAYLOAD_ENCRYPTION', oneOf('on', 'off').default('on')),
  taskQueue: from('TASK_QUEUE', text.default(defaultTaskQueue)),
  planTypesMore: from('PLAN_TYPES_MORE', planTypes.default([])),
  /** Without it, nothing is linked. */
  webUiUrl: from(
    'TEMPORAL_UI_URL',
    serviceUrl('must be the address of Temporal’s Web UI, http://… or https://…').optional(),
  ),
});

export type ClientConfig = ReturnType<typeof readClientConfig>;

/** @throws SettingsError */
export function readClientConfig(env: Environment = process.env) {
  const problems: string[] = [];
  const settings = readSettings(clientSettings, env, problems);
  const temporal = readTemporal(env, problems);
  if (settings === undefined || temporal === undefined || problems.length > 0) throw new SettingsError(problems);
  return Object.freeze({ ...temporal, ...settings });
}

export function readTemporal(env: Environment, problems: string[]) {
  const { TEMPORAL_CONFIG_FILE } = env;
  if (TEMPORAL_CONFIG_FILE && !existsSync(TEMPORAL_CONFIG_FILE)) {
    problems.push('TEMPORAL_CONFIG_FILE: there is no such file');
    return undefined;
  }
  try {
    const overrideEnvVars = Object.fromEntries(
      Object.entries(env).flatMap(([name, value]) => (value ? [[name, value]] : [])),
    );
    // Temporal's official environment configuration: `TEMPORAL_ADDRESS`, `TEMPORAL_NAMESPACE`, TLS, profiles.
    const temporal = loadClientConnectConfig({ overrideEnvVars, configFileStrict: true });
    const hasOwn = Object.keys(overrideEnvVars).some((name) => /^TEMPORAL_TLS_CLIENT_(CERT|KEY)_/.test(name));
    if (!checkConnection(temporal.connectionOptions, hasOwn, problems)) return undefined;
    const { namespace = 'default', connectionOptions } = temporal;
    const { address: temporalAddress = 'localhost:7233' } = connectionOptions;
    const temporalHost = new URL(`tcp://${temporalAddress}`).hostname;
    requireKeys('Temporal server', temporalHost, env, problems);
    return { temporal, temporalAddress, temporalHost, namespace };
  } catch (error) {
    problems.push(`TEMPORAL_…: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
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
