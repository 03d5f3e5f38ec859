/** The workflow bundle of a worker with keys, built once per test file that wants it. */
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';

export async function buildEncryptedBundle(): Promise<string> {
  const { code } = await bundleWorkflowCode({
    workflowsPath: require.resolve('../../src/workflows/index'),
    payloadConverterPath: require.resolve('../../src/workflows/clear-input'),
    failureConverterPath: require.resolve('../../src/security/failure-converter'),
    logger: new DefaultLogger('ERROR'),
  });
  const path = join(await mkdtemp(join(tmpdir(), 'order-saga-bundle-')), 'workflow-bundle.encrypted.js');
  await writeFile(path, code);
  return path;
}
