/** The way into the project, in a project of its own with an npm that installs one command. */
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const installing = 'installing packages (once, about a minute)…';
const lock = {
  packages: {
    '': { version: '1.0.0' },
    'node_modules/a': { version: '1.2.3', integrity: 'sha512-a' },
    'node_modules/for-another-platform': { version: '1.0.0', integrity: 'sha512-b', optional: true },
  },
};
const installed = { packages: { 'node_modules/a': lock.packages['node_modules/a'] } };

let project: string;
beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), 'order-saga-bootstrap-'));
  mkdirSync(join(project, 'scripts'));
  copyFileSync(join(__dirname, '../../../scripts/bootstrap.mjs'), join(project, 'scripts/bootstrap.mjs'));
  json('package.json', { engines: { node: '>=20.0.0' } });
  json('package-lock.json', lock);
  const npm = `
    process.chdir(__dirname);
    console.log('npm speaks');
    const fs = require('node:fs');
    fs.mkdirSync('node_modules/.bin', { recursive: true });
    fs.writeFileSync('node_modules/.package-lock.json', ${JSON.stringify(JSON.stringify(installed))});
    fs.writeFileSync('node_modules/.bin/installed-command', '#!/bin/sh\\necho "it runs: $*"', { mode: 0o755 });
  `;
  writeFileSync(join(project, 'npm-cli.js'), npm);
});
afterEach(() => {
  rmSync(project, { recursive: true, force: true });
});

function json(path: string, content: unknown): void {
  writeFileSync(join(project, path), JSON.stringify(content));
}

function run(...args: string[]) {
  const env = { ...process.env, npm_execpath: join(project, 'npm-cli.js') };
  const script = join(project, 'scripts', 'bootstrap.mjs');
  return spawnSync(process.execPath, [script, ...args], { encoding: 'utf8', cwd: tmpdir(), env });
}

it('installs a fresh clone in silence but for one line, and then runs the command', () => {
  expect(run('installed-command', '--its', 'arguments')).toMatchObject({
    status: 0,
    stdout: 'it runs: --its arguments\n',
    stderr: `${installing}\n`,
  });
});

it('on a Node that is too old says so, before anything else', () => {
  json('package.json', { engines: { node: '>=99.1.0' } });
  const { status, stderr } = run('echo', 'it runs');
  expect(status).toBe(1);
  expect(stderr).toBe(`this needs Node >=99.1.0, and this is Node ${process.versions.node}: install a newer one\n`);
  expect(existsSync(join(project, 'node_modules'))).toBe(false);
});
