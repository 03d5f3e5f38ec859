/** A time as a person reads it: `2026-11-22 09:30:00 UTC`. */
export function inWords(time: string): string {
  return `${time.slice(0, 19).replace('T', ' ')} UTC`;
}
