/**
 * Checking what came from outside against a schema, with every wrong field named at once.
 *
 * Messages never repeat a value: the value may be a password.
 */
import type { z } from 'zod';

/** One wrong field: `items[0].password`, and a sentence that says what it must be. */
export interface Problem {
  field: string;
  message: string;
}

export type Checked<T> = { ok: true; value: T } | { ok: false; problems: Problem[] };

/** Bytes of a request's JSON. Temporal refuses a payload over 2 MiB; encryption and the copies in activities need room. */
export const requestBytesMax = 1024 * 1024;

export function check<T>(schema: z.ZodType<T>, input: unknown): Checked<T> {
  const tooBig = oversize(input);
  if (tooBig) return { ok: false, problems: [tooBig] };
  const parsed = schema.safeParse(input);
  if (parsed.success) return { ok: true, value: parsed.data };
  return { ok: false, problems: parsed.error.issues.flatMap(toProblems) };
}

export function describeProblems(problems: Problem[]): string {
  return problems.map(({ field, message }) => (field ? `${field}: ${message}` : message)).join('; ');
}

function oversize(input: unknown): Problem | undefined {
  // A request that cannot be serialised (a cycle, a BigInt) is the schema's to refuse.
  const bytes = bytesOf(input);
  if (bytes <= requestBytesMax) return undefined;
  return {
    field: '',
    message: `the request is ${String(bytes)} bytes long; at most ${String(requestBytesMax)} are taken`,
  };
}

/** 0 for what has no JSON. */
function bytesOf(input: unknown): number {
  try {
    return new TextEncoder().encode(JSON.stringify(input)).length;
  } catch {
    return 0;
  }
}

function toProblems(issue: z.core.$ZodIssue): Problem[] {
  const at = fieldName(issue.path);
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      field: fieldName([...issue.path, key]),
      message: 'is not a field of this request',
    }));
  }
  if (issue.code === 'invalid_type' && issue.message.startsWith('Invalid input')) {
    return [{ field: at, message: `must be ${article(issue.expected)}` }];
  }
  return [{ field: at, message: issue.message }];
}

/** `['items', 0, 'password']` → `items[0].password`. Empty for the request itself. */
function fieldName(path: readonly PropertyKey[]): string {
  return path.reduce<string>((name, part) => {
    if (typeof part === 'number') return `${name}[${String(part)}]`;
    return name === '' ? String(part) : `${name}.${String(part)}`;
  }, '');
}

function article(expected: string): string {
  const names: Record<string, string> = {
    int: 'a whole number',
    number: 'a number',
    boolean: 'true or false',
    array: 'a list',
    object: 'a JSON object',
    string: 'a string',
  };
  return names[expected] ?? expected;
}
