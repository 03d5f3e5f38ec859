import { readFileSync } from 'node:fs';
import { z } from 'zod';

export type Environment = Readonly<Record<string, string | undefined>>;

/** One message that lists every missing or wrong setting, with what was expected. */
export class SettingsError extends Error {
  constructor(readonly problems: readonly string[]) {
    super(`settings that are missing or wrong:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
  }
}

export function readSettings<S extends z.ZodRawShape>(shape: S, env: Environment, problems: string[]) {
  // Many tools set a variable to the empty string to unset it.
  const given = Object.fromEntries(Object.keys(shape).flatMap((name) => (env[name] ? [[name, env[name]]] : [])));
  const parsed = z.object(shape).safeParse(given);
  if (parsed.success) return parsed.data;
  for (const { path, message } of parsed.error.issues) {
    const name = path.join('.');
    // `docker run --env-file` keeps the quotes that a shell takes off.
    const isQuoted = /^(["']).*\1$/s.test(env[name] ?? '');
    problems.push(`${name}: ${isQuoted ? 'stands in quotation marks, which are part of it; ' : ''}${message}`);
  }
  return undefined;
}

export function readText(name: string, path: string, problems: string[]): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    problems.push(`${name}: cannot be read (${(error as NodeJS.ErrnoException).code ?? String(error)})`);
    return undefined;
  }
}
