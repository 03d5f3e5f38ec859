/**
 * The worker as it is shipped: compiled, the workflows as one bundle beside it. In a folder of its own, so that a run is not
 * disturbed by a build; inside the project, because that is where its packages are found.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { bundleWorkflowCode } from '@temporalio/worker';

const root = join(__dirname, '..', '..');

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
    await Promise.all([compileInto(folder), bundleInto(bundlePath)]);
  } catch (error) {
    await remove();
    throw error;
  }
  return { program: relative(root, join(folder, 'worker.js')), bundlePath, remove };
}

async function compileInto(folder: string): Promise<void> {
  const compiler = join(dirname(require.resolve('typescript/package.json')), 'bin', 'tsc');
  const options = ['-p', join(root, 'tsconfig.build.json'), '--outDir', folder];
  const child = spawn(process.execPath, [compiler, ...options], { stdio: 'inherit' });
  const [status] = (await once(child, 'exit')) as [number | null];
  if (status !== 0) throw new Error('the sources do not compile');
}

/** What webpack has to say about a bundle that works is of no interest; what it cannot build it throws. */
async function bundleInto(path: string): Promise<void> {
  const logger = { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error: console.error };
  const { code } = await bundleWorkflowCode({ workflowsPath: join(root, 'src', 'workflows', 'index.ts'), logger });
  await writeFile(path, code);
}
