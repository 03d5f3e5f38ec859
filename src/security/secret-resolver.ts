/** `{ "secret": "web-root-password" }` in a request: the worker looks the value up, which never reaches Temporal. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { withoutMarks } from '../domain/values';

/** The source of secrets. To use another store (a vault, a cloud's secret manager), implement this. */
export interface SecretResolver {
  /** @returns undefined when there is no such secret; rejects when the store cannot be read */
  resolve(name: string): Promise<string | undefined>;
}

export interface SecretSources {
  /** A folder with one file per secret, with the secret's name, as Docker and Kubernetes mount them. */
  folder?: string;
  /** Reads an environment variable. */
  variable: (name: string) => string | undefined;
}

/** Looks in the folder first, then in the environment: for `web-root-password`, in `SECRET_WEB_ROOT_PASSWORD`. */
export function createSecretResolver({ folder, variable }: SecretSources): SecretResolver {
  const variableOf = (name: string) => `SECRET_${name.toUpperCase().replace(/[^A-Z0-9]/g, '_')}`;
  return { resolve: async (name) => (await readSecretFile(folder, name)) ?? variable(variableOf(name)) };
}

async function readSecretFile(folder: string | undefined, name: string): Promise<string | undefined> {
  if (folder === undefined) return undefined;
  try {
    return withoutMarks(decodeUtf8(name, await readFile(join(folder, name))));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    if (code === undefined) throw error;
    throw new Error(`the secret ${name} cannot be read (${code})`, { cause: error });
  }
}

/** A file in UTF-16, as some editors write it, would make a password that nobody can type. */
function decodeUtf8(name: string, bytes: Buffer): string {
  try {
    // The decoder leaves the mark out.
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new Error(`the secret ${name} is not in UTF-8: save the file as UTF-8`, { cause });
  }
}
