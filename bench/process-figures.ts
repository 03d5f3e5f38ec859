/** The operating system's figures of a process. Linux only; elsewhere there are none. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { loadavg } from 'node:os';

/** The kernel counts in hundredths of a second, on every architecture. */
const tickMs = 10;

/**
 * Processor time of all its threads so far; of a server that has a process for each connection with that of its
 * children, also of those that ended.
 */
export function cpuMs(pid: number, withChildren = false): number | undefined {
  const own = statOf(pid);
  if (own === undefined) return undefined;
  const children = withChildren
    ? processes()
        .map(statOf)
        .filter((stat) => stat?.parent === pid)
    : [];
  const ended = withChildren ? own.cutime + own.cstime : 0;
  return [own, ...children].reduce((ticks, stat) => ticks + (stat ? stat.utime + stat.stime : 0), ended) * tickMs;
}

function processes(): number[] {
  return existsSync('/proc') ? readdirSync('/proc').map(Number).filter(Number.isInteger) : [];
}

interface Stat {
  parent: number;
  utime: number;
  stime: number;
  /** Those of children that have ended. */
  cutime: number;
  cstime: number;
}

function statOf(pid: number): Stat | undefined {
  const stat = read(`/proc/${pid}/stat`);
  if (stat === undefined) return undefined;
  // The name, in parentheses, may hold anything; the state is the first field after it, and field 3 of them all.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const of = (field: number) => Number(fields[field - 3] ?? NaN);
  return { parent: of(4), utime: of(14), stime: of(15), cutime: of(16), cstime: of(17) };
}

/** Memory that it holds now. */
export function residentMiB(pid: number): number | undefined {
  const kib = /^VmRSS:\s+(\d+) kB$/m.exec(read(`/proc/${pid}/status`) ?? '')?.[1];
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
