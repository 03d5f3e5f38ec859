/** The request's fields that nobody may read: how they are named, and how they are blanked out. */

export const secretFields: readonly string[] = ['password', 'custom_ssh_key', 'custom_script'];

export const redactedMark = '[redacted]';

/** A deep copy in which every secret field is blanked out, at any depth. */
export function redact(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(redact);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, secretFields.includes(key) ? redactedMark : redact(inner)]),
  );
}
