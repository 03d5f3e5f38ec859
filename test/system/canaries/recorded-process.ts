/** One of our programs as a process of its own, with everything that it ever wrote. */
import { spawn } from 'node:child_process';

export interface RecordedProcess {
  /** Standard output and standard error, to the last byte once it has stopped. */
  written: () => Buffer;
  stop: () => Promise<void>;
}

/** @param ready is in the output when the program is */
export async function recordProcess(
  program: string,
  environment: Record<string, string>,
  ready: string,
): Promise<RecordedProcess> {
  const child = spawn(process.execPath, [program], {
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const chunks: Buffer[] = [];
  const written = () => Buffer.concat(chunks);
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  await new Promise<void>((resolve, reject) => {
    child.stderr.on('data', (chunk: Buffer) => chunks.push(chunk));
    let printed = '';
    child.stdout.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      if (printed.includes(ready)) return;
      printed += chunk.toString();
      if (printed.includes(ready)) resolve();
    });
    void closed.then(() => reject(new Error(`${program} ended before it was ready:\n${written().toString()}`)));
  });
  return {
    written,
    stop: async () => {
      child.kill('SIGTERM');
      await closed;
    },
  };
}
