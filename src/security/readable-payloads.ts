/**
 * A payload that nobody can read stands in a history for good. The worker would fail over it at every attempt, and one signal
 * of that kind, sent to a saga that waits, would stop it for ever; one memo of that kind would keep everybody from listing
 * sagas. So it is replaced by a text, which no schema takes: a request is then refused as invalid, a decision as not fitting.
 *
 * What is encrypted is left as it is: where a key is missing, a worker that has it will read it.
 */
import type { Payload, PayloadCodec } from '@temporalio/common';

/** As Temporal's default converter reads them. */
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
