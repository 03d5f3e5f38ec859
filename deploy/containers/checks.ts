import type { Images } from './images';
import type { Project } from './project';

export interface Context {
  checks: Checks;
  project: Project;
  images: Images;
}

/** A list of sentences that are true or not; one that is not does not hide the next. */
export class Checks {
  private passed = 0;
  private failed = 0;

  async check(sentence: string, look: () => Promise<void>): Promise<void> {
    const from = Date.now();
    try {
      await look();
      this.passed += 1;
      console.log(`ok      ${seconds(from)}  ${sentence}`);
    } catch (error) {
      this.failed += 1;
      console.log(`FAILED  ${seconds(from)}  ${sentence}`);
      const { message } = error instanceof Error ? error : new Error(String(error));
      console.log(message.replaceAll(/^/gm, '          '));
    }
  }

  get hasFailed(): boolean {
    return this.failed > 0;
  }

  /** For whoever reads only the last line. @returns the exit status */
  sum(): number {
    console.log(`${this.passed} passed, ${this.failed} failed`);
    return this.failed === 0 && this.passed > 0 ? 0 : 1;
  }
}

const seconds = (from: number) => `${((Date.now() - from) / 1000).toFixed(1).padStart(6)} s`;
