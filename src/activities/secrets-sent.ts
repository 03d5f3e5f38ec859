/**
 * The values of the secrets that came with a call, which an answer must not show: secrets by name are looked up here.
 */
import type { SentSecrets } from '../domain/secrets';
import type { Secrets } from '../provider/client';
import type { SecretResolver } from '../security/secret-resolver';

/** @returns 'unknown' where one cannot be read here: then nothing of an answer is shown */
export type ReadTold = (sent: SentSecrets | undefined) => Promise<Secrets>;

export function createReadTold(secrets: SecretResolver): ReadTold {
  return async (sent = []) => {
    if (sent === 'unknown') return sent;
    const values = await Promise.all(
      sent.map(async (one) => (typeof one === 'string' ? one : secrets.resolve(one.secret).catch(() => undefined))),
    );
    const known = values.filter((value) => value !== undefined);
    return known.length === values.length ? known : 'unknown';
  };
}
