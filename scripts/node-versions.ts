/**
 * Whether the project works on the other lines of Node that it supports. Each is installed from npm's packages into the
 * project's cache, and runs:
 *
 *   the native modules           load, and do something
 *   the unit tests
 *   outcomes of sagas            each way in which one may end
 *   the journal's contract       in a file and in PostgreSQL
 *   the worker's process         it starts, is ready, is traced, stops
 *   the client's package         it is installed, typed, and orders
 *   the demo
 *
 *   npm run versions             every line
 *   npm run versions -- 26       one of them
 *   npm run versions -- --quick  what differs most between lines, as CI has it: native modules, the worker, the demo
 *
 * The line that runs this has `npm run test:all`. docs/supported.md says what is supported, and until when.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { alone, cacheFolder, isExecutable } from './program-cache';

const root = join(__dirname, '..');

/** The newest of each line when it was last tried. */
export const nodeVersions = ['24.21.0', '26.10.0'];

const quickTests = [
  'test/integration/worker/health',
  // What is traced is found by AsyncLocalStorage, which Node 24 has written anew.
  'test/integration/operations/tracing',
  // A backend may be on any of them.
  'test/system/client-package',
];
const allTests = [
  'test/unit',
  'test/integration/saga/outcomes',
  'test/integration/journal/contract.test',
  ...quickTests,
];

/** Prints the version of Node, when each of our modules that has native parts has used them. */
const useNatives = `
  const Database = require('libsql');
  new Database(':memory:').exec('create table t (x)');
  require('@swc/core').transformSync('let x: number', { jsc: { parser: { syntax: 'typescript' } } });
  require('@temporalio/worker').Runtime.instance();
  console.log(process.versions.node);
  process.exit();
`;

/** @returns what went wrong, in a few words each */
async function tryOn(version: string, tests: readonly string[]): Promise<string[]> {
  const node = await resolveNode(version);
  const env = { ...process.env, PATH: [dirname(node), process.env['PATH']].join(delimiter) };
  const fails = async (...args: string[]) => {
    const child = spawn(node, args, { cwd: root, env, stdio: ['ignore', 'inherit', 'inherit'] });
    const [status] = (await once(child, 'exit')) as [number | null];
    return status !== 0;
  };
  const wrong: string[] = [];
  const used = await promisify(execFile)(node, ['-e', useNatives], { cwd: root, env }).then(
    ({ stdout }) => stdout.trim(),
    String,
  );
  if (used !== version) wrong.push(`native modules: ${used}`);
  const bootstrap = join('scripts', 'bootstrap.mjs');
  if (await fails(bootstrap, 'tsx', join('scripts', 'demo.ts'))) wrong.push('the demo');
  if (await fails(bootstrap, 'jest', '--ci', ...tests)) wrong.push('tests');
  return wrong;
}

/** @returns the path of that Node, which is installed if it is not in the cache. @throws with what npm said */
async function resolveNode(version: string): Promise<string> {
  const folder = join(cacheFolder(), `node-${version}`);
  // The package `node` only picks this one, by a script that npm may be told not to run.
  const name = `node-${process.platform}-${process.arch}`;
  const node = join(folder, 'node_modules', name, 'bin', 'node');
  mkdirSync(dirname(folder), { recursive: true });
  return alone(`${folder}.lock`, async () => {
    if (isExecutable(node)) return node;
    const making = mkdtempSync(`${folder}-`);
    try {
      const args = ['install', '--prefix', making, '--no-save', '--no-audit', '--no-fund', `${name}@${version}`];
      await promisify(execFile)('npm', args, { cwd: making });
      // The name appears only when all is there.
      renameSync(making, folder);
    } finally {
      rmSync(making, { recursive: true, force: true });
    }
    return node;
  });
}

async function main(): Promise<void> {
  const options = { quick: { type: 'boolean' } } as const;
  const { positionals, values } = parseArgs({ allowPositionals: true, options });
  const unknown = positionals.filter((line) => !nodeVersions.some((version) => isOf(line, version)));
  if (unknown.length > 0) throw new Error(`no such line of Node here: ${unknown.join(', ')}`);
  const outcomes: string[] = [];
  // One after the other: each takes all that two cores have.
  for (const version of nodeVersions) {
    if (positionals.length > 0 && !positionals.some((line) => isOf(line, version))) continue;
    process.stderr.write(`\n== Node ${version}\n`);
    const wrong = await tryOn(version, values.quick ? quickTests : allTests);
    outcomes.push(`Node ${version}: ${wrong.join('; ') || 'native modules, tests and demo passed'}`);
    if (wrong.length > 0) process.exitCode = 1;
  }
  console.log(`\n${outcomes.join('\n')}`);
}

const isOf = (line: string, version: string) => version === line || version.startsWith(`${line}.`);

if (require.main === module) {
  main().catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  });
}
