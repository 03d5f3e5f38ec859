/** Payloads in protobuf's JSON, as Temporal's tools have them: base64; empty parts left out, other fields ignored. */
import type { Payload } from '@temporalio/common';

export interface PayloadJson {
  metadata?: Record<string, string>;
  data?: string;
}

export function payloadToJson({ metadata, data }: Payload): PayloadJson {
  const entries = Object.entries(metadata ?? {}).map(([name, bytes]) => [name, base64(bytes)] as const);
  return {
    ...(entries.length > 0 ? { metadata: Object.fromEntries(entries) } : {}),
    ...(data?.length ? { data: base64(data) } : {}),
  };
}

/** @throws TypeError, which quotes nothing of it, for anything that is not a payload */
export function payloadFromJson(json: unknown): Payload {
  const { metadata, data } = objectOf(json);
  const entries = Object.entries(objectOf(metadata ?? {})).map(([name, text]) => [name, bytesOf(text)] as const);
  return {
    ...(entries.length > 0 ? { metadata: Object.fromEntries(entries) } : {}),
    ...(data === undefined || data === null ? {} : { data: bytesOf(data) }),
  };
}

function objectOf(value: unknown): Record<string, unknown> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new TypeError('it is not a payload');
}

/** Both alphabets, with or without padding, as protobuf accepts them. One class: texts may be megabytes long. */
const inBase64 = /^[\w+/-]*(={0,2})$/;

function bytesOf(text: unknown): Uint8Array {
  if (typeof text !== 'string') throw new TypeError('it is not base64');
  const filling = inBase64.exec(text)?.[1];
  if (filling === undefined || (text.length - filling.length) % 4 === 1) throw new TypeError('it is not base64');
  return Buffer.from(text, 'base64');
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}
