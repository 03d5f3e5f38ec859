/** As they are written, `1d` or `90m`, in milliseconds; the longest first. */
export const periods = { d: 86_400_000, h: 3_600_000, m: 60_000 } as const;

/** A time as a person reads it: `2026-11-22 09:30:00 UTC`. */
export function inWords(time: Date | string): string {
  const iso = typeof time === 'string' ? time : time.toISOString();
  return `${iso.slice(0, 19).replace('T', ' ')} UTC`;
}
