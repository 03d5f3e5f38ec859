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
