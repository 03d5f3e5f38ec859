/** Numbers, times and ids, as they are typed and as they are shown. */
import { InvalidArgumentError } from 'commander';
import { inWords, periods } from '../domain/times';

const units: [name: string, ms: number][] = [...Object.entries(periods), ['s', 1_000]];

/** `30m`, `1h` or `1d`. @returns milliseconds; undefined for any other text */
function readPeriod(text: string): number | undefined {
  const [, number, unit] = /^(\d{1,4})([mhd])$/.exec(text) ?? [];
  const [, size] = units.find(([name]) => name === unit) ?? [];
  return size && Number(number) * size;
}

/** `3h 20m`: in the two largest units that say something. @param ms negative counts as 0: clocks differ */
export function inUnits(ms: number): string {
  const from = units.findIndex(([, size]) => ms >= size);
  if (from === -1) return '0s';
  let rest = ms;
  const parts = units.slice(from, from + 2).map(([unit, size]) => {
    const count = Math.floor(rest / size);
    rest -= count * size;
    return count === 0 ? '' : `${count}${unit}`;
  });
  return parts.join(' ').trim();
}

/** A time with its age: `2026-11-01 12:00:00 UTC (3h 20m ago)`. */
export function withAge(time: Date | string): string {
  return `${inWords(time)} (${inUnits(Date.now() - new Date(time).getTime())} ago)`;
}

const numeric = (form: RegExp, what: string) => (text: string) => {
  if (form.test(text)) return parseFloat(text);
  throw new InvalidArgumentError(`It must be ${what}.`);
};

/** The client checks the range. */
export const rate = numeric(/^\d{1,6}(\.\d{1,6})?(\/s)?$/, 'a number, like 5 or 0.5/s');

/** The object id of a server. */
export const objectId = numeric(/^[1-9]\d{0,14}$/, 'the object id of a server, like 70001');

export const whole =
  (min: number, max = 999_999) =>
  (text: string): number => {
    if (/^\d{1,6}$/.test(text) && Number(text) >= min && Number(text) <= max) return Number(text);
    throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
  };

/** A day begins at midnight in UTC; a period counts back from now. @returns milliseconds since 1970 */
export function moment(text: string): number {
  const ago = readPeriod(text);
  const ms = ago === undefined ? readTime(text) : Date.now() - ago;
  if (Number.isNaN(ms)) throw new InvalidArgumentError('It must be like 2026-11-01, 2026-11-01T09:00Z or 30d.');
  return ms;
}

/** @returns milliseconds since 1970; NaN for what is neither a day nor a time with its offset */
export function readTime(text: string): number {
  const isTime = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/.test(text);
  // The engine takes the 31st of November for the 1st of December.
  const isDay = new Date(text.slice(0, 10)).getUTCDate() === Number(text.slice(8, 10));
  return isTime && isDay ? Date.parse(text) : NaN;
}

/** The client checks the range. @returns milliseconds */
export function period(text: string): number {
  const ms = readPeriod(text);
  if (ms === undefined) throw new InvalidArgumentError('It must be a time, like 30m, 1h or 1d.');
  return ms;
}
