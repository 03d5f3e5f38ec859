/** Runs a program of this machine to its end. */
import { spawn } from 'node:child_process';

export interface Said {
  status: number;
  stdout: string;
  stderr: string;
  /** Both, in the order in which they came. */
  all: string;
}

export interface CommandOptions {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  input?: string;
  /** After this it is ended, and counts as failed. @default ten minutes */
  withinMs?: number;
}

export type Command = (args: readonly string[], options?: CommandOptions) => Promise<Said>;

/** @returns what it said, whatever its status; -1 if it could not be started or took too long */
export async function attempt(
  command: string,
  args: readonly string[],
  { cwd, env = process.env, input = '', withinMs = 600_000 }: CommandOptions = {},
): Promise<Said> {
  const child = spawn(command, args, { cwd, env, stdio: 'pipe', timeout: withinMs, killSignal: 'SIGKILL' });
  const said: Said = { status: -1, stdout: '', stderr: '', all: '' };
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].setEncoding('utf8').on('data', (text: string) => {
      said[stream] += text;
      said.all += text;
    });
  }
  // It may end before it has read everything.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  return new Promise((resolve) => {
    child.once('error', ({ message }) => resolve({ ...said, all: message, stderr: message }));
    child.once('close', (status) => resolve({ ...said, status: status ?? -1 }));
  });
}

/** @throws with the end of what it said, unless its status is 0 */
export async function run(command: string, args: readonly string[], options: CommandOptions = {}): Promise<Said> {
  return succeeded(await attempt(command, args, options), [command, ...args]);
}

export function succeeded(said: Said, words: readonly string[]): Said {
  if (said.status === 0) return said;
  const line = words.join(' ').slice(0, 200);
  throw new Error(`${line} ended with ${said.status}:\n${said.all.trim().slice(-3_000)}`);
}
