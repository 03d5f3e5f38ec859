/** Times in words, as they are shown and as they are typed. */
const units = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
] as const;

/** `30m`, `1h` or `1d`. @returns milliseconds; undefined for any other text */
export function readPeriod(text: string): number | undefined {
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

/** A time with its age: `2026-11-01T12:00:00.000Z (3h 20m ago)`. */
export function withAge(time: Date | string): string {
  const at = new Date(time);
  return `${at.toISOString()} (${inUnits(Date.now() - at.getTime())} ago)`;
}
