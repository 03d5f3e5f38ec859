/** A program that ends with whoever started it, however that one ends: `tethered.mjs` stands between the two. */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

export interface HeldProgram {
  readonly pid: number;
  /** Ends it, in good order where it was given time for that. A second call changes nothing. */
  stop: () => Promise<void>;
  /** SIGKILL, as in a crash. */
  kill: () => Promise<void>;

  /** Never resolves; rejects when the program ends. */
  failed: Promise<never>;
  /** From now on it does not keep this process from ending. */
  release: () => void;
}

/**
 * @param settings of `tethered.mjs`, and the program's own
 * @throws when it cannot be started
 */
export async function holdProgram(
  command: string,
  args: readonly string[],
  settings: Record<string, string>,
): Promise<HeldProgram> {
  const tether = fork(join(__dirname, 'tethered.mjs'), [command, ...args], {
    // No loaders of the parent's, and a group of its own: Ctrl-C is for the parent, which may still need the server.
    execArgv: [],
    detached: true,
    stdio: 'ignore',
    env: { ...withoutTemporal(process.env), ...settings },
  });
  const exited = once(tether, 'exit');
  const failed = untilEnded(tether, command);
  // Only whoever still waits for readiness wants to hear of it.
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

/** Holds the program until it is ready, and ends it when it never is. @throws with what it said last */
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
        reject(new Error(`${command} ended (${ended}) ${said ? `with:\n${said}` : 'in silence'}`));
    });
    tether.once('error', reject);
    tether.once('exit', () => {
      reject(new Error(`${command} ended`));
    });
  });
}

/** Temporal’s programs read settings of the same names as our own processes do; those are not meant for them. */
function withoutTemporal(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('TEMPORAL_')));
}
