/** Payloads in protobuf's JSON, as Temporal's tools have them: base64; empty parts left out, other fields ignored. */
import type { Payload } from '@temporalio/common';
import { z } from 'zod';

export function payloadToJson({ metadata, data }: Payload) {
  const entries = Object.entries(metadata ?? {}).map(([name, bytes]) => [name, base64(bytes)] as const);
  return {
    ...(entries.length > 0 ? { metadata: Object.fromEntries(entries) } : {}),
    ...(data?.length ? { data: base64(data) } : {}),
  };
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}

/** Both alphabets, with or without padding, as protobuf accepts them. One class: texts may be megabytes long. */
const bytes = z
  .string()
  .refine((text) => /^[\w+/-]*={0,2}$/.test(text) && text.replace(/=+$/, '').length % 4 !== 1)
  .transform((text): Uint8Array => Buffer.from(text, 'base64'));
const payload = z.object({ metadata: z.record(z.string(), bytes).nullish(), data: bytes.nullish() });

/** @throws TypeError, which quotes nothing of it, for anything that is not a payload */
export function payloadFromJson(json: unknown): Payload {
  const read = payload.safeParse(json);
  if (read.success) return read.data;
  throw new TypeError('it is not a payload');
}
