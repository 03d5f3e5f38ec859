/** A program of the stack: it can die as in a crash, and be started again at the same place. */
import type { HeldProgram } from '../../scripts/held-program';

export class Part {
  private constructor(
    private readonly launch: () => Promise<HeldProgram>,
    private held: HeldProgram,
  ) {}

  /** @param launch is called again for each start, and answers when the program is ready */
  static async start(launch: () => Promise<HeldProgram>): Promise<Part> {
    return new Part(launch, await launch());
  }

  /** The program's own process. */
  get pid(): number {
    return this.held.pid;
  }

  /** SIGKILL. */
  async kill(): Promise<void> {
    await this.held.kill();
  }

  /** After a kill. */
  async restart(): Promise<void> {
    this.held = await this.launch();
  }

  async stop(): Promise<void> {
    await this.held.stop();
  }
}
