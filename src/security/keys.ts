/**
 * `PAYLOAD_KEYS`: `id:base64-of-32-bytes`, by commas or lines. The first one encrypts, all of them decrypt. So a new
 * key is put last everywhere, then first everywhere; the old one is kept: the journal keeps for ever what it encrypted.
 */
import { createSecretKey, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';

export interface PayloadKeys {
  /** In their order. */
  readonly byId: ReadonlyMap<string, KeyObject>;
  /** They may be others later: those of a file. */
  readonly change?: true;
}

export const noKeys: PayloadKeys = { byId: new Map() };

const keyBytes = 32;

/** @throws Error that names the wrong key by its id or position, never by its value */
export function parsePayloadKeys(text: string): PayloadKeys {
  const byId = new Map<string, KeyObject>();
  const entries = text.trim().split(/\s*[,\n]\s*/);
  for (const [index, entry] of entries.entries()) {
    const [, id, base64] = /^\s*([A-Za-z0-9._-]{1,64}):([A-Za-z0-9+/]+={0,2})\s*$/.exec(entry) ?? [];
    if (id === undefined || base64 === undefined) {
      throw new Error(`key ${index + 1} must be an id, a colon and the base64 of ${keyBytes} bytes`);
    }
    const bytes = Buffer.from(base64, 'base64');
    if (bytes.length !== keyBytes) {
      throw new Error(`key ${id} is ${bytes.length} bytes long; it must be ${keyBytes}`);
    }
    if (byId.has(id)) throw new Error(`key ${id} is given twice`);
    byId.set(id, createSecretKey(bytes));
  }
  return { byId };
}

/** Soon enough for a rotation, whose steps wait for each other by hand. */
const everyMs = 10_000;

/**
 * The keys of a file, read again at most once in ten seconds: a key is rotated without a restart.
 *
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
    change: true,
    get byId() {
      if (nowMs() - readMs >= everyMs) readAgain();
      return keys.byId;
    },
  };
}
