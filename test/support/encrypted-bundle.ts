/** The workflow bundle of a worker with keys, built once per test file that wants it. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { bundleWorkflows } from '../../scripts/workflow-bundle';
import { parsePayloadKeys } from '../../src/security/keys';
import { Rig } from './rig';

export async function buildEncryptedBundle(): Promise<string> {
  const path = join(await mkdtemp(join(tmpdir(), 'order-saga-bundle-')), 'workflow-bundle.encrypted.js');
  await writeFile(path, await bundleWorkflows({ encrypted: true }));
  return path;
}

/** A rig whose payloads are encrypted, with a key and a bundle of its own. */
export async function startEncryptedRig(): Promise<{ rig: Rig; close: () => Promise<void> }> {
  const bundle = await buildEncryptedBundle();
  const rig = await Rig.start({ bundle, payloadKeys: parsePayloadKeys(`k1:${randomBytes(32).toString('base64')}`) });
  const close = async () => {
    await rig.close();
    await rm(dirname(bundle), { recursive: true });
  };
  return { rig, close };
}
