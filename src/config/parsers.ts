/** How a text of the environment is parsed, and the message when it is invalid. docs/settings.md prints the bounds. */
import { isIP } from 'node:net';
import { z } from 'zod';
import type { RetryBudget } from '../activities/settings';
import { parseJson } from '../domain/json';
import { hasCredentials } from '../domain/notifications';
import { describeProblems } from '../domain/problems';
import { httpProfile, profileSchema, type Profile } from '../domain/profile';
import { parseTokens } from '../security/codec-server/authentication';
import { keysInFile, parsePayloadKeys } from '../security/keys';
import { isCertificate } from './checks';
import { parsePriceList } from './price-list';
import { parseSpendLimits } from '../domain/spending';
import { check } from '../domain/validation';
import { readText, type Given, type ListenAddress } from './settings';

export const text = z.string().trim().min(1, 'must not be empty');
export const oneOf = <const T extends readonly string[]>(...words: T) =>
  z.enum(words, `must be ${words.slice(0, -1).join(', ')} or ${words.at(-1)}`);
export const flag = oneOf('true', 'false').transform((value) => value === 'true');
const numeric = (form: RegExp, what: string) => (min: number, max: number) =>
  z
    .string()
    .regex(form, `must be ${what} from ${min} to ${max}`)
    .transform(Number)
    .refine((value) => value >= min && value <= max, `must be from ${min} to ${max}`)
    .meta({ bounds: `${min} to ${max}` });
export const whole = numeric(/^\d+$/, 'a whole number');
export const rate = numeric(/^\d+(\.\d+)?$/, 'a number, like 5 or 0.5,');
const list = z.string().transform((value) =>
  value
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== ''),
);
export const listOf = (isOne: (part: string) => boolean, expected: string) =>
  list.refine((all) => all.every(isOne), `${expected}, comma-separated`);
const hourMs = 3_600_000;

const budgetPart = (name: string, min: number, max: number) => {
  const message = `must be attempts,backoffMs,backoffMaxMs,totalMs, with ${name} from ${min} to ${max}`;
  return z.number().min(min, message).max(max, message);
};

/** Ten attempts have room in a history (src/domain/limits.ts); longer waits would hide that the provider is down. */
export const budget = z
  .string()
  .regex(/^\d+(,\d+){3}$/, 'must be four whole numbers: attempts,backoffMs,backoffMaxMs,totalMs')
  .transform((value) => value.split(',').map(Number))
  .pipe(
    z.tuple([
      budgetPart('attempts', 1, 10),
      budgetPart('backoffMs', 0, hourMs),
      budgetPart('backoffMaxMs', 0, hourMs),
      budgetPart('totalMs', 0, 24 * hourMs),
    ]),
  )
  .transform(([attemptsMax, backoffMs, backoffMaxMs, totalMs]): RetryBudget => {
    return { attemptsMax, backoffMs, backoffMaxMs, totalMs };
  })
  .meta({ bounds: `1 to 10, 0 to ${hourMs}, 0 to ${hourMs}, 0 to ${24 * hourMs}` });

export const statuses = listOf((status) => /^[45]\d\d$/.test(status), 'must be statuses like 429,503')
  .transform((all) => all.map(Number))
  .meta({ bounds: '400 to 599' });

/** Each one a second at least, and at most a month. */
export const delays = z
  .string()
  .regex(/^(none|\d+(,\d+){0,19})$/, 'must be none, or up to 20 whole numbers, comma-separated')
  .transform((value) => (value === 'none' ? [] : value.split(',').map(Number)))
  .refine((all) => all.every((ms) => ms >= 1_000 && ms <= 720 * hourMs), `must be from 1000 to ${720 * hourMs} each`)
  .meta({ bounds: `1000 to ${720 * hourMs}` });

/** @param parse throws an error whose message has no value in it */
export const parsedBy = <I, O>(input: z.ZodType<I>, parse: (value: I) => O, expected?: string) =>
  input.transform((value, context) => {
    try {
      return parse(value);
    } catch (error) {
      const { message } = error as Error;
      context.addIssue(expected === undefined ? message : `${expected}: ${message}`);
      return z.NEVER;
    }
  });

export const spendLimits = parsedBy(
  z.string(),
  parseSpendLimits,
  'must be limits like AB-1=20 servers/1d, *=500 USD/30d, comma-separated',
);

export const priceList = parsedBy(
  z.string(),
  (path) => parsePriceList(readText(path)),
  'must be a file with a price list, as docs/settings.md has it',
);

/** A provider's profile: in a file, or the one that is known by its name. @throws Error that says which field is wrong */
export function readProfile(pathOrName: string): Profile {
  if (pathOrName === 'http') return httpProfile();
  const read = check(profileSchema(), parseJson(readText(pathOrName), 'the file'));
  if (read.ok) return read.value;
  throw new Error(describeProblems(read.problems));
}

export const profile = parsedBy(z.string(), readProfile, 'must be http, or a file as docs/profile.md has it');

export const fileText = parsedBy(z.string(), (path) => readText(path));
export const certificateFile = fileText.refine(isCertificate, 'must be the PEM of a certificate');

/** For a setting that may also come from a file. */
export const given = z.custom<Given>();

/** A file is read again later: its keys may be replaced while the program runs. */
export const payloadKeys = parsedBy(given, ({ text, file }) =>
  file === undefined ? parsePayloadKeys(text) : keysInFile(file),
);

/** A file is read for each use. */
export const token = given.transform(
  ({ text, file }) =>
    () =>
      file === undefined ? text : readText(file),
);

export const callerTokens = parsedBy(
  given,
  ({ text }) => parseTokens(text),
  'must be tokens, or label:token, comma-separated or one per line',
);

export const origins = listOf(
  (origin) => /^https?:/.test(origin) && URL.canParse(origin) && new URL(origin).origin === origin,
  'must be origins like https://temporal.example, with nothing after the host or port',
);

/** An IP address and a port to listen on. A host name may have several addresses, so it is not accepted. */
export const listenAddress = (portMin: number) =>
  parsedBy(z.string(), (value): ListenAddress => {
    const [, name = '', digits] = /^(\[[^\]]+\]|[^:]+):(\d{1,5})$/.exec(value) ?? [];
    const host = name.replace(/^\[|\]$/g, '');
    const port = Number(digits);
    if (isIP(host) !== 0 && port >= portMin && port <= 65_535) return { host, port };
    throw new Error('must be an IP address and a port, like 0.0.0.0:9464');
  }).meta({ bounds: `port ${portMin} to 65535` });

/** The base URL of a service: paths are appended to it. */
export const serviceUrl = (expected: string) =>
  z
    .url({ protocol: /^https?$/, error: expected })
    .refine(
      (url) => !/[?#]/.test(url) && !(URL.canParse(url) && hasCredentials(new URL(url))),
      'must have no credentials, no query and no fragment',
    );
