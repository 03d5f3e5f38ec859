/** Values for the journal, as payloads in the JSON of Temporal's tools: the same keys and codecs open them. */
import { createHmac, hkdfSync, scrypt, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import { defaultPayloadConverter } from '@temporalio/common';
import { EncryptionCodec } from './payload-codec';
import type { PayloadKeys } from './keys';
import { payloadFromJson, payloadToJson } from './payload-json';

/** Without keys the text is base64 of JSON: everyone who can read the journal can read it, as with histories. */
export function createSealing(keys: PayloadKeys | undefined) {
  const codec = keys && new EncryptionCodec(keys);
  // Without keys it opens what is not encrypted; for the rest its error names the key.
  const opening = codec ?? new EncryptionCodec({ byId: new Map() });
  const derived = new WeakMap<KeyObject, Buffer>();
  const digestKeys = () => (keys ? [...keys.byId.values()].map(derive) : [Buffer.alloc(0)]);
  const derive = (key: KeyObject) => {
    const digestKey = derived.get(key) ?? digestKeyOf(key);
    derived.set(key, digestKey);
    return digestKey;
  };
  return {
    async seal(value: unknown): Promise<string> {
      const payload = defaultPayloadConverter.toPayload(value ?? null);
      const [sealed] = codec ? await codec.encode([payload]) : [payload];
      if (sealed === undefined) throw new Error('one payload is sealed as one');
      return JSON.stringify(payloadToJson(sealed));
    },
    /** @throws DecryptionError that names the key; SyntaxError or TypeError for a text that was altered */
    async unseal(text: string): Promise<unknown> {
      const payload = payloadFromJson(JSON.parse(text));
      const [open] = await opening.decode([payload]);
      if (open === undefined) throw new Error('one payload is unsealed as one');
      return defaultPayloadConverter.fromPayload(open);
    },
    async secretDigests(secret: string): Promise<string[]> {
      return keys ? this.digests(secret) : [(await slowly(secret)).toString('base64url')];
    },
    digests(text: string): string[] {
      return digestKeys().map((key) => createHmac('sha256', key).update(text).digest('base64url'));
    },
  };
}

/** Without keys there is nothing secret to key a digest with: only the time that it takes protects it. */
const slowly = (secret: string) =>
  promisify<string, string, number, Buffer>(scrypt)(secret, 'order-saga sent secrets', 32);

/** Derives, from the key that encrypts, the same second key each time. */
function digestKeyOf(key: KeyObject): Buffer {
  return Buffer.from(hkdfSync('sha256', key, '', 'order-saga journal digests', 32));
}
