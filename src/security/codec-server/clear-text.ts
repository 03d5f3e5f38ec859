/** What is shown of a decrypted payload: everything but the secrets, which nobody needs in order to operate sagas. */
import type { Payload } from '@temporalio/common';
import { redact, redactedMark } from '../../domain/secrets';

/**
 * Blanks out secret fields at any depth. The JSON is written again, so that only what was checked is shown: JSON may
 * have a field twice, and a parser sees only the last one. A payload that is not JSON has no fields, and passes.
 */
export function withoutSecrets(payload: Payload): Payload {
  const encoding = Buffer.from(payload.metadata?.['encoding'] ?? []).toString();
  if (!encoding.startsWith('json/')) return payload;
  return { ...payload, data: Buffer.from(JSON.stringify(lookThrough(payload.data))) };
}

/** What cannot be checked (invalid JSON, or nested too deeply) is not shown. */
function lookThrough(data: Uint8Array | null | undefined): unknown {
  try {
    return redact(JSON.parse(Buffer.from(data ?? []).toString()));
  } catch {
    return redactedMark;
  }
}
