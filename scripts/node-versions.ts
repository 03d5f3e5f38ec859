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
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { alone, cacheFolder, isExecutable } from './program-cache';

const root = join(__dirname, '..');
const reports = join(root, 'reports');

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

interface Outcome {
  version: string;
  /** Tests, and the native modules and the demo as one each. */
  passed: number;
  failed: number;
  /** What went wrong, in a few words each. */
  wrong: string[];
  tookS: number;
}

async function tryOn(version: string, tests: readonly string[]): Promise<Outcome> {
  const started = Date.now();
  const node = await resolveNode(version);
  const wrong: string[] = [];
  const env = { ...process.env, PATH: [dirname(node), process.env['PATH']].join(delimiter) };
  const run = async (...args: string[]) => {
    const child = spawn(node, args, { cwd: root, env, stdio: ['ignore', 'inherit', 'inherit'] });
    const [status] = (await once(child, 'exit')) as [number | null];
    return status === 0;
  };

  const used = await promisify(execFile)(node, ['-e', useNatives], { cwd: root, env }).then(
    ({ stdout }) => stdout.trim(),
    (error: unknown) => String(error),
  );
  if (used !== version) wrong.push(`native modules: ${used}`);

  const report = join(reports, `node-${version}.json`);
  rmSync(report, { force: true });
  const bootstrap = join('scripts', 'bootstrap.mjs');
  if (!(await run(bootstrap, 'tsx', join('scripts', 'demo.ts')))) wrong.push('the demo');
  const missed = wrong.length;
  if (!(await run(bootstrap, 'jest', '--ci', '--json', `--outputFile=${report}`, ...tests))) wrong.push('tests');
  const counts = countsIn(report);
  const [passed, failed] = [counts.passed + 2 - missed, counts.failed + missed];
  if (counts.passed === 0) wrong.push('no test ran');
  return { version, passed, failed, wrong, tookS: Math.round((Date.now() - started) / 1000) };
}

/** Without a report no test ran. */
function countsIn(report: string): { passed: number; failed: number } {
  try {
    const figures = JSON.parse(readFileSync(report, 'utf8')) as { numPassedTests: number; numFailedTests: number };
    return { passed: figures.numPassedTests, failed: figures.numFailedTests };
  } catch {
    return { passed: 0, failed: 0 };
  }
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
  const chosen = nodeVersions.filter(
    (version) => positionals.length === 0 || positionals.some((line) => isOf(line, version)),
  );
  mkdirSync(reports, { recursive: true });
  const outcomes: Outcome[] = [];
  // One after the other: each takes all that two cores have.
  for (const version of chosen) {
    process.stderr.write(`\n== Node ${version}\n`);
    outcomes.push(await tryOn(version, values.quick ? quickTests : allTests));
  }
  const sum = (of: 'passed' | 'failed') => outcomes.reduce((total, outcome) => total + outcome[of], 0);
  console.log('');
  for (const { version, passed, failed, wrong, tookS } of outcomes) {
    console.log(
      `Node ${version}: ${passed} passed, ${failed} failed; ${wrong.join('; ') || 'demo passed'} (${tookS} s)`,
    );
  }
  console.log(`${sum('passed')} passed, ${sum('failed')} failed`);
  if (outcomes.some(({ wrong }) => wrong.length > 0)) process.exitCode = 1;
}

const isOf = (line: string, version: string) => version === line || version.startsWith(`${line}.`);

if (require.main === module) {
  main().catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  });
}
