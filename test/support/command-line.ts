/** The command line as somebody runs it: a process of its own, with nothing of our environment but what it is given. */
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { Readable } from 'node:stream';
import { run } from '../../src/cli/program';
import { programOf } from './programs';

export interface Ended {
  status: number | null;
  out: string;
  err: string;
}

export interface Running {
  ended: Promise<Ended>;
  /**
   * Resolves when standard output (or `err`: standard error) has shown the text; rejects when the process ended
   * without.
   */
  shows: (text: string, where?: 'out' | 'err') => Promise<void>;
  child: ChildProcessWithoutNullStreams;
}

export function startCommand(
  args: readonly string[],
  environment: Record<string, string> = {},
  program: 'starter' | 'worker' = 'starter',
): Running {
  const child = spawn(process.execPath, [programOf(program), ...args], {
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...environment },
  });
  const said = { out: '', err: '' };
  const listeners = new Set<() => void>();
  const collect = (where: 'out' | 'err') => (chunk: Buffer) => {
    said[where] += chunk.toString();
    listeners.forEach((listener) => {
      listener();
    });
  };
  child.stdout.on('data', collect('out'));
  child.stderr.on('data', collect('err'));
  // It may have seen enough of its input before we have written all.
  child.stdin.on('error', () => undefined);
  const ended = new Promise<Ended>((resolve) => {
    child.once('close', (status) => {
      resolve({ status, ...said });
    });
  });
  const shows = (text: string, where: 'out' | 'err' = 'out') =>
    new Promise<void>((resolve, reject) => {
      const look = () => {
        if (!said[where].includes(text)) return;
        listeners.delete(look);
        resolve();
      };
      listeners.add(look);
      look();
      void ended.then(({ status, out, err }) => {
        reject(new Error(`ended with ${status} and never showed ${text}:\n${out}\n${err}`));
      });
    });
  return { ended, shows, child };
}

/** @param input what standard input holds */
export function runCommand(
  args: readonly string[],
  environment: Record<string, string> = {},
  input: string | Buffer = '',
): Promise<Ended> {
  const { child, ended } = startCommand(args, environment);
  child.stdin.end(input);
  return ended;
}

/**
 * In this process: what it takes to run one of its own is a second each time. One at a time, where the environments
 * differ.
 *
 * @param environment instead of this process's own
 * @param isTTY as a terminal that a person watches, a narrow one
 */
export async function runHere(
  args: readonly string[],
  input = '',
  environment?: Record<string, string>,
  isTTY = false,
): Promise<Ended> {
  const said = { out: '', err: '' };
  const stream = (where: 'out' | 'err') => ({ isTTY, columns: 40, write: (text: string) => (said[where] += text) });
  const terminal = { out: stream('out'), err: stream('err'), stdin: Readable.from(input === '' ? [] : [input]) };
  const outside = process.env;
  if (environment !== undefined) process.env = { HOME: outside['HOME'], ...environment };
  try {
    return { status: await run(args, terminal), ...said };
  } finally {
    process.env = outside;
  }
}
