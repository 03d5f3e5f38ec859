/**
 * Mutation testing: Stryker changes one thing in a copy of the sources, and the tests have to notice.
 *
 *   npm run mutate                                    every room of rooms.ts
 *   npm run mutate -- provider failures               these
 *   npm run mutate -- journal src/journal/journal.ts  this file of that room; more files after it
 */
import type { PartialStrykerOptions } from '@stryker-mutator/api/core' with { 'resolution-mode': 'import' };
import { runProgram } from '../scripts/program';
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
  await new Stryker(optionsFor(name, room)).runMutationTest();
}

function optionsFor(name: string, { sources, tests }: Room): PartialStrykerOptions {
  return {
    mutate: sources,
    testRunner: 'jest',
    coverageAnalysis: 'perTest',
    jest: {
      configFile: 'mutation/jest.config.js',
      config: { testMatch: tests.map((glob) => `<rootDir>/test/${glob}`) },
      enableFindRelatedTests: false,
    },
    // Below the project, so that packages are found before Stryker links them; without the package's name, so that Jest
    // does not find the package twice.
    tempDirName: 'reports/mutation/sandboxes',
    symlinkNodeModules: false,
    ignorePatterns: ['package.json', 'package-lock.json', '/.*', '/dist', '/docs', '/reports'],
    concurrency: 2,
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

runProgram(module, () => main(process.argv.slice(2)));
