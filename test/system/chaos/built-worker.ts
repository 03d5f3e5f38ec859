/**
 * The worker as it is shipped: compiled, the workflows as one bundle beside it. In a folder of its own, so that a run is not
 * disturbed by a build; inside the project, because that is where its packages are found.
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { compileInto } from '../../../scripts/compile';
import { bundleWorkflows } from '../../../scripts/workflow-bundle';

const root = join(__dirname, '..', '..', '..');

export interface BuiltWorker {
  /** Path in the project. */
  program: string;
  bundlePath: string;
  remove: () => Promise<void>;
}

export async function buildWorker(): Promise<BuiltWorker> {
  const cache = join(root, '.cache');
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(cache, 'chaos-'));
  const remove = () => rm(folder, { recursive: true, force: true });
  const bundlePath = join(folder, 'workflow-bundle.js');
  try {
    await Promise.all([
      compileInto(folder, join(root, 'tsconfig.build.json')),
      bundleWorkflows().then((code) => writeFile(bundlePath, code)),
    ]);
  } catch (error) {
    await remove();
    throw error;
  }
  return { program: relative(root, join(folder, 'worker.js')), bundlePath, remove };
}
