/**
 * A payload that no converter can read stays in a history for ever. The worker would fail at every attempt: one such
 * signal, sent to a saga that waits, would stop that saga for ever, and one such memo would break each list of sagas.
 * So the payload is replaced by a text, which no schema accepts: a request is then refused as invalid, a decision as
 * not fitting.
 *
 * An encrypted payload is left as it is: if this worker lacks its key, another one may have it.
 */
import type { Payload, PayloadCodec } from '@temporalio/common';

/** The encodings that Temporal's default converter reads, and ours. */
const readable = ['json/plain', 'binary/plain', 'binary/null', 'binary/encrypted'];

export class ReadablePayloads implements PayloadCodec {
  encode(payloads: Payload[]): Promise<Payload[]> {
    return Promise.resolve(payloads);
  }

  decode(payloads: Payload[]): Promise<Payload[]> {
    return Promise.resolve(payloads.map((payload) => (isReadable(payload) ? payload : unreadable())));
  }
}

function isReadable({ metadata, data }: Payload): boolean {
  const encoding = text(metadata?.['encoding']);
  return encoding === 'json/plain' ? isJson(text(data)) : readable.includes(encoding);
}

function isJson(json: string): boolean {
  try {
    JSON.parse(json);
    return true;
  } catch {
    return false;
  }
}

function unreadable(): Payload {
  return { metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.from('"a payload that cannot be read"') };
}

function text(bytes: Uint8Array | null | undefined): string {
  return Buffer.from(bytes ?? []).toString();
}
