/**
 * Secrets by name: a request may say `{ "secret": "web-root-password" }` instead of the value, which is then looked up
 * where the call is made and never reaches Temporal.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Where secrets come from. An own store (a vault, a cloud's secret manager) implements this. */
export interface SecretResolver {
  /** @returns undefined when there is no such secret; rejects when the store cannot be asked */
  resolve(name: string): Promise<string | undefined>;
}

export interface SecretSources {
  /** A folder with one file per secret, named like it, as Docker and Kubernetes mount them. */
  folder?: string | undefined;
  /** Reads the variable of a name. */
  variable: (name: string) => string | undefined;
}

/** First the folder, then the environment: `web-root-password` is the variable `SECRET_WEB_ROOT_PASSWORD`. */
export function createSecretResolver({ folder, variable }: SecretSources): SecretResolver {
  return {
    resolve: async (name) => (await readSecretFile(folder, name)) ?? variable(variableOf(name)),
  };
}

export function variableOf(name: string): string {
  return `SECRET_${name.toUpperCase().replace(/[^A-Z0-9]/g, '_')}`;
}

async function readSecretFile(folder: string | undefined, name: string): Promise<string | undefined> {
  if (folder === undefined) return undefined;
  try {
    // Most editors and tools end a file with a line break that is not part of the secret.
    return (await readFile(join(folder, name), 'utf8')).replace(/\r?\n$/, '');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    const { code } = error as NodeJS.ErrnoException;
    throw new Error(`the secret ${name} cannot be read (${code})`, { cause: error });
  }
}
