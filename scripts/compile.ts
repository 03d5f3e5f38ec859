/** The TypeScript compiler as a process of its own, so that the parent can do other things meanwhile. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';

/** The sources do not compile; the compiler has printed why. */
export class CompileError extends Error {}

/**
 * @param project path of a `tsconfig` file
 * @param folder where the compiled files go
 * @throws CompileError
 */
export async function compileInto(folder: string, project: string): Promise<void> {
  const compiler = join(dirname(require.resolve('typescript/package.json')), 'bin', 'tsc');
  const child = spawn(process.execPath, [compiler, '-p', project, '--outDir', folder], { stdio: 'inherit' });
  const [status] = (await once(child, 'exit')) as [number | null];
  if (status !== 0) throw new CompileError('the sources do not compile');
}
