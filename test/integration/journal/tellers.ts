/** Processes of their own beside the test: see `teller.ts`. */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Task, Told } from './teller';

export class Tellers {
  private constructor(private readonly processes: readonly ChildProcess[]) {}

  static async start(count: number): Promise<Tellers> {
    const processes = Array.from({ length: count }, () =>
      fork(join(__dirname, 'teller.ts'), [], { execArgv: ['--import', 'tsx'], stdio: 'inherit' }),
    );
    await Promise.all(processes.map((one) => once(one, 'message')));
    return new Tellers(processes);
  }

  /** All at once, each its own task. */
  async perform(taskOf: (index: number) => Task): Promise<Told[]> {
    const told = this.processes.map(async (one) => (await once(one, 'message'))[0] as Told);
    this.processes.forEach((one, index) => one.send(taskOf(index)));
    return Promise.all(told);
  }

  async stop(): Promise<void> {
    await Promise.all(
      this.processes.map(async (one) => {
        const exited = once(one, 'exit');
        one.disconnect();
        await exited;
      }),
    );
  }
}
