/** What a payload may show once it is decrypted: everything but the secrets, which nobody needs in order to operate sagas. */
import type { Payload } from '@temporalio/common';
import { redact, redactedMark } from '../../domain/secrets';

/**
 * Secret fields blanked out, at any depth of a payload that is JSON. Always written anew, so that only what was looked
 * through is shown: JSON may name a field twice, and whoever parses it sees the last one only. Anything else than JSON
 * has no fields, and passes.
 */
export function withoutSecrets(payload: Payload): Payload {
  const encoding = Buffer.from(payload.metadata?.['encoding'] ?? []).toString();
  if (!encoding.startsWith('json/')) return payload;
  return { ...payload, data: Buffer.from(JSON.stringify(lookThrough(payload.data))) };
}

/** What cannot be looked through (no JSON after all, or nested without end) is not shown. */
function lookThrough(data: Uint8Array | null | undefined): unknown {
  try {
    return redact(JSON.parse(Buffer.from(data ?? []).toString()));
  } catch {
    return redactedMark;
  }
}
