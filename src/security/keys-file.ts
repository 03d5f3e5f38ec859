/**
 * The keys of a file that may be replaced while a process runs: it reads the file again, at most once in ten seconds.
 * So a key is rotated without a restart, also where an orchestrator replaces the file of a mounted secret by itself.
 */
import { readFileSync } from 'node:fs';
import { parsePayloadKeys, type PayloadKeys } from './keys';

/** Soon enough for a rotation, whose steps wait for each other by hand. */
const everyMs = 10_000;

/**
 * @param nowMs for tests
 * @throws Error at the first reading, where the file cannot be read or has no keys; later, the keys as last read stay
 * in use, and the process warns
 */
export function keysInFile(path: string, nowMs: () => number = Date.now): PayloadKeys {
  let text = readFileSync(path, 'utf8').trim();
  let keys = parsePayloadKeys(text);
  let readMs = nowMs();
  const read = (): PayloadKeys => {
    if (nowMs() - readMs < everyMs) return keys;
    readMs = nowMs();
    try {
      const newer = readFileSync(path, 'utf8').trim();
      if (newer === text) return keys;
      keys = parsePayloadKeys(newer);
      text = newer;
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      process.emitWarning(`PAYLOAD_KEYS_FILE: ${why}; the keys as last read stay in use`);
    }
    return keys;
  };
  return {
    get current() {
      return read().current;
    },
    get byId() {
      return read().byId;
    },
  };
}
