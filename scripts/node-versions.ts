/**
 * Tries the project on the other lines of Node that it supports. Each comes from npm's packages by npx, and runs:
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
 *   npm run versions -- --quick  what differs most between lines, as CI has it: native modules, the worker, that the
 *                                client's package orders, the demo
 *
 * The line that runs this has `npm run test:grids`. docs/supported.md says what is supported, and until when.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ExpectedError, runProgram } from './program';

/** The newest of each line when it was last tried. */
export const nodeVersions = ['24.21.0', '26.10.0'];

const quickTests = [
  'test/integration/worker/health',
  // AsyncLocalStorage finds what is traced, and Node 24 has written it anew.
  'test/integration/operations/tracing',
  // A backend may be on any of them.
  'test/system/client-package',
];
/** The compiler and the judges of a package say the same on each. */
const saidOnce = '--testNamePattern=^(?!.*(is typed|publint and attw))';
const allTests = [
  'test/unit',
  'test/integration/saga/outcomes',
  'test/integration/journal/contract.test',
  ...quickTests,
];

/** Each of our modules that has native parts uses them, on the version that was asked for. */
const useNatives = (version: string) => `
  const Database = require('libsql');
  new Database(':memory:').exec('create table t (x)');
  require('@swc/core').transformSync('let x: number', { jsc: { parser: { syntax: 'typescript' } } });
  require('@temporalio/worker').Runtime.instance();
  process.exit(process.versions.node === '${version}' ? 0 : 1);
`;

/** @returns what went wrong, in a few words each */
function tryOn(version: string, tests: readonly string[]): string[] {
  // The package `node` only picks this one, by a script that npm may be told not to run.
  const node = ['--yes', `--package=node-${process.platform}-${process.arch}@${version}`, '--', 'node'];
  const fails = (...args: string[]) =>
    spawnSync('npx', [...node, ...args], { cwd: join(__dirname, '..'), stdio: ['ignore', 'inherit', 'inherit'] })
      .status !== 0;
  const bootstrap = join('scripts', 'bootstrap.mjs');
  return [
    ...(fails('-e', useNatives(version)) ? ['native modules'] : []),
    ...(fails(bootstrap, 'tsx', join('scripts', 'demo.ts')) ? ['the demo'] : []),
    ...(fails(bootstrap, 'jest', '--ci', ...tests) ? ['tests'] : []),
  ];
}

function main(): void {
  const { positionals, values } = parseArgs({ allowPositionals: true, options: { quick: { type: 'boolean' } } });
  const isOf = (line: string, version: string) => version === line || version.startsWith(`${line}.`);
  const unknown = positionals.filter((line) => !nodeVersions.some((version) => isOf(line, version)));
  if (unknown.length > 0) throw new ExpectedError(`no such line of Node here: ${unknown.join(', ')}`);
  const wanted = nodeVersions.filter(
    (version) => positionals.length === 0 || positionals.some((line) => isOf(line, version)),
  );
  // One after the other: each takes all that two cores have.
  const outcomes = wanted.map((version) => {
    process.stderr.write(`\n== Node ${version}\n`);
    const wrong = tryOn(version, values.quick ? [...quickTests, saidOnce] : allTests);
    if (wrong.length > 0) process.exitCode = 1;
    return `Node ${version}: ${wrong.length > 0 ? `failed: ${wrong.join('; ')}` : 'native modules, tests and demo passed'}`;
  });
  console.log(`\n${outcomes.join('\n')}`);
}

runProgram(module, main);
