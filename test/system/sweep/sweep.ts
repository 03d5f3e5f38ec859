/** Spoils call after call of a story until it has no more, and counts what was proven to have happened. */
import type { EndpointName } from '../../../sandbox/endpoints';
import { pivots } from '../../support/promises';
import type { Rig } from '../../support/rig';
import type { Story } from './sagas';
import { tellSpoiled, type SpoiledRun } from './spoiled-run';
import type { Way } from './ways';

/** Runs at once: few enough that no call takes so long on a busy machine that it counts as lost. */
const runsAtOnce = 12;

export class Sweep {
  /** Runs that were brought to their end, by what was done to them. */
  readonly runs = new Map<string, number>();
  /** Spoiled calls that were seen to be spoiled, by row. */
  readonly spoiled = new Map<string, number>();
  /** Undos that took effect, were told otherwise, and were made again. */
  undosRepeated = 0;
  private readonly queue: (() => void)[] = [];
  private busy = 0;

  constructor(
    private readonly rig: Rig,
    /** Each decision that fits a wait, in a run of its own; or the first alone. */
    private readonly takes: { eachDecision: boolean },
  ) {}

  /** The story as it is, with each decision that fits its waits; and then with each call of it spoiled in each way. */
  of(story: Story, ways: readonly Way[]): { unspoiled: Promise<string[]>; spoiled: Map<Way, Promise<string[]>> } {
    const first = this.unspoiled(story);
    const spoiled = new Map(ways.map((way) => [way, first.then(({ calls }) => this.spoil(story, way, calls))]));
    return { unspoiled: first.then(({ broken }) => broken), spoiled };
  }

  private async unspoiled(story: Story): Promise<{ calls: EndpointName[]; broken: string[] }> {
    const runs = await this.eachDecision((choice) => tellSpoiled(this.rig, story, undefined, choice));
    const broken = runs.flatMap((run, choice) => {
      this.count('as it is', run);
      return run.broken.map((sentence) => `decision ${choice + 1}: ${sentence}`);
    });
    return { calls: runs[0]?.calls ?? [], broken };
  }

  /** @returns what is wrong, in sentences that say where */
  private async spoil(story: Story, way: Way, calls: readonly EndpointName[]): Promise<string[]> {
    const broken: string[] = [];
    const isSpoiled = (row: EndpointName) =>
      !way.at || (way.at === 'pivot' ? pivots.some((pivot) => pivot === row) : row === way.at);
    const count = calls.filter(isSpoiled).length;
    for (let nth = 1; nth <= count; nth += 1) {
      const runs = await this.eachDecision((choice) => tellSpoiled(this.rig, story, { way, nth }, choice));
      runs.forEach((run, choice) => {
        this.count(way.name, run);
        if (run.call && run.call.endpoint === way.lieAt) return;
        const at = `call ${nth} (${run.call?.endpoint ?? 'which it did not come to'}), decision ${choice + 1}`;
        broken.push(...run.broken.map((sentence) => `${at}: ${sentence}`));
        if (!run.call) broken.push(`${at}: of ${count} that the story has`);
      });
    }
    return broken;
  }

  /** The first decision's run tells how many there are. */
  private async eachDecision(tell: (choice: number) => Promise<SpoiledRun>): Promise<SpoiledRun[]> {
    const first = await this.inTurn(() => tell(0));
    if (!this.takes.eachDecision) return [first];
    const others = Array.from({ length: Math.max(0, first.choices - 1) }, (_, index) => index + 1);
    return [first, ...(await Promise.all(others.map((choice) => this.inTurn(() => tell(choice)))))];
  }

  private count(name: string, { call, undoing }: SpoiledRun): void {
    this.runs.set(name, (this.runs.get(name) ?? 0) + 1);
    if (call === undefined) return;
    for (const { kind } of call.faults) {
      if (kind === 'gate') continue;
      const spoiled = `${kind} at ${call.endpoint}`;
      this.spoiled.set(spoiled, (this.spoiled.get(spoiled) ?? 0) + 1);
    }
    if (undoing && call.effects.length > 0 && call.faults.length > 1) this.undosRepeated += 1;
  }

  private async inTurn<T>(run: () => Promise<T>): Promise<T> {
    if (this.busy >= runsAtOnce) await new Promise<void>((resolve) => this.queue.push(resolve));
    this.busy += 1;
    try {
      return await run();
    } finally {
      this.busy -= 1;
      this.queue.shift()?.();
    }
  }
}
