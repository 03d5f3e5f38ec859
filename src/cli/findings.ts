/** The findings of `doctor` and `probe`, in one screen. */
import { exitStatus } from './exit-status';
import type { Printer } from './print';

export interface Found {
  what: string;
  /** `look`: it works, and somebody should know. */
  is: 'ok' | 'look' | 'wrong';
  found: string;
  /** The advice. */
  then?: string;
}

export const ok = (what: string, found: string): Found => ({ what, is: 'ok', found });
export const look = (what: string, found: string, then?: string): Found => ({ what, is: 'look', found, then });
export const wrong = (what: string, found: string, then?: string): Found => ({ what, is: 'wrong', found, then });

/** @param mark before each line. @returns the exit status */
export function printFindings(printer: Printer, found: readonly Found[], mark = ''): number {
  printer.table(found.map(({ what, is, found: text }) => [mark + is, what, text]));
  for (const { what, then } of found) if (then !== undefined) printer.line(`${mark}${what}: ${then}`);
  return found.some(({ is }) => is === 'wrong') ? exitStatus.refused : exitStatus.done;
}

export const messageOf = (error: unknown) =>
  error instanceof Error ? error.message.replace(/\s+/g, ' ') : String(error);
