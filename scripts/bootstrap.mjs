/**
 * Runs a command of this project, on a fresh clone too: `node scripts/bootstrap.mjs jest --watch`. Before it, packages are
 * installed if they are not what package-lock.json says. Nothing but Node is needed, so nothing but Node is imported.
 *
 * The command's status is this program's; a command that a signal ended gives 128 + the signal's number.
 */
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');

const wanted = readJson('package.json').engines.node;
if (!isNewEnough(process.versions.node, wanted)) {
  fail(1, `this needs Node ${wanted}, and this is Node ${process.versions.node}: install a newer one`);
}

if (!isInstalled()) {
  console.error('installing packages (once, about a minute)…');
  const { status, said } = runNpm(['ci', '--include=dev', '--no-audit', '--no-fund']);
  if (status !== 0) fail(1, `${said}\nnpm ci failed: what it said is above`);
}

const [command, ...args] = process.argv.slice(2);
if (command !== undefined) run(command, args);

/** A range of one kind only, `>=a.b.c`, which is all that package.json uses. */
function isNewEnough(version, range) {
  const [is, least] = [version, range.replace('>=', '')].map((text) => text.split('.').map(Number));
  const at = is.findIndex((part, index) => part !== least[index]);
  return at === -1 || is[at] > least[at];
}

/**
 * npm leaves in node_modules a lock file of what it installed. Times say nothing (a checkout changes them), so the
 * contents are compared; a package that is there beyond the lock file does no harm.
 */
function isInstalled() {
  const installed = readJson('node_modules/.package-lock.json')?.packages;
  if (installed === undefined) return false;
  return Object.entries(readJson('package-lock.json').packages).every(([path, { version, integrity, optional }]) => {
    // The project itself stands under the empty path; optional packages are there or not, as the platform has it.
    if (path === '' || optional) return true;
    return installed[path]?.version === version && installed[path]?.integrity === integrity;
  });
}

function runNpm(npmArgs) {
  // Started by npm, it is that very npm; else the one on PATH.
  const npm = process.env.npm_execpath?.endsWith('npm-cli.js') ? [process.execPath, process.env.npm_execpath] : ['npm'];
  const { status, stdout, stderr, error } = spawnSync(npm[0], [...npm.slice(1), ...npmArgs], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    maxBuffer: 64 * 1024 * 1024,
  });
  return { status, said: error?.message ?? `${stdout}${stderr}`.trim() };
}

function run(program, programArgs) {
  const child = spawn(program, programArgs, {
    stdio: 'inherit',
    env: { ...process.env, PATH: [join(root, 'node_modules', '.bin'), process.env.PATH].join(delimiter) },
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      // Ctrl-C goes to everybody at the terminal, the child too; twice would mean "at once" to many programs.
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
    });
  }
  child.once('error', (error) => {
    fail(127, error.code === 'ENOENT' ? `there is no command ${program}` : error.message);
  });
  child.once('exit', (status, signal) => {
    process.exit(status ?? 128 + constants.signals[signal]);
  });
}

function readJson(path) {
  try {
    return JSON.parse(readFileSync(join(root, path), 'utf8'));
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  }
}

function fail(status, sentence) {
  console.error(sentence);
  process.exit(status);
}
