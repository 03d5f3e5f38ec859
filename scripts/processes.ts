/**
 * Our programs as processes, as an operator runs them: settings in the environment, a line when they are ready. They do
 * not outlive this process, but where one stands still.
 */
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { createInterface } from 'node:readline';
import { join, resolve as resolvePath } from 'node:path';
import type { Readable } from 'node:stream';

const root = join(__dirname, '..');

interface Exit {
  status: number | null;
  signal: NodeJS.Signals | null;
}

export interface RunningProcess {
  /** The line that it printed when it was ready. */
  readonly ready: string;
  readonly pid: number;
  /** Standard error so far. */
  errors: () => string;
  /** Resolves when the process has ended. */
  readonly exited: Promise<Exit>;
  /** Sends the signal, if the process still runs, and waits for its end. */
  kill: (signal: NodeJS.Signals) => Promise<Exit>;
}

/**
 * @param program a path in the project: a source or a compiled file
 * @param flags of Node's own
 * @throws with its output, when it ends before it is ready
 */
export async function startProcess(
  program: string,
  environment: Record<string, string>,
  flags: readonly string[] = [],
): Promise<RunningProcess> {
  const loader = program.endsWith('.ts') ? ['--import', 'tsx'] : [];
  const tether = ['--require', require.resolve('./with-parent.cjs')];
  const child = spawn(process.execPath, [...flags, ...tether, ...loader, resolvePath(root, program)], {
    cwd: root,
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...environment },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  }) as ChildProcessByStdio<null, Readable, Readable>;
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  const exited = new Promise<Exit>((resolve) => {
    child.once('exit', (status, signal) => {
      resolve({ status, signal });
    });
  });
  const lines = createInterface({ input: child.stdout });
  const ready = await Promise.race([
    new Promise<string>((resolve) => lines.once('line', resolve)),
    exited.then(({ status }) => {
      throw new Error(`${program} ended with ${status} before it was ready:\n${errors}`);
    }),
  ]);
  // It printed that it is ready, so it has a process id.
  const pid = child.pid ?? 0;
  return {
    ready,
    pid,
    errors: () => errors,
    exited,
    kill: async (signal) => {
      child.kill(signal);
      return exited;
    },
  };
}
