/**
 * The worker, the codec server and the command line as tests run them in processes of their own: compiled, with the
 * workflow bundles beside them as in `dist/`, so that a process is ready in a second. They are built once for each
 * state of the sources, and kept in `.cache/`: inside the project, because that is where their packages are found.
 */
import { createHash, randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { transformFile } from '@swc/core';
import { bundleInto } from '../../scripts/build';
import { projectFolder } from './project';

const sources = join(projectFolder, 'src');
const cache = join(projectFolder, '.cache', 'programs');

/** Those of other branches are used for a while. */
const keptMs = 24 * 60 * 60 * 1000;

const encryptedName = 'workflow-bundle.encrypted.js';

/** @returns the folder of the present sources' programs */
export async function buildPrograms(): Promise<string> {
  const folder = join(cache, hashOfSources());
  if (existsSync(folder)) return folder;
  await removeOldOnes();
  const unfinished = `${folder}.${randomUUID()}`;
  await mkdir(unfinished, { recursive: true });
  await Promise.all(sourceFiles().map((file) => compile(file, unfinished)));
  await bundleInto(unfinished, { quick: true });
  // If somebody else was first, theirs is as good.
  await rename(unfinished, folder).catch(() => rm(unfinished, { recursive: true, force: true }));
  return folder;
}

/**
 * The path of a program, by that of its source in `src/`. In a test file: of those that the global set-up has provided.
 */
export function programOf(source: 'worker' | 'codec-server' | 'starter', folder = provided()): string {
  return join(folder, `${source}.js`);
}

/** Is loaded into a worker by `--require`. */
export const stopPoints = join(__dirname, 'stop-points.cjs');

/** The bundle for workers without keys, or for those with. */
export function bundleOf({ encrypted = false } = {}, folder = provided()): string {
  return join(folder, encrypted ? encryptedName : 'workflow-bundle.js');
}

function provided(): string {
  const folder = process.env['ORDER_SAGA_TEST_PROGRAMS'];
  if (folder === undefined) throw new Error('the global set-up builds the programs: run this through jest');
  return folder;
}

const sourceFiles = () =>
  readdirSync(sources, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .sort();

function hashOfSources(): string {
  const hash = createHash('sha256');
  const others = ['package-lock.json', 'scripts/workflow-bundle.ts', relative(projectFolder, __filename)];
  for (const name of [...sourceFiles().map((file) => join('src', file)), ...others]) {
    hash
      .update(name)
      .update('\0')
      .update(readFileSync(join(projectFolder, name)))
      .update('\0');
  }
  return hash.digest('hex').slice(0, 24);
}

async function compile(file: string, folder: string): Promise<void> {
  const { code } = await transformFile(join(sources, file), {
    jsc: { target: 'es2022', parser: { syntax: 'typescript' } },
    // As the compiler leaves them: what is loaded on demand may be of either kind.
    module: { type: 'commonjs', ignoreDynamic: true, exportInteropAnnotation: true },
  });
  const compiled = join(folder, file.replace(/\.ts$/, '.js'));
  await mkdir(dirname(compiled), { recursive: true });
  await writeFile(compiled, code);
}

async function removeOldOnes(): Promise<void> {
  await mkdir(cache, { recursive: true });
  for (const name of await readdir(cache)) {
    const path = join(cache, name);
    const made = await stat(path).catch(() => undefined);
    if (made && Date.now() - made.mtimeMs > keptMs) await rm(path, { recursive: true, force: true });
  }
}
