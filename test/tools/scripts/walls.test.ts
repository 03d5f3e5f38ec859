/**
 * Every wall holds: a project with one import through each of them is told of each, and of nothing that is allowed.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const root = join(__dirname, '..', '..', '..');

const allowed: Record<string, string> = {
  'src/domain/word.ts': "import { z } from 'zod';\nexport const word = z.string();",
  'src/provider/mouth.ts': "import 'undici';\nimport 'zod';\nimport 'node:tls';\nexport const mouth = 1;",
  'src/security/seal.ts': "import '../domain/word';\nimport 'node:crypto';\nexport const seal = 1;",
  'src/activities/hand.ts': "import '../provider/mouth';\nimport '@temporalio/activity';\nexport type Hand = 1;",
  'src/saga/engine.ts':
    "import type { Hand } from '../activities/hand';\nimport '../domain/word';\nimport '@temporalio/workflow';\nexport const engine = 1;\nexport type Engine = Hand;",
  'src/workflows/story.ts':
    "import type { Hand } from '../activities/hand';\nimport '../domain/word';\nimport '../saga/engine';\nimport '@temporalio/workflow';\nexport type Story = Hand;",
  'src/client/door.ts': "import '../domain/word';\nimport '../security/seal';\nimport '@temporalio/client';",
  'src/config/index.ts': "import type { Hand } from '../activities/hand';\nexport type Config = Hand;",
  'src/worker.ts': "import './config';\nimport './activities/hand';\nimport '@temporalio/worker';",
  'sandbox/stand-in.ts': "import 'zod';\nimport 'node:http';\nexport const standIn = 1;",
  'scripts/chore.ts': "import '../src/domain/word';\nimport '../sandbox/stand-in';\nexport const chore = 1;",
  'test/any.test.ts': "import '../src/worker';\nimport '../sandbox/stand-in';",
};

/** File, what it imports, and the wall that is in the way. */
const forbidden: [string, string, string][] = [
  ['src/saga/a.ts', "import '../workflows/story';", 'saga-stays-within-its-walls'],
  ['src/saga/b.ts', "import '../activities/hand';", 'saga-takes-only-types'],
  ['src/domain/a.ts', "import '../provider/mouth';", 'domain-stays-within-its-walls'],
  ['src/domain/b.ts', "export type { Hand } from '../activities/hand';", 'domain-stays-within-its-walls'],
  ['src/domain/c.ts', "import 'node:crypto';", 'domain-stays-within-its-walls'],
  ['src/domain/d.ts', "import '@temporalio/common';", 'domain-stays-within-its-walls'],
  ['src/provider/a.ts', "import '../domain/word';", 'provider-stays-within-its-walls'],
  ['src/provider/b.ts', "import '@temporalio/common';", 'provider-stays-within-its-walls'],
  ['src/workflows/a.ts', "import '../activities/hand';", 'workflows-takes-only-types'],
  ['src/workflows/b.ts', "import '../provider/mouth';", 'workflows-stays-within-its-walls'],
  ['src/workflows/c.ts', "import 'node:crypto';", 'workflows-stays-within-its-walls'],
  ['src/workflows/d.ts', "import 'crypto';", 'workflows-stays-within-its-walls'],
  ['src/workflows/e.ts', "import '@temporalio/activity';", 'workflows-stays-within-its-walls'],
  ['src/workflows/f.ts', "import '../config';", 'workflows-stays-within-its-walls'],
  ['src/activities/a.ts', "import '../workflows/story';", 'activities-stays-within-its-walls'],
  ['src/activities/b.ts', "import '../config';", 'activities-stays-within-its-walls'],
  ['src/activities/c.ts', "import 'undici';", 'activities-stays-within-its-walls'],
  ['src/client/a.ts', "import '../activities/hand';", 'client-stays-within-its-walls'],
  ['src/client/b.ts', "import '../provider/mouth';", 'client-stays-within-its-walls'],
  ['src/client/c.ts', "import '@temporalio/worker';", 'client-stays-within-its-walls'],
  ['src/security/a.ts', "import '../client/door';", 'security-stays-within-its-walls'],
  ['src/starter.ts', "import './workflows/story';", 'workflows-are-only-bundled'],
  ['src/g.ts', "import '../sandbox/stand-in';", 'src-stands-alone'],
  ['src/h.ts', "import '../scripts/chore';", 'src-stands-alone'],
  ['src/i.ts', "import 'jest';", 'src-ships-its-packages'],
  ['src/j.ts', "import './nowhere';", 'no-loose-ends'],
  ['sandbox/a.ts', "import '../src/domain/word';", 'sandbox-stays-within-its-walls'],
  ['sandbox/b.ts', "import '../src/provider/mouth';", 'sandbox-stays-within-its-walls'],
  ['scripts/a.ts', "import './round';", 'no-cycles'],
];

interface Report {
  summary: { violations: { from: string; rule: { name: string } }[]; totalCruised: number };
}

let folder: string;
let report: Report;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'order-saga-walls-'));
  for (const file of ['.dependency-cruiser.cjs', 'tsconfig.json', 'package.json']) {
    copyFileSync(join(root, file), join(folder, file));
  }
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  const files: (readonly [string, string, ...unknown[]])[] = [
    ...Object.entries(allowed),
    ['scripts/round.ts', "import './a';"],
    ...forbidden,
  ];
  for (const [file, text] of files) {
    mkdirSync(join(folder, dirname(file)), { recursive: true });
    writeFileSync(join(folder, file), `${text}\n`);
  }
  const cruiser = join(root, 'node_modules', 'dependency-cruiser', 'bin', 'dependency-cruise.mjs');
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [cruiser, 'src', 'sandbox', 'scripts', 'test', '--config', '--output-type', 'json'],
    { cwd: folder, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 },
  );
  if (stdout === '') throw new Error(stderr);
  report = JSON.parse(stdout) as Report;
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const wallsHit = (file: string) =>
  report.summary.violations.filter(({ from }) => from === file).map(({ rule }) => rule.name);

it.each(forbidden)('%s may not: %s', (file, _text, wall) => {
  expect(wallsHit(file)).toContain(wall);
});

it.each(Object.keys(allowed))('%s may what it does', (file) => {
  expect(wallsHit(file)).toEqual([]);
});
