/**
 * Makes `dist/`: the compiled sources, and the workflows as one prebuilt bundle, so that a worker in production starts
 * without a bundler and runs the very code that was built.
 */
import { spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { bundleWorkflowCode } from '@temporalio/worker';

const root = join(__dirname, '..');

/** As a worker with keys has them: `createWorkerDataConverter`. */
export const encryptedConverters = {
  payloadConverterPath: join(root, 'src', 'workflows', 'clear-input.ts'),
  failureConverterPath: join(root, 'src', 'security', 'failure-converter.ts'),
};

const dist = join(root, 'dist');

async function main(): Promise<void> {
  // What a renamed file left behind would be shipped.
  rmSync(dist, { recursive: true, force: true });
  compile();
  await bundleWorkflows(dist);
  console.log('built: dist/, with dist/workflow-bundle.js and dist/workflow-bundle.encrypted.js');
}

/** Both bundles, where the worker that is compiled into this folder looks for them. */
export async function bundleWorkflows(folder: string): Promise<void> {
  const workflows = {
    workflowsPath: join(root, 'src', 'workflows', 'index.ts'),
    workflowInterceptorModules: [join(root, 'src', 'workflows', 'hand-on-trace.ts')],
    logger: quiet,
  };
  const { code } = await bundleWorkflowCode(workflows);
  writeFileSync(join(folder, 'workflow-bundle.js'), code);
  // Where payloads are encrypted, the converters differ, and they are part of the bundle.
  const encrypted = await bundleWorkflowCode({ ...workflows, ...encryptedConverters });
  writeFileSync(join(folder, 'workflow-bundle.encrypted.js'), encrypted.code);
}

function compile(): void {
  const compiler = join(dirname(require.resolve('typescript/package.json')), 'bin', 'tsc');
  const { status } = spawnSync(process.execPath, [compiler, '-p', join(root, 'tsconfig.build.json')], {
    stdio: 'inherit',
  });
  if (status !== 0) throw new BuildError('the sources do not compile');
}

/** Webpack's report of a bundle that works is of no interest; what it cannot build it throws. */
export const quiet = { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error: console.error };

class BuildError extends Error {}

if (require.main === module) {
  main().catch((error: unknown) => {
    console.error(error instanceof BuildError ? error.message : error);
    process.exitCode = 1;
  });
}
