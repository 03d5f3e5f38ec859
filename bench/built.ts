/**
 * The workers as they run in production: compiled, the workflows as one bundle each. In a folder of its own, so that a
 * measurement is not disturbed by a build; inside the project, because that is where its packages are found.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { bundleWorkflowCode } from '@temporalio/worker';
import { bundleInto, compileInto } from '../scripts/build';
import { quiet } from '../src/operations/workflow-modules';

const root = join(__dirname, '..');

export type Built = Awaited<ReturnType<typeof buildWorkers>>;

export async function buildWorkers() {
  const cache = join(root, '.cache');
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(cache, 'bench-'));
  const remove = () => rm(folder, { recursive: true, force: true });
  const [ours, bare] = [join(folder, 'src'), join(folder, 'bench', 'bare')];
  try {
    await compileInto(folder, join(__dirname, 'tsconfig.workers.json'));
    await bundleInto(ours);
    const { code } = await bundleWorkflowCode({
      workflowsPath: join(__dirname, 'bare', 'workflows.ts'),
      logger: quiet,
    });
    writeFileSync(join(bare, 'workflow-bundle.js'), code);
  } catch (error) {
    await remove();
    throw error;
  }
  return {
    /** Paths in the project, for `startProcess`. */
    worker: relative(root, join(ours, 'worker.js')),
    bareWorker: relative(root, join(bare, 'worker.js')),
    bundles: {
      plain: join(ours, 'workflow-bundle.js'),
      encrypted: join(ours, 'workflow-bundle.encrypted.js'),
      bare: join(bare, 'workflow-bundle.js'),
    },
    remove,
  };
}

/** The code alone: the source map at its end names paths of this machine, and is not run. */
export function bundleBytes(path: string): number {
  return readFileSync(path, 'utf8').replace(/^\/\/# sourceMappingURL=.*$/m, '').length;
}
