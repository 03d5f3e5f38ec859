/**
 * Makes `dist/`: the compiled sources, and the workflows as one prebuilt bundle, so that a worker in production needs
 * no bundler and runs exactly the code that was built.
 */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compileInto, CompileError } from './compile';
import { bundleWorkflows } from './workflow-bundle';

const root = join(__dirname, '..');

const dist = join(root, 'dist');

async function main(): Promise<void> {
  // Else the old output of a renamed file would be shipped.
  rmSync(dist, { recursive: true, force: true });
  await compileInto(dist, join(root, 'tsconfig.build.json'));
  await bundleInto(dist);
  console.log('built: dist/, with dist/workflow-bundle.js and dist/workflow-bundle.encrypted.js');
}

/** Writes both bundles to where the worker that is compiled into this folder looks for them. */
export async function bundleInto(folder: string): Promise<void> {
  writeFileSync(join(folder, 'workflow-bundle.js'), await bundleWorkflows());
  // With encryption the converters are different, and they are part of the bundle.
  writeFileSync(join(folder, 'workflow-bundle.encrypted.js'), await bundleWorkflows({ encrypted: true }));
}

if (require.main === module) {
  main().catch((error: unknown) => {
    console.error(error instanceof CompileError ? error.message : error);
    process.exitCode = 1;
  });
}
