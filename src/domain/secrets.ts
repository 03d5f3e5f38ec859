/** The request's fields that nobody may read: how they are named, referred to, and blanked out. */
import { z } from 'zod';
import { onFirstUse } from './on-first-use';

export const secretFields: readonly string[] = ['password', 'custom_ssh_key', 'custom_script'];

/** A secret by its name, instead of its value; looked up where the call is made. */
export const secretReferenceSchema = onFirstUse(() =>
  z.strictObject({
    secret: z
      .string('must be the name of a secret')
      .regex(
        /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/,
        'must be 1 to 128 of the characters A-Z a-z 0-9 . _ -, a letter or digit first',
      ),
  }),
);
export type SecretReference = z.infer<ReturnType<typeof secretReferenceSchema>>;

/** A value, or where to find it. */
export type Secret = string | SecretReference;

/** Metadata of a payload that reached a worker with keys unencrypted. */
export const clearMark = 'order-saga-clear';

export const redactedMark = '[redacted]';

/** A deep copy in which every secret field is blanked out, at any depth. The name of a secret is no secret. */
export function redact(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(redact);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, secretFields.includes(key) ? blank(inner) : redact(inner)]),
  );
}

function blank(secret: unknown): unknown {
  return secretReferenceSchema().safeParse(secret).success ? secret : redactedMark;
}
