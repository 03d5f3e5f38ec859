/**
 * The kinds of settings: how a text of the environment is parsed, and the message when it is invalid. Each number has a
 * minimum and a maximum; `test/docs/bounds.test.ts` finds a setting that has none.
 */
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { z } from 'zod';
import type { RetryBudget } from '../activities/settings';
import { hasCredentials } from '../domain/notifications';
import { cloudServerPlanTypes, readPlanType } from '../domain/plan-types';
import { parsePriceList } from './price-list';
import { parseSpendLimits } from '../domain/spending';

export interface ListenAddress {
  /** IPv4 or IPv6, without brackets. */
  host: string;
  /** 0: any free port. */
  port: number;
}

export const text = z.string().trim().min(1, 'must not be empty');
export const flag = z.enum(['true', 'false'], 'must be true or false').transform((value) => value === 'true');
export const whole = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d+$/, `must be a whole number from ${min} to ${max}`)
    .transform(Number)
    .refine((value) => value >= min && value <= max, `must be from ${min} to ${max}`);
/** A number, with or without a fraction. */
export const rate = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d+(\.\d+)?$/, `must be a number from ${min} to ${max}, like 5 or 0.5`)
    .transform(Number)
    .refine((value) => value >= min && value <= max, `must be from ${min} to ${max}`);
export const list = z.string().transform((value) =>
  value
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== ''),
);
export const planTypes = list.refine(
  (all) => all.every((entry) => readPlanType(entry) !== undefined && !isOther(entry)),
  'must be plan types, comma-separated, each with :server, :other or nothing after it; the document’s cloud servers cannot be :other',
);
export const pointers = list.refine(
  (all) => all.every((pointer) => pointer === '' || pointer.startsWith('/')),
  'must be JSON pointers, comma-separated, each beginning with /',
);

/** Whether an entry says `:other` of a plan type that the document calls a cloud server. */
function isOther(entry: string): boolean {
  const { name = '', kind } = readPlanType(entry) ?? {};
  return kind === 'other' && cloudServerPlanTypes.includes(name);
}

/** Both included. */
type Bounds = readonly [min: number, max: number];

const hourMs = 3_600_000;

/**
 * Two calls are at most an hour apart, and all of them take at most a day: longer waits would hide that the provider is
 * down.
 */
const budgetBounds: readonly Bounds[] = [
  [0, hourMs],
  [0, hourMs],
  [0, 24 * hourMs],
];

/**
 * `attempts,backoffMs,backoffMaxMs,totalMs`. @param attemptsMax so that a history has room for them; see
 * `src/domain/limits.ts`
 */
export const budget = (attemptsMax: number) => {
  const bounds: readonly Bounds[] = [[1, attemptsMax], ...budgetBounds];
  const inWords = bounds.map(([min, max]) => `${min} to ${max}`).join(', ');
  return z
    .string()
    .regex(/^\d+(,\d+){3}$/, 'must be four whole numbers: attempts,backoffMs,backoffMaxMs,totalMs')
    .transform((value) => value.split(',').map(Number))
    .refine(
      (values) => values.every((value, index) => isWithin(value, bounds[index])),
      `must be within attempts,backoffMs,backoffMaxMs,totalMs of ${inWords}`,
    )
    .transform(([attemptsMax = 1, backoffMs = 0, backoffMaxMs = 0, totalMs = 0]): RetryBudget => {
      return { attemptsMax, backoffMs, backoffMaxMs, totalMs };
    });
};

function isWithin(value: number, [min, max]: Bounds = [0, 0]): boolean {
  return value >= min && value <= max;
}

export const statuses = list
  .refine((all) => all.every((status) => /^[45]\d\d$/.test(status)), 'must be statuses like 429,503')
  .transform((all) => all.map(Number));

/** `/pointer=value` or `/pointer`. */
export const placedIf = list
  .refine(
    (all) => all.every((one) => /^\/[^=]*(=.+)?$/.test(one)),
    'must be JSON pointers, comma-separated, each with = and a value or without: /order_id,/status=ok',
  )
  .transform((all) =>
    all.map((one) => {
      const [pointer = '', ...value] = one.split('=');
      return value.length === 0 ? { pointer } : { pointer, is: value.join('=') };
    }),
  );

export const parsedBy = <T>(parse: (value: string) => T, expected: string) =>
  z.string(expected).transform((value, context) => {
    try {
      return parse(value);
    } catch (error) {
      context.addIssue({ code: 'custom', message: `${expected}: ${(error as Error).message}` });
      return z.NEVER;
    }
  });

export const spendLimits = parsedBy(
  parseSpendLimits,
  'must be limits like AB-1=20 servers/1d, *=500 usd/30d, comma-separated',
);

export const priceList = parsedBy(
  (path) => parsePriceList(readFileSync(path, 'utf8')),
  'must be a file with a price list, as docs/settings.md has it',
);

export const origins = list.refine(
  (all) => all.every((origin) => /^https?:/.test(origin) && URL.canParse(origin) && new URL(origin).origin === origin),
  'must be origins like https://temporal.example, comma-separated, with nothing after the host or port',
);

/** An IP address and a port to listen on. A host name may have several addresses, so it is not accepted. */
export const listenAddress = (portMin: number) =>
  z.string().transform((value, context): ListenAddress => {
    const [, name = '', digits] = /^(\[[^\]]+\]|[^:]+):(\d{1,5})$/.exec(value) ?? [];
    const host = name.replace(/^\[|\]$/g, '');
    const port = Number(digits);
    if (isIP(host) !== 0 && port >= portMin && port <= 65_535) return { host, port };
    context.addIssue({ code: 'custom', message: 'must be an IP address and a port, like 0.0.0.0:9464' });
    return z.NEVER;
  });

/** The base URL of a service: paths are appended to it. */
export const serviceUrl = (expected: string) =>
  z
    .url({ protocol: /^https?$/, error: expected })
    .refine(
      (url) => !/[?#]/.test(url) && !(URL.canParse(url) && hasCredentials(new URL(url))),
      'must have no credentials, no query and no fragment',
    );
