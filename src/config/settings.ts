import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { problemsOf } from '../domain/problems';
import { withoutMarks } from '../domain/values';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Why a program cannot start; its message says what to do. */
export class CannotStart extends Error {}

export interface ListenAddress {
  /** IPv4 or IPv6, without brackets. */
  host: string;
  /** 0: any free port. */
  port: number;
}

/** Nothing can listen at the address that the setting names. */
export function cannotListen(setting: string, address: ListenAddress, why: unknown): CannotStart {
  const reason = why instanceof Error ? why.message : String(why);
  return new CannotStart(
    `${setting}: nothing can listen at ${inUrl(address)} (${reason}); ` +
      'choose another port, or an address of this machine',
  );
}

/** `127.0.0.1:9464`, `[::1]:9464` */
export function inUrl({ host, port }: ListenAddress): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** One message that lists every missing or wrong setting, with what was expected. */
export class SettingsError extends CannotStart {
  constructor(readonly problems: readonly string[]) {
    super(`settings that are missing or wrong:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
  }
}

/** The settings of a program, some of them in objects of their own. */
type Settings = z.ZodObject<Record<string, z.ZodType>>;

const isGroup = (schema: z.ZodType): schema is Settings => schema instanceof z.ZodObject;

/** All variables of all programs: they are often set for several at once. */
export const knownNames = new Set<string>();

/** A field of a program's settings, and the variable of the environment from which it is read. */
export function from<S extends z.ZodType>(variable: string, schema: S): S {
  knownNames.add(variable);
  return schema.meta({ variable });
}

/** As {@link from}, for what has a secret in it: `NAME_FILE` may name a file of it. Its schema gets a {@link Given}. */
export function fromTextOrFile<S extends z.ZodType>(variable: string, schema: S): S {
  knownNames.add(variable).add(`${variable}_FILE`);
  return schema.meta({ variable, orFile: true });
}

export const mayBeSecret = (schema: z.ZodType) => schema.meta()?.['orFile'] === true;

/** The text of a setting, the variable that was set, and the file that it names. */
export interface Given {
  name: string;
  text: string;
  file: string | undefined;
}

const variableOf = (schema: z.ZodType) => String(schema.meta()?.['variable']);

/** Each variable from which a program's settings are read, with what it must be. */
export function variablesOf(settings: Settings): Record<string, z.ZodType> {
  return Object.fromEntries(
    Object.values(settings.shape).flatMap((schema) =>
      isGroup(schema) ? Object.entries(variablesOf(schema)) : [[variableOf(schema), schema]],
    ),
  );
}

/** @returns undefined, and adds a sentence for each wrong setting to `problems`, where any is wrong */
export function readSettings<S extends Settings>(
  settings: S,
  env: Environment,
  problems: string[],
): z.output<S> | undefined {
  const known = problems.length;
  const read = Object.entries(settings.shape).map(([field, schema]) => {
    if (isGroup(schema)) return [field, readSettings(schema, env, problems)];
    try {
      return [field, readSetting(schema, env, problems)];
    } catch (error) {
      problems.push((error as Error).message);
      return [field, undefined];
    }
  });
  return problems.length > known ? undefined : (Object.fromEntries(read) as z.output<S>);
}

/** @throws Error where the text itself cannot be read */
function readSetting(schema: z.ZodType, env: Environment, problems: string[]): unknown {
  const variable = variableOf(schema);
  const given = givenIn(env, variable, mayBeSecret(schema));
  const { name = variable, text } = given ?? {};
  const parsed = schema.safeParse(mayBeSecret(schema) ? given : text);
  // `docker run --env-file` keeps the quotes that a shell takes off.
  const quoted = /^(["']).*\1$/s.test(text ?? '') ? 'has quotation marks, which are part of it; ' : '';
  const wrong = parsed.error ? problemsOf(parsed.error) : [];
  problems.push(...wrong.map(({ field, message }) => `${name}${field}: ${quoted}${message}`));
  return parsed.data;
}

function givenIn(env: Environment, name: string, orFile: boolean): Given | undefined {
  // Many tools set a variable to the empty string to unset it.
  const text = (orFile ? env[name]?.trim() : env[name]) || undefined;
  const file = (orFile && env[`${name}_FILE`]) || undefined;
  if (file === undefined) return text === undefined ? undefined : { name, text, file };
  if (text) throw new Error(`${name}: cannot be set together with ${name}_FILE; set one of them`);
  const read = readText(file, `${name}_FILE: `);
  if (read === '') throw new Error(`${name}_FILE: the file is empty`);
  return { name: `${name}_FILE`, text: read, file };
}

/** Either all of them are set, or none. */
export function requireTogether(names: readonly string[], env: Environment, problems: string[]): void {
  const missing = names.filter((name) => !env[name]);
  if (missing.length === names.length) return;
  for (const name of missing) {
    problems.push(`${name}: is required with ${names.filter((other) => other !== name).join(' and ')}`);
  }
}

/** @param of what it is, for the error */
export function readText(path: string, of = ''): string {
  try {
    return withoutMarks(readFileSync(path, 'utf8')).trim();
  } catch (error) {
    const { code = String(error) } = error as NodeJS.ErrnoException;
    throw new Error(`${of}cannot be read (${code})`, { cause: error });
  }
}
