/** Prints into docs/settings.md the default of each setting and its bounds, as the schemas of src/config have them. */
import { z } from 'zod';
import { codecServerSettings } from '../src/config/codec-server';
import { journalSettings } from '../src/config/journal';
import { variablesOf } from '../src/config/settings';
import { workerSettings } from '../src/config/worker';

const programs = [workerSettings, journalSettings, codecServerSettings];
const schemas = new Map(programs.flatMap((program) => Object.entries(variablesOf(program))));

/** As the environment would have it; empty where a setting is off, or a list without entries. */
function defaultOf(schema: z.ZodType): string {
  const { success, data } = schema.safeParse(undefined);
  if (!success) return 'required';
  const value = data as string | number | boolean | object | undefined;
  return typeof value === 'object' ? Object.values(value).join('host' in value ? ':' : ',') : String(value ?? '');
}

/** The least and the most of its numbers, in words: as the meta of its kind has them, below a default. */
export function boundsOf(schema: z.ZodType): string {
  const bounds = schema.meta()?.['bounds'];
  if (typeof bounds === 'string') return bounds;
  return schema instanceof z.ZodDefault || schema instanceof z.ZodOptional
    ? boundsOf(schema.unwrap() as z.ZodType)
    : '';
}

/** @returns the page, where a line ``- `NAME` (default; bounds): meaning`` is of a setting, or of several alike */
export function withSettings(page: string): string {
  const named = new Set<string>();
  const printed = page.replace(/^- ((?:`[A-Z_]+`(?:, )?)+)( \([^)]*\))?:/gm, (line, names: string) => {
    const all = [...names.matchAll(/[A-Z_]+/g)].map(([name]) => name);
    for (const name of all) named.add(name);
    const schema = schemas.get(all[0] ?? '');
    if (schema === undefined) return line;
    const facts = [defaultOf(schema), boundsOf(schema)].filter(Boolean).join('; ');
    return `- ${names}${facts && ` (${facts})`}:`;
  });
  const missing = [...schemas.keys()].filter((name) => !named.has(name));
  if (missing.length > 0) throw new Error(`docs/settings.md does not say what these mean: ${missing.join(', ')}`);
  return printed;
}
