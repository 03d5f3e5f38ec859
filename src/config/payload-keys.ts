/** The keys of payload encryption, from the environment or from a file. */
import { keysInFile } from '../security/keys-file';
import { parsePayloadKeys, type PayloadKeys } from '../security/keys';
import { text } from './kinds';
import type { Environment } from './settings';

export const payloadKeysSettings = { PAYLOAD_KEYS: text.optional(), PAYLOAD_KEYS_FILE: text.optional() };

/** Whether there are any, right or wrong. */
export function hasKeys({ PAYLOAD_KEYS, PAYLOAD_KEYS_FILE }: Environment): boolean {
  return Boolean(PAYLOAD_KEYS || PAYLOAD_KEYS_FILE);
}

/** @returns undefined where none are given; no problem repeats a key */
export function readPayloadKeys(
  { PAYLOAD_KEYS, PAYLOAD_KEYS_FILE }: Environment,
  problems: string[],
): PayloadKeys | undefined {
  if (PAYLOAD_KEYS && PAYLOAD_KEYS_FILE) {
    problems.push('PAYLOAD_KEYS: cannot be set together with PAYLOAD_KEYS_FILE; set one of them');
    return undefined;
  }
  try {
    if (PAYLOAD_KEYS_FILE) return keysInFile(PAYLOAD_KEYS_FILE);
    return PAYLOAD_KEYS ? parsePayloadKeys(PAYLOAD_KEYS) : undefined;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const setting = PAYLOAD_KEYS_FILE ? 'PAYLOAD_KEYS_FILE' : 'PAYLOAD_KEYS';
    problems.push(`${setting}: ${code === undefined ? message : `cannot be read (${code})`}`);
    return undefined;
  }
}
