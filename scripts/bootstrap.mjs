/**
 * Runs a command of this project, also on a fresh clone: `node scripts/bootstrap.mjs jest --watch`. It installs the
 * packages first if they are not those of package-lock.json. So it imports nothing but Node's own modules.
 *
 * It ends with the command's status; if a signal ended the command, with 128 + the signal's number.
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
  if (status !== 0) fail(1, `${said}\nnpm ci failed: its output is above`);
}

const [command, ...args] = process.argv.slice(2);
if (command !== undefined) run(command, args);

/** Supports only ranges like `>=a.b.c`, as package.json has them. */
function isNewEnough(version, range) {
  const [is, least] = [version, range.replace('>=', '')].map((text) => text.split('.').map(Number));
  const at = is.findIndex((part, index) => part !== least[index]);
  return at === -1 || is[at] > least[at];
}

/**
 * npm keeps a lock file of what it installed in node_modules. The contents are compared, because a checkout changes the
 * times; an additional package does no harm.
 */
function isInstalled() {
  const installed = readJson('node_modules/.package-lock.json')?.packages;
  if (installed === undefined) return false;
  return Object.entries(readJson('package-lock.json').packages).every(([path, { version, integrity, optional }]) => {
    // The empty path is the project itself; whether an optional package is installed depends on the platform.
    if (path === '' || optional) return true;
    return installed[path]?.version === version && installed[path]?.integrity === integrity;
  });
}

function runNpm(npmArgs) {
  // The npm that started this program; else the one on PATH.
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
      // The terminal sends Ctrl-C to the child, too; many programs take a second one as "at once".
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
    });
  }
  child.once('error', (error) => {
    fail(127, error.code === 'ENOENT' ? `command not found: ${program}` : error.message);
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
