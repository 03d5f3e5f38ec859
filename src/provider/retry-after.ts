/**
 * The `Retry-After` header (RFC 9110, 10.2.3): seconds, or a date in one of the three formats that a recipient must
 * accept.
 */

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

const dateForms = [
  // Sun, 06 Nov 1994 08:49:37 GMT
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), (?<day>\d\d) (?<month>[A-Z][a-z]{2}) (?<year>\d{4}) (?<time>\d\d:\d\d:\d\d) GMT$/,
  // Sunday, 06-Nov-94 08:49:37 GMT (obsolete)
  /^(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, (?<day>\d\d)-(?<month>[A-Z][a-z]{2})-(?<year>\d\d) (?<time>\d\d:\d\d:\d\d) GMT$/,
  // Sun Nov  6 08:49:37 1994 (obsolete)
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) (?<month>[A-Z][a-z]{2}) (?<day>[ \d]\d) (?<time>\d\d:\d\d:\d\d) (?<year>\d{4})$/,
];

/** The statuses that say: not now. A proxy in front of the provider answers some of them, and means the same. */
const notNow: readonly number[] = [408, 429, 502, 503, 504];

/** A longer wait is not meant: it is a moment in seconds since 1970, or a date of another year. */
const longestMs = 24 * 60 * 60 * 1000;

/** @returns how long the answer asks to wait, as {@link readRetryAfter} */
export function retryAfterOf(
  status: number,
  headers: Readonly<Record<string, string | string[] | undefined>>,
  nowMs: number,
): number | undefined {
  return notNow.includes(status) ? readRetryAfter(headers['retry-after'], nowMs) : undefined;
}

/**
 * @param header the header's value; if there are several, the first counts.
 * @param nowMs milliseconds since 1970.
 * @returns milliseconds to wait; 0 for a date that has passed; undefined where the header is missing or invalid, or
 *   cannot be a delay.
 */
export function readRetryAfter(header: string | readonly string[] | undefined, nowMs: number): number | undefined {
  const waitMs = readWait(header, nowMs);
  return waitMs === undefined || waitMs > longestMs ? undefined : waitMs;
}

function readWait(header: string | readonly string[] | undefined, nowMs: number): number | undefined {
  const value = (typeof header === 'string' ? header : header?.[0])?.trim();
  if (value === undefined) return undefined;
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  const dateMs = readHttpDate(value, nowMs);
  return dateMs === undefined ? undefined : Math.max(0, dateMs - nowMs);
}

/** Date.parse is not used, because it accepts almost any text with a number in it as a date. */
function readHttpDate(value: string, nowMs: number): number | undefined {
  const parts = dateForms.map((form) => form.exec(value)?.groups).find((groups) => groups !== undefined);
  if (parts === undefined) return undefined;
  const month = months.indexOf(parts['month'] ?? '');
  const day = Number(parts['day']);
  const [hour = NaN, minute = NaN, second = NaN] = (parts['time'] ?? '').split(':').map(Number);
  // A second of 60 is a leap second, and allowed.
  if (month < 0 || day < 1 || hour > 23 || minute > 59 || second > 60) return undefined;
  const year = fullYear(parts['year'] ?? '', nowMs);
  const date = new Date(Date.UTC(year, month, day));
  if (date.getUTCMonth() !== month) return undefined;
  return date.getTime() + ((hour * 60 + minute) * 60 + second) * 1000;
}

/** A year of two digits is the latest such year that is at most 50 years in the future. */
function fullYear(digits: string, nowMs: number): number {
  if (digits.length > 2) return Number(digits);
  const latest = new Date(nowMs).getUTCFullYear() + 50;
  const year = latest - (latest % 100) + Number(digits);
  return year > latest ? year - 100 : year;
}
