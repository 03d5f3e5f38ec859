/** The keys of a file, read again at most once in ten seconds: a key is rotated without a restart. */
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
  const read = () => readFileSync(path, 'utf8').trim();
  let [text, readMs] = [read(), nowMs()];
  let keys = parsePayloadKeys(text);
  const readAgain = () => {
    readMs = nowMs();
    try {
      const newer = read();
      if (newer !== text) [keys, text] = [parsePayloadKeys(newer), newer];
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      process.emitWarning(`PAYLOAD_KEYS_FILE: ${why}; the keys as last read stay in use`);
    }
  };
  return {
    get byId() {
      if (nowMs() - readMs >= everyMs) readAgain();
      return keys.byId;
    },
  };
}
