/** The keys of payload encryption, from the environment or from a file. */
import { keysInFile, parsePayloadKeys, type PayloadKeys } from '../security/keys';
import { isLoopback } from './checks';
import { textOrFile, type Environment } from './settings';

/** Some are given, right or wrong. */
export function hasKeys({ PAYLOAD_KEYS, PAYLOAD_KEYS_FILE }: Environment): boolean {
  return Boolean(PAYLOAD_KEYS || PAYLOAD_KEYS_FILE);
}

/** @returns undefined where none are given; no problem repeats a key */
export function readPayloadKeys(env: Environment, problems: string[]): PayloadKeys | undefined {
  const given = textOrFile('PAYLOAD_KEYS', env, problems);
  if (given === undefined) return undefined;
  try {
    // A file is read again later: its keys may be replaced while the program runs.
    return given.file === undefined ? parsePayloadKeys(given.text) : keysInFile(given.file);
  } catch (error) {
    problems.push(`${given.name}: ${(error as Error).message}`);
    return undefined;
  }
}

/** Unencrypted data stays on this machine, unless the operator allows more. */
export function requireKeys(where: 'Temporal server' | 'journal', host: string, env: Environment, problems: string[]) {
  if (hasKeys(env) || env['PAYLOAD_ENCRYPTION'] === 'off' || isLoopback(host)) return;
  problems.push(
    `PAYLOAD_KEYS: is required for a ${where} that is not on this machine ` +
      '(or set PAYLOAD_ENCRYPTION=off: passwords are then stored there unencrypted)',
  );
}
