/** The workflow bundle of a worker with keys, built once per test file that wants it. */
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleWorkflows } from '../../scripts/workflow-bundle';

export async function buildEncryptedBundle(): Promise<string> {
  const path = join(await mkdtemp(join(tmpdir(), 'order-saga-bundle-')), 'workflow-bundle.encrypted.js');
  await writeFile(path, await bundleWorkflows({ encrypted: true }));
  return path;
}
