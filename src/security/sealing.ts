/** Values for the journal, as payloads in the JSON of Temporal's tools: the same keys and codecs open them. */
import { createHmac, hkdfSync, randomBytes, scrypt, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import { defaultPayloadConverter } from '@temporalio/common';
import { EncryptionCodec } from './payload-codec';
import { noKeys, type PayloadKeys } from './keys';
import { payloadFromJson, payloadToJson } from './payload-json';

/** Without keys the text is base64 of JSON: everyone who can read the journal can read it, as with histories. */
export function createSealing(keys: PayloadKeys | undefined) {
  const codec = new EncryptionCodec(keys ?? noKeys);
  const digestKeys = () => (keys ? [...keys.byId.values()].map(digestKeyOf) : [Buffer.alloc(0)]);
  return {
    seal(value: unknown): Promise<string> {
      const sealed = codec.encodeOne(defaultPayloadConverter.toPayload(value ?? null));
      return Promise.resolve(JSON.stringify(payloadToJson(sealed)));
    },
    /** @throws DecryptionError that names the key; SyntaxError or TypeError for a text that was altered */
    async unseal(text: string): Promise<unknown> {
      const [open] = await codec.decode([payloadFromJson(JSON.parse(text))]);
      return open && defaultPayloadConverter.fromPayload(open);
    },
    async secretDigests(secret: string): Promise<string[]> {
      return keys ? this.digests(secret) : [(await slowlyOnce(secret)).toString('base64url')];
    },
    digests(text: string): string[] {
      return digestKeys().map((key) => createHmac('sha256', key).update(text).digest('base64url'));
    },
  };
}

/** Without keys there is nothing secret to key a digest with: only the time that it takes protects it. */
const slowly = promisify<string, string, number, Buffer>(scrypt);

/** Each takes a twentieth of a second of a core, and an order of many servers asks again and again for the same ones. */
const slowDigests = new Map<string, Promise<Buffer>>();
/** The values themselves are not kept. */
const ofProcess = randomBytes(32);

function slowlyOnce(secret: string): Promise<Buffer> {
  const key = createHmac('sha256', ofProcess).update(secret).digest('base64');
  const digest = slowDigests.get(key) ?? slowly(secret, 'order-saga sent secrets', 32);
  slowDigests.set(key, digest);
  digest.catch(() => slowDigests.delete(key));
  return digest;
}

/** Derives, from the key that encrypts, the same second key each time. */
function digestKeyOf(key: KeyObject): Buffer {
  return Buffer.from(hkdfSync('sha256', key, '', 'order-saga journal digests', 32));
}
