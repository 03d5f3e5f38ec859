/** Where a person types the command line. */
import { execFile } from 'node:child_process';

export interface TerminalOptions {
  /** The compiled command line. */
  program: string;
  environment: Record<string, string>;
  /** A command that takes longer hangs. */
  patienceMs: number;
}

export interface Answered {
  status: number;
  out: string;
  err: string;
}

export class Terminal {
  /** As they were typed. */
  readonly commands: string[] = [];
  /** From the first line of a command to its end, all of them together. */
  typingMs = 0;

  constructor(private readonly options: TerminalOptions) {}

  /** @throws where it ends with another status: a person would look what that is */
  async type(args: readonly string[], statuses: readonly number[]): Promise<Answered> {
    const { program, environment, patienceMs } = this.options;
    const words = ['order-saga', ...args.map((word) => (/[\s"]/.test(word) ? `'${word}'` : word))].join(' ');
    this.commands.push(words);
    process.stderr.write(`  $ ${words}\n`);
    const startedMs = Date.now();
    const answered = await new Promise<Answered>((resolve) => {
      const env = { PATH: process.env['PATH'], HOME: process.env['HOME'], ...environment };
      const limits = { timeout: patienceMs, maxBuffer: 64 * 1024 * 1024 };
      const child = execFile(process.execPath, [program, ...args], { env, ...limits }, (_error, out, err) => {
        resolve({ status: child.exitCode ?? -1, out, err });
      });
    });
    this.typingMs += Date.now() - startedMs;
    if (answered.status !== 0) process.stderr.write(`    ${answered.status}: ${answered.err.trimEnd()}\n`);
    if (statuses.includes(answered.status)) return answered;
    throw new Error(`“${words}” ended with ${answered.status}: ${answered.err}${answered.out}`.slice(0, 2_000));
  }
}
