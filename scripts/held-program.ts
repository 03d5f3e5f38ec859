/** A program that ends when its parent ends, however the parent ends: `tethered.mjs` is between the two. */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

export interface HeldProgram {
  readonly pid: number;
  /** Ends the program, gracefully if TETHERED_GRACE_MS is set. A second call changes nothing. */
  stop: () => Promise<void>;
  /** SIGKILL, as in a crash. */
  kill: () => Promise<void>;

  /** Never resolves; rejects when the program ends. */
  failed: Promise<never>;
  /** From now on the program does not keep this process alive. */
  release: () => void;
}

/**
 * @param settings environment variables for `tethered.mjs` and the program
 * @throws when the program cannot be started
 */
export async function holdProgram(
  command: string,
  args: readonly string[],
  settings: Record<string, string>,
): Promise<HeldProgram> {
  const tether = fork(join(__dirname, 'tethered.mjs'), [command, ...args], {
    // Without the parent's loaders, and in a group of its own: Ctrl-C is for the parent, which may still need the
    // server.
    execArgv: [],
    detached: true,
    stdio: 'ignore',
    env: { ...withoutTemporal(process.env), ...settings },
  });
  const exited = once(tether, 'exit');
  const failed = untilEnded(tether, command);
  // Matters only to a caller that still waits for readiness.
  failed.catch(() => undefined);
  const pid = await Promise.race([untilRunning(tether), failed]);
  return {
    pid,
    failed,
    release: () => {
      tether.unref();
      tether.channel?.unref();
    },
    stop: async () => {
      tether.ref();
      if (tether.connected) tether.disconnect();
      await exited;
    },
    kill: async () => {
      tether.ref();
      if (tether.exitCode === null && tether.signalCode === null) process.kill(pid, 'SIGKILL');
      await exited;
    },
  };
}

/** Starts the program and waits until it is ready; ends it if it does not become ready. @throws with its last output */
export async function readied(
  program: Promise<HeldProgram>,
  untilReady: (signal: AbortSignal) => Promise<void>,
): Promise<HeldProgram> {
  const held = await program;
  const waiting = new AbortController();
  const ready = untilReady(waiting.signal);
  try {
    await Promise.race([ready, held.failed]);
    held.release();
    return held;
  } catch (error) {
    waiting.abort();
    await Promise.allSettled([ready, held.stop()]);
    throw error;
  }
}

interface Told {
  pid?: number;
  ended?: string;
  said?: string;
}

async function untilRunning(tether: ChildProcess): Promise<number> {
  return new Promise((resolve) => {
    tether.on('message', ({ pid }: Told) => {
      if (pid !== undefined) resolve(pid);
    });
  });
}

async function untilEnded(tether: ChildProcess, command: string): Promise<never> {
  return new Promise((_resolve, reject) => {
    tether.on('message', ({ ended, said }: Told) => {
      if (ended !== undefined)
        reject(new Error(`${command} ended (${ended}) ${said ? `with:\n${said}` : 'without output'}`));
    });
    tether.once('error', reject);
    tether.once('exit', () => {
      reject(new Error(`${command} ended`));
    });
  });
}

/** Temporal’s programs read settings with the same names as ours, which are not meant for them. */
function withoutTemporal(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('TEMPORAL_')));
}
