/** What options take, and what is said where it does not fit. */
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

export function positive(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError('It must be a whole number from 1 to 999999.');
  return Number(text);
}

/** The client checks the range. */
export function count(text: string): number {
  if (!/^\d{1,6}$/.test(text)) throw new InvalidArgumentError('It must be a whole number from 0 to 999999.');
  return Number(text);
}

const unitsMs = { m: 60_000, h: 60 * 60_000, d: 24 * 60 * 60_000 } as const;

/** The client checks the range. @returns milliseconds */
export function period(text: string): number {
  const [, number, unit] = /^(\d{1,4})([mhd])$/.exec(text) ?? [];
  if (unit === undefined) throw new InvalidArgumentError('It must be a time, like 30m, 1h or 1d.');
  return Number(number) * unitsMs[unit as keyof typeof unitsMs];
}
