/**
 * Values for the journal, sealed like what Temporal stores: the text is a payload in the JSON that Temporal's own tools read and
 * write, so the same keys open it, and the codec server and other SDKs' codecs can.
 */
import { createHmac, hkdfSync, type KeyObject } from 'node:crypto';
import { defaultPayloadConverter } from '@temporalio/common';
import { EncryptionCodec } from './payload-codec';
import type { PayloadKeys } from './keys';
import { payloadFromJson, payloadToJson } from './payload-json';

/** Without keys the text is base64 of JSON: readable for whoever has the journal, as histories are then. */
export function createSealing(keys: PayloadKeys | undefined) {
  const codec = keys && new EncryptionCodec(keys);
  // Without keys it opens what is not encrypted, and of the rest it says with which key it is.
  const opening = codec ?? new EncryptionCodec({ current: '', byId: new Map() });
  const digestKeys = keys ? [...keys.byId.values()].map(digestKeyOf) : [Buffer.alloc(0)];
  return {
    async seal(value: unknown): Promise<string> {
      const payload = defaultPayloadConverter.toPayload(value ?? null);
      const [sealed] = codec ? await codec.encode([payload]) : [payload];
      if (sealed === undefined) throw new Error('one payload is sealed as one');
      return JSON.stringify(payloadToJson(sealed));
    },
    /** @throws DecryptionError that names the key; SyntaxError or TypeError for what was altered */
    async unseal(text: string): Promise<unknown> {
      const payload = payloadFromJson(JSON.parse(text));
      const [open] = await opening.decode([payload]);
      if (open === undefined) throw new Error('one payload is unsealed as one');
      return defaultPayloadConverter.fromPayload(open);
    },
    digests(text: string): string[] {
      return digestKeys.map((key) => createHmac('sha256', key).update(text).digest('base64url'));
    },
  };
}

/** Another key than the one that encrypts, and always the same one of it. */
function digestKeyOf(key: KeyObject): Buffer {
  return Buffer.from(hkdfSync('sha256', key, '', 'order-saga journal digests', 32));
}
