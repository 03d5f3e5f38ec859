/** Problems of something from outside, field by field. Messages never repeat a value: it may be a password. */
import type { z } from 'zod';

/** One wrong field: `items[0].password`, and a sentence that says what it must be. */
export interface Problem {
  field: string;
  message: string;
}

/** The name of a misspelt field is repeated, so that it is found; of a name that is too long, only the beginning. */
const partCharsMax = 80;

export function describeProblems(problems: Problem[]): string {
  return problems.map(({ field, message }) => (field ? `${field}: ${message}` : message)).join('; ');
}

/** All that a schema has found, field by field. */
export function problemsOf({ issues }: z.ZodError): Problem[] {
  return firstOf(issues.flatMap(toProblems));
}

function toProblems(issue: z.core.$ZodIssue): Problem[] {
  const field = nameOfField(issue.path);
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({ field: nameOfField([...issue.path, key]), message: 'there is no such field' }));
  }
  if (issue.code === 'invalid_type' && issue.message.startsWith('Invalid input')) {
    return [{ field, message: `must be ${article(issue.expected)}` }];
  }
  return [{ field, message: issue.message }];
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

/** More than these are counted, not named: Temporal itself refuses a failure that names thousands. */
const problemsMax = 100;

export function firstOf(problems: Problem[]): Problem[] {
  const more = problems.length - problemsMax;
  return more <= 0 ? problems : [...problems.slice(0, problemsMax), { field: '', message: `and ${more} more` }];
}

/** `['items', 0, 'password']` → `items[0].password`. Empty for the request itself. */
export function nameOfField(path: readonly PropertyKey[]): string {
  return path.reduce<string>((name, part) => {
    if (typeof part === 'number') return `${name}[${part}]`;
    const text = String(part);
    const shown = text.length > partCharsMax ? `${text.slice(0, partCharsMax)}…` : text;
    return name === '' ? shown : `${name}.${shown}`;
  }, '');
}

/** Names the first few of many: "a, b and 3 more". */
export function namesOfFirst(names: readonly (string | number)[], max: number): string {
  const more = names.length - max;
  return names.slice(0, max).join(', ') + (more > 0 ? ` and ${more} more` : '');
}
