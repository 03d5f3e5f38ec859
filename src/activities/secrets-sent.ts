/**
 * The values of the secrets that came with a call, which an answer must not show: secrets by name are looked up here.
 */
import type { SentSecrets } from '../domain/secrets';
import type { Journal } from '../journal/journal';
import type { Secrets } from '../provider/client';
import type { SecretResolver } from '../security/secret-resolver';
import { sagaOf } from './call';

/** @returns 'unknown' where one cannot be read here: then nothing of an answer is shown */
export type ReadSentSecrets = (sent: SentSecrets | undefined) => Promise<Secrets>;

/**
 * A secret by its name may have been rotated since it was sent, and the provider quotes what was sent. The journal has
 * digests of that: where the value of now is another one, what was sent is not known any more.
 */
export function createReadSentSecrets(secrets: SecretResolver, journal: Journal): ReadSentSecrets {
  return async (sent = []) => {
    if (sent === 'unknown') return sent;
    const known = sent.filter((one) => typeof one === 'string');
    const names = sent.flatMap((one) => (typeof one === 'string' ? [] : [one.secret]));
    if (names.length === 0) return known;
    const calls = await journal.digestsSent(sagaOf().saga).catch(() => undefined);
    if (calls === undefined) return 'unknown';
    for (const name of names) {
      const value = await secrets.resolve(name).catch(() => undefined);
      if (value === undefined) return 'unknown';
      const sentThen = calls.flatMap(({ [name]: digests }) => (digests === undefined ? [] : [digests]));
      const now = sentThen.length > 0 ? await journal.sealing.secretDigests(value) : [];
      if (!sentThen.every((digests) => digests.some((digest) => now.includes(digest)))) return 'unknown';
      known.push(value);
    }
    return known;
  };
}
