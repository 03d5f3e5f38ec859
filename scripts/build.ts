/**
 * Makes `dist/`: the compiled sources, and the workflows as one prebuilt bundle, so that a worker in production needs
 * no bundler and runs exactly the code that was built.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ExpectedError, runProgram } from './program';
import { bundleWorkflows } from './workflow-bundle';

const root = join(__dirname, '..');

async function main(): Promise<void> {
  const dist = join(root, 'dist');
  // Else the old output of a renamed file would be shipped.
  rmSync(dist, { recursive: true, force: true });
  await compileInto(dist, join(root, 'tsconfig.build.json'));
  await bundleInto(dist);
  console.log('built: dist/, with dist/workflow-bundle.js and dist/workflow-bundle.encrypted.js');
}

/**
 * In a process of its own, so that this one can do other things meanwhile.
 *
 * @param project path of a `tsconfig` file
 * @param folder where the compiled files go
 * @throws ExpectedError when the sources do not compile; the compiler has printed why
 */
export async function compileInto(folder: string, project: string): Promise<void> {
  const compiler = join(dirname(require.resolve('typescript/package.json')), 'bin', 'tsc');
  const child = spawn(process.execPath, [compiler, '-p', project, '--outDir', folder], { stdio: 'inherit' });
  const [status] = (await once(child, 'exit')) as [number | null];
  if (status !== 0) throw new ExpectedError('the sources do not compile');
}

/** Writes both bundles to where the worker that is compiled into this folder looks for them. */
export async function bundleInto(folder: string, { quick = false } = {}): Promise<void> {
  writeFileSync(join(folder, 'workflow-bundle.js'), await bundleWorkflows({ quick }));
  // With encryption the converters are different, and they are part of the bundle.
  writeFileSync(join(folder, 'workflow-bundle.encrypted.js'), await bundleWorkflows({ quick, encrypted: true }));
}

runProgram(module, main);
