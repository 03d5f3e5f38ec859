/** The secrets that are sent through everything, each unlike anything that could be there by chance. */
import { randomInt } from 'node:crypto';
import type { Canary } from './search';

/**
 * Every canary is awkward in every escape: quotes, slashes, signs of URLs and HTML, a letter that is two bytes long.
 */
function canary(name: string): Canary & { text: string } {
  const parts = [word(), word()];
  return { name, text: parts.join('"/<&%+é\\ '), parts };
}

/** Letters and digits: the same in most escapes, so that no form of the parts is missed. */
function word(): string {
  const letters = 'abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789';
  return Array.from({ length: 14 }, () => letters[randomInt(letters.length)]).join('');
}

/** In a header a token can only be what HTTP allows. */
function tokenCanary(name: string): Canary & { text: string } {
  const parts = [word(), word()];
  return { name, text: parts.join('/+=.'), parts };
}

export function makeSecrets() {
  const [key, script] = [canary('custom_ssh_key'), canary('custom_script')];
  return {
    password: canary('password'),
    key,
    script,
    keyBase64: Buffer.from(key.text).toString('base64'),
    scriptBase64: Buffer.from(script.text).toString('base64'),
    corrected: canary('corrected password'),
    refused: canary('refused password'),
    filed: canary('secret in a file'),
    token: tokenCanary('provider token'),
  };
}

export type Secrets = ReturnType<typeof makeSecrets>;

/** Words of people and answers of providers: people with the keys may read them, Temporal may not. */
export const makeConfided = () => canary('what is confided');

export function canariesOf(secrets: Secrets): Canary[] {
  return Object.values(secrets).filter((one): one is Canary & { text: string } => typeof one === 'object');
}
