/**
 * Encrypts all payloads that Temporal stores of a saga: inputs, results, signals, updates, queries, memos, summaries.
 *
 * The wire format is that of Temporal's encryption samples, so that the standard codec of another SDK reads and writes
 * it: a payload whose metadata have `encoding: binary/encrypted` and the key's id, and whose data are
 *
 *   nonce (12 bytes) · AES-256-GCM of the original payload's protobuf · tag (16 bytes)
 *
 * An unencrypted payload passes: what an operator types into the Web UI may arrive unencrypted. A worker marks it.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { Payload, PayloadCodec } from '@temporalio/common';
import { temporal } from '@temporalio/proto';
import { tryOr } from '../domain/ignore-errors';
import { unsealedMark } from '../domain/unsealed';
import type { PayloadKeys } from './keys';

const { Payload: PayloadProto } = temporal.api.common.v1;

const encoding = 'binary/encrypted';
const cipher = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;

/** An encrypted payload cannot be decrypted here. The message names the key, and nothing of the content. */
export class DecryptionError extends Error {
  override readonly name = 'DecryptionError';

  /** @param hasKey there is a key of that id, and it does not decrypt the payload */
  constructor(
    message: string,
    readonly hasKey: boolean,
  ) {
    super(message);
  }
}

export class EncryptionCodec implements PayloadCodec {
  /**
   * @param options `replaces`: a text, which no schema accepts, takes the place of what cannot be read, and stands in a
   * history for ever: such a signal would stop its saga, and such a memo each list of sagas. `marks`: for a worker, which
   * marks what is not encrypted, and what a key of its own does not decrypt: no worker ever will, and it must not stop
   * the run that it came to
   */
  constructor(
    private readonly keys: PayloadKeys,
    private readonly options: { replaces?: boolean; marks?: boolean } = {},
  ) {}

  /** The id of the key that encrypts; undefined where there is none. */
  get encryptsWith(): string | undefined {
    return this.keys.byId.keys().next().value;
  }

  /** Without any key it encrypts nothing. */
  encode(payloads: Payload[]): Promise<Payload[]> {
    return Promise.resolve(payloads.map((payload) => this.encodeOne(payload)));
  }

  /** @throws DecryptionError */
  decode(payloads: Payload[]): Promise<Payload[]> {
    return Promise.resolve().then(() => payloads.map((payload) => this.decodeOne(payload)));
  }

  private decodeOne(payload: Payload): Payload {
    const { replaces = false, marks = false } = this.options;
    const isSealed = text(payload.metadata?.['encoding']) === encoding;
    try {
      const open = isSealed ? this.decrypt(payload) : payload;
      const shown = replaces && !isReadable(open) ? unreadable() : open;
      return marks && !isSealed ? marked(shown) : shown;
    } catch (error) {
      if (marks && error instanceof DecryptionError && error.hasKey) return marked(unreadable());
      throw error;
    }
  }

  encodeOne(payload: Payload): Payload {
    // Both of one reading: a file of keys may be replaced at any time.
    const { byId } = this.keys;
    const [current = ''] = byId.keys();
    const key = byId.get(current);
    if (key === undefined) return payload;
    const nonce = randomBytes(nonceBytes);
    const encryption = createCipheriv(cipher, key, nonce);
    const data = Buffer.concat([
      nonce,
      encryption.update(PayloadProto.encode(payload).finish()),
      encryption.final(),
      encryption.getAuthTag(),
    ]);
    return {
      metadata: {
        encoding: Buffer.from(encoding),
        'encryption-cipher': Buffer.from('AES/GCM/NoPadding'),
        'encryption-key-id': Buffer.from(current),
      },
      data,
    };
  }

  private decrypt({ metadata, data }: Payload): Payload {
    const id = text(metadata?.['encryption-key-id']);
    const known = [...this.keys.byId.keys()].join(', ') || 'none are set';
    const key = this.keys.byId.get(id);
    if (key === undefined) {
      throw new DecryptionError(`encrypted with key “${id}”, which is not among PAYLOAD_KEYS (${known})`, false);
    }
    const bytes = Buffer.from(data ?? []);
    if (bytes.length < nonceBytes + tagBytes) {
      throw new DecryptionError(`encrypted with key “${id}”, but cut off: ${bytes.length} bytes`, true);
    }
    try {
      const decryption = createDecipheriv(cipher, key, bytes.subarray(0, nonceBytes));
      decryption.setAuthTag(bytes.subarray(-tagBytes));
      const clear = Buffer.concat([decryption.update(bytes.subarray(nonceBytes, -tagBytes)), decryption.final()]);
      return PayloadProto.decode(clear);
    } catch {
      throw new DecryptionError(
        `marked as encrypted with key “${id}”, but that key does not decrypt it, or it was altered`,
        true,
      );
    }
  }
}

/** The encodings that Temporal's default converter reads. */
const readable = ['json/plain', 'binary/plain', 'binary/null'];

function isReadable({ metadata, data }: Payload): boolean {
  const form = text(metadata?.['encoding']);
  if (form !== 'json/plain') return readable.includes(form);
  return tryOr(() => JSON.parse(text(data)) !== undefined, false);
}

function marked(payload: Payload): Payload {
  return { ...payload, metadata: { ...payload.metadata, [unsealedMark]: Buffer.from('true') } };
}

function unreadable(): Payload {
  return { metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.from('"a payload that cannot be read"') };
}

function text(bytes: Uint8Array | null | undefined): string {
  return Buffer.from(bytes ?? []).toString();
}
