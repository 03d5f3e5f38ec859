/** What the operating system knows of a process. Linux only; elsewhere there are no such figures. */
import { readFileSync } from 'node:fs';
import { loadavg } from 'node:os';

/** The kernel counts in hundredths of a second, on every architecture. */
const tickMs = 10;

/** Processor time of all its threads so far. */
export function cpuMs(pid: number): number | undefined {
  const stat = read(`/proc/${String(pid)}/stat`);
  if (stat === undefined) return undefined;
  // The name, in parentheses, may hold anything; the state is the first field after it, and field 3 of them all.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [utime, stime] = [fields[14 - 3], fields[15 - 3]].map(Number);
  return ((utime ?? NaN) + (stime ?? NaN)) * tickMs;
}

/** Memory that it holds now. */
export function residentMiB(pid: number): number | undefined {
  const kib = /^VmRSS:\s+(\d+) kB$/m.exec(read(`/proc/${String(pid)}/status`) ?? '')?.[1];
  return kib === undefined ? undefined : Number(kib) / 1_024;
}

/** Processes that ran or wanted to, over the last minute. */
export function load(): number {
  return loadavg()[0] ?? NaN;
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
