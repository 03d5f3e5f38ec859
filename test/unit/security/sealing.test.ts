/** The journal keeps payloads as Temporal’s own, so that the same keys and tools open them. */
import { scrypt } from 'node:crypto';
import { defaultPayloadConverter } from '@temporalio/common';
import { parsePayloadKeys } from '../../../src/security/keys';
import { EncryptionCodec } from '../../../src/security/payload-codec';
import { payloadFromJson } from '../../../src/security/payload-json';
import { createSealing } from '../../../src/security/sealing';
import { newKey } from '../../support/keys';

jest.mock('node:crypto', () => {
  const real = jest.requireActual<{ scrypt: typeof scrypt }>('node:crypto');
  return { ...real, scrypt: jest.fn(real.scrypt) };
});

const key = (id: string) => `${id}:${newKey()}`;
const [one, two] = [key('k1'), key('k2')];
const sealing = createSealing(parsePayloadKeys(one));
const open = createSealing(undefined);

it('is a payload in the JSON of Temporal’s tools, as the codec server opens it', async () => {
  const sealed = payloadFromJson(JSON.parse(await sealing.seal({ label: 'web-1' })));
  expect(Object.keys(sealed.metadata ?? {})).toEqual(['encoding', 'encryption-cipher', 'encryption-key-id']);
  const [decoded] = await new EncryptionCodec(parsePayloadKeys(one)).decode([sealed]);
  expect(defaultPayloadConverter.fromPayload(decoded!)).toEqual({ label: 'web-1' });
});

it('opens what was written before there were keys', async () => {
  expect(await sealing.unseal(await open.seal({ early: true }))).toEqual({ early: true });
});

it('tells by a digest of each key what is the same, the current key’s first', () => {
  const both = createSealing(parsePayloadKeys(`${two},${one}`));
  const [byTwo, byOne] = both.digests('2 servers');
  expect(sealing.digests('2 servers')).toEqual([byOne]);
  expect(createSealing(parsePayloadKeys(two)).digests('2 servers')).toEqual([byTwo]);
  const all = [byTwo, byOne, ...sealing.digests('3 servers'), ...open.digests('2 servers')];
  expect(new Set(all).size).toBe(4);
});

it('without keys, the slow digest of a secret is computed once in a process, whoever asks for it', async () => {
  const [digests, ...again] = await Promise.all(
    [open, open, createSealing(undefined)].map(({ secretDigests }) => secretDigests('a root password')),
  );
  expect(again).toEqual([digests, digests]);
  expect(await open.secretDigests('another one')).not.toEqual(digests);
  expect(scrypt).toHaveBeenCalledTimes(2);
});
