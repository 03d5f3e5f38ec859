/** The request's fields that nobody may read: how they are named, referred to, and blanked out. */
import { z } from 'zod';
import { lazy } from './lazy';

export const secretFields: readonly string[] = ['password', 'custom_ssh_key', 'custom_script'];

/** Names in lower case, without `_` and `-`. One too many hides a word of an answer; one too few shows a password. */
const secretName =
  /password|passwd|passphrase|rootpass|^pass$|^pwd$|secret|sshkey|privatekey|customscript|userdata|credential|apikey|accesstoken|^token$/;

/** True if a field of this name holds a secret, in a request or in an answer. */
export function isSecretField(name: string): boolean {
  return secretName.test(name.toLowerCase().replace(/[^a-z0-9]/g, ''));
}

/** How the names of secrets begin that sign webhooks. A request may name none: the provider would get its value. */
export const webhookSecretPrefix = 'webhook-';

/** A secret by its name, instead of its value; looked up where the call is made. */
export const secretReferenceSchema = lazy(() =>
  z.strictObject({
    secret: z
      .string('must be the name of a secret')
      .regex(
        /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/,
        'must be 1 to 128 of the characters A-Z a-z 0-9 . _ -, a letter or digit first',
      )
      // As the variables of secrets are named, and as a folder that does not mind capitals finds them.
      .regex(
        /^(?![Ww][Ee][Bb][Hh][Oo][Oo][Kk][._-])/,
        `must not begin with ${webhookSecretPrefix}: that is for webhooks`,
      ),
  }),
);

/** A value, or where to find it. */
export type Secret = string | z.infer<ReturnType<typeof secretReferenceSchema>>;

/** Other calls of a saga sent them to the provider; 'unknown' if that is not known, or more than a call carries. */
export type SentSecrets = readonly Secret[] | 'unknown';

export const redactedMark = '[redacted]';

/** A deep copy in which every secret field is blanked out, at any depth. The name of a secret is not a secret. */
export function redact(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(redact);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, isSecretField(key) ? blank(inner) : redact(inner)]),
  );
}

/** True if it holds a secret's value, at any depth, and not only its name. */
export function holdsSecret(value: unknown): boolean {
  if (value === null || typeof value !== 'object') return false;
  return Object.entries(value).some(([key, inner]) =>
    isSecretField(key) ? !secretReferenceSchema().safeParse(inner).success : holdsSecret(inner),
  );
}

function blank(secret: unknown): unknown {
  return secretReferenceSchema().safeParse(secret).success ? secret : redactedMark;
}
