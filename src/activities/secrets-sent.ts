/** The values that an answer must not show, of the secrets that came with a call: those by name are looked up here. */
import type { SentSecrets } from '../domain/secrets';
import type { Secrets } from '../provider/client';
import type { SecretResolver } from '../security/secret-resolver';

/** @returns 'unknown' where one cannot be read here: then nothing of an answer is shown */
export type ReadTold = (told: SentSecrets | undefined) => Promise<Secrets>;

export function createReadTold(secrets: SecretResolver): ReadTold {
  return async (told = []) => {
    if (told === 'unknown') return told;
    const values = await Promise.all(
      told.map(async (one) => (typeof one === 'string' ? one : secrets.resolve(one.secret).catch(() => undefined))),
    );
    const known = values.filter((value) => value !== undefined);
    return known.length === values.length ? known : 'unknown';
  };
}
