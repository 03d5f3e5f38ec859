/**
 * Mutation testing: Stryker changes one thing in a copy of the sources, and the tests have to notice.
 *
 *   npm run mutate                                    every room of rooms.ts
 *   npm run mutate -- provider failures               these
 *   npm run mutate -- workflows src/workflows/saga.ts this file of that room; more files after it
 *
 * Workflow code runs in the SDK's sandbox, where no test can reach in. So the sources are instrumented with all mutants at
 * once, bundled once (bundle-workflows.ts), and the bundle asks the test run from inside which mutant is the active one
 * (jest-environment.js). No server takes part (stage.ts, staged-run.ts).
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PartialStrykerOptions } from '@stryker-mutator/api/core' with { 'resolution-mode': 'import' };
import { rooms, type Room } from './rooms';

const scoreMin = 85;

async function main(args: readonly string[]): Promise<void> {
  const names = args.filter((arg) => arg in rooms);
  const files = args.filter((arg) => !(arg in rooms));
  for (const name of names.length > 0 ? names : Object.keys(rooms)) {
    const room = rooms[name];
    if (room) await mutate(name, files.length > 0 ? { ...room, sources: files } : room);
  }
}

async function mutate(name: string, room: Room): Promise<void> {
  const { Stryker } = await import('@stryker-mutator/core');
  const folder = mkdtempSync(join(tmpdir(), 'order-saga-mutation-'));
  process.env['ORDER_SAGA_MUTATION_FOLDER'] = folder;
  if (room.workflows) process.env['ORDER_SAGA_TEST_BUNDLE'] = join(folder, 'workflow-bundle.js');
  try {
    await new Stryker(optionsFor(name, room)).runMutationTest();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function optionsFor(name: string, { sources, tests, workflows }: Room): PartialStrykerOptions {
  return {
    mutate: sources,
    testRunner: 'jest',
    plugins: ['@stryker-mutator/jest-runner', './mutation/not-told.js'],
    ignorers: ['told'],
    coverageAnalysis: 'perTest',
    jest: {
      configFile: 'mutation/jest.config.js',
      config: { testMatch: tests.map((glob) => `<rootDir>/test/${glob}`) },
      enableFindRelatedTests: false,
    },
    ...(workflows ? { buildCommand: 'tsx mutation/bundle-workflows.ts' } : {}),
    // Below the project, so that packages are found before Stryker links them; without the package's name, so that Jest
    // does not find the package twice.
    tempDirName: 'reports/mutation/sandboxes',
    symlinkNodeModules: false,
    ignorePatterns: ['package.json', 'package-lock.json', '/.*', '/dist', '/docs', '/reports'],
    // Those that run workflows wait half of their time.
    concurrency: workflows ? 4 : 2,
    // What a mutant left running stays behind in the process.
    ...(workflows ? { maxTestRunnerReuse: 50 } : {}),
    timeoutMS: 60_000,
    dryRunTimeoutMinutes: 20,
    reporters: ['clear-text', 'html', 'json', 'progress-append-only'],
    clearTextReporter: { logTests: false, allowColor: false, reportTests: false },
    htmlReporter: { fileName: `reports/mutation/${name}.html` },
    jsonReporter: { fileName: `reports/mutation/${name}.json` },
    thresholds: { high: 95, low: scoreMin, break: scoreMin },
    allowConsoleColors: false,
  };
}

main(process.argv.slice(2)).catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
