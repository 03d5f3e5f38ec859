/** What is wrong with settings, and files that settings name. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SettingsError, type Environment } from '../../src/config';

export function problemsOf(read: (env: Environment) => unknown, env: Environment): readonly string[] {
  try {
    read(env);
    return [];
  } catch (error) {
    if (error instanceof SettingsError) return error.problems;
    throw error;
  }
}

/** Writes files into a folder that is removed after the tests. @returns the path of each */
export function settingsFiles(): (name: string, content: string) => string {
  const folder = mkdtempSync(join(tmpdir(), 'order-saga-settings-'));
  afterAll(() => {
    rmSync(folder, { recursive: true });
  });
  return (name, content) => {
    const path = join(folder, name);
    writeFileSync(path, content);
    return path;
  };
}
