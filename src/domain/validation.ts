/** Checks input from outside: against the limits, then against a schema. It names every wrong field at once. */
import type { z } from 'zod';
import { beyondLimits } from './limits';
import { tryOr } from './ignore-errors';
import { problemsOf, type Problem } from './problems';

export type Checked<T> = { ok: true; value: T } | { ok: false; problems: Problem[] };

/** Bytes of a request's JSON. Temporal refuses 2 MiB; encryption and the copies in activities need room. */
export const requestBytesMax = 1024 * 1024;

export function check<T>(schema: z.ZodType<T>, input: unknown): Checked<T> {
  const beyond = beyondLimits(input);
  if (beyond.length > 0) return { ok: false, problems: beyond };
  // The schema refuses what has no JSON form (a cycle, a BigInt).
  const bytes = tryOr(() => new TextEncoder().encode(JSON.stringify(input)).length, 0);
  if (bytes > requestBytesMax) {
    const message = `the request is ${bytes} bytes long; at most ${requestBytesMax} are allowed`;
    return { ok: false, problems: [{ field: '', message }] };
  }
  const parsed = schema.safeParse(input);
  if (parsed.success) return { ok: true, value: parsed.data };
  return { ok: false, problems: problemsOf(parsed.error) };
}
