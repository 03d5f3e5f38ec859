/** Keys in a file that is replaced while they are in use: a rotation without a restart. */
import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { defaultPayloadConverter } from '@temporalio/common';
import { keysInFile } from '../../../src/security/keys';
import { EncryptionCodec } from '../../../src/security/payload-codec';
import { createSealing } from '../../../src/security/sealing';
import { folderForFile } from '../../support/folder';
import { newKey } from '../../support/keys';

const [one, two] = ['one', 'two'].map((id) => `${id}:${newKey()}`) as [string, string];

let nowMs = 0;
const folder = folderForFile();
const path = () => join(folder.path, 'keys');
/** As an orchestrator does it: never half. */
function replaceBy(...keys: string[]) {
  renameSync(folder.write('keys.new', `${keys.join('\n')}\n`), path());
  nowMs += 10_000;
}
const keys = () => keysInFile(path(), () => nowMs);
const clear = () => [defaultPayloadConverter.toPayload('an order')];
const keyIdOf = ([payload]: { metadata?: Record<string, Uint8Array> | null }[]) =>
  Buffer.from(payload?.metadata?.['encryption-key-id'] ?? []).toString();

it('rotates in three steps, and reads what each of them has written', async () => {
  replaceBy(one);
  const [writer, reader] = [new EncryptionCodec(keys()), new EncryptionCodec(keys())];
  const sealing = createSealing(keys());
  const before = await writer.encode(clear());
  const digested = sealing.digests('a request');
  replaceBy(one, two);
  expect(keyIdOf(await writer.encode(clear()))).toBe('one');
  replaceBy(two, one);
  const after = await writer.encode(clear());
  expect(keyIdOf(after)).toBe('two');
  for (const payloads of [before, after]) {
    const [open] = await reader.decode(payloads);
    expect(defaultPayloadConverter.fromPayload(open!)).toBe('an order');
  }
  // The journal finds what the older key has digested.
  expect(sealing.digests('a request')).toContain(digested[0]);
  expect(sealing.digests('a request')).toHaveLength(2);
});

it('keeps the keys as last read where the file is gone or wrong, and says so without its content', () => {
  replaceBy(one);
  const read = keys();
  const warn = jest.spyOn(process, 'emitWarning').mockReturnValue(undefined);
  replaceBy('two:U2VjcmV0VGhhdFNoYWxsTm90U2hvdw==');
  expect([...read.byId.keys()]).toEqual(['one']);
  rmSync(path());
  nowMs += 10_000;
  expect([...read.byId.keys()]).toEqual(['one']);
  const warned = warn.mock.calls.map(([said]) => said);
  warn.mockRestore();
  expect(warned).toEqual([
    expect.stringMatching(/key two is 22 bytes long.*as last read stay in use/),
    expect.stringMatching(/ENOENT.*as last read stay in use/),
  ]);
  expect(warned.join()).not.toContain('U2Vj');
});
