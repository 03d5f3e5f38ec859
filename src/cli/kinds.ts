/** Parsers of options, with the sentence for a value that does not fit; and times in words. */
import { InvalidArgumentError } from 'commander';

/** The client checks the range. */
export function rate(text: string): number {
  const [, digits] = /^(\d{1,6}(?:\.\d{1,6})?)(?:\/s)?$/.exec(text) ?? [];
  if (digits === undefined) throw new InvalidArgumentError('It must be a number, like 5 or 0.5/s.');
  return Number(digits);
}

/** The object id of a server. */
export function objectId(text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text))
    throw new InvalidArgumentError('It must be the object id of a server, like 70001.');
  return Number(text);
}

export const positiveTo =
  (max: number) =>
  (text: string): number => {
    if (/^[1-9]\d{0,5}$/.test(text) && Number(text) <= max) return Number(text);
    throw new InvalidArgumentError(`It must be a whole number from 1 to ${max}.`);
  };
export const positive = positiveTo(999_999);

/** The client checks the range. */
export function count(text: string): number {
  if (!/^\d{1,6}$/.test(text)) throw new InvalidArgumentError('It must be a whole number from 0 to 999999.');
  return Number(text);
}

/** A day begins at midnight in UTC; a period counts back from now. @returns milliseconds since 1970 */
export function moment(text: string): number {
  if (/^\d{1,4}[mhd]$/.test(text)) return Date.now() - period(text);
  const isTime = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/.test(text);
  const ms = isTime ? Date.parse(text) : NaN;
  if (Number.isNaN(ms)) throw new InvalidArgumentError('It must be like 2026-11-01, 2026-11-01T09:00Z or 30d.');
  return ms;
}

const unitsMs = { d: 24 * 60 * 60_000, h: 60 * 60_000, m: 60_000 } as const;

/** The client checks the range. @returns milliseconds */
export function period(text: string): number {
  const [, number, unit] = /^(\d{1,4})([mhd])$/.exec(text) ?? [];
  if (unit === undefined) throw new InvalidArgumentError('It must be a time, like 30m, 1h or 1d.');
  return Number(number) * unitsMs[unit as keyof typeof unitsMs];
}

/** The two greatest units that are not 0: `3d 4h`, `30m`. */
export function timeInWords(ms: number): string {
  let rest = Math.max(0, ms);
  const parts = Object.entries(unitsMs).map(([unit, unitMs]): [number, string] => {
    const number = Math.floor(rest / unitMs);
    rest -= number * unitMs;
    return [number, unit];
  });
  const first = parts.findIndex(([number]) => number > 0);
  const shown = parts.slice(first, first + 2).filter(([number]) => number > 0);
  return shown.map(([number, unit]) => `${number}${unit}`).join(' ') || '0m';
}
