/** The `Retry-After` header (RFC 9110, 10.2.3): seconds, or a date in one of the formats that a recipient must accept. */

/**
 * `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT`, `Sun Nov  6 08:49:37 1994`: Date.parse alone accepts
 * almost any text with a number in it.
 */
const dateForm = /^[SMTWF][a-z]+,? [\w -]+ \d\d:[0-5]\d:[0-5]\d (?:GMT|\d{4})$/;

/** The statuses that say: not now. A proxy in front of the provider answers some of them, and means the same. */
const notNow: readonly number[] = [403, 408, 409, 423, 425, 429, 502, 503, 504];

/** A longer wait is none: it is a moment in seconds since 1970, or a date of another year. */
const longestMs = 24 * 60 * 60 * 1000;

/**
 * @param nowMs milliseconds since 1970.
 * @returns how many milliseconds the answer asks to wait; 0 for a date that has passed; undefined where it says nothing,
 *   or nothing that can be a delay.
 */
export function retryAfterOf(
  status: number,
  headers: Readonly<Record<string, string | string[] | undefined>>,
  nowMs: number,
): number | undefined {
  if (!notNow.includes(status)) return undefined;
  // If there are several, the first counts.
  const [value = ''] = [headers['retry-after']].flat().map((header) => header?.trim());
  // By the clock that the date is from: it may be minutes off ours.
  const sentMs = dateIn([headers['date']].flat()[0] ?? '');
  const waitMs = /^\d+$/.test(value)
    ? Number(value) * 1000
    : Math.max(0, dateIn(value) - (Number.isNaN(sentMs) ? nowMs : sentMs));
  return waitMs <= longestMs ? waitMs : undefined;
}

function dateIn(value: string): number {
  return dateForm.test(value) ? Date.parse(`${value.replace(/ GMT$/, '')} GMT`) : NaN;
}
