import { randomBytes } from 'node:crypto';

/** A key for payloads, as `PAYLOAD_KEYS` has it behind its id. */
export const newKey = (): string => randomBytes(32).toString('base64');
