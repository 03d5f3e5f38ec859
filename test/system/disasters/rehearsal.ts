/**
 * One rehearsal: sagas take their places, the disaster strikes, a backend sends again, a person settles the rest, and
 * all is judged.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { outcomeOf } from '../../support/sagas';
import { Closers } from '../chaos/closers';
import { Cast } from './cast';
import { startGround } from './ground';
import { judge, type Lived } from './judgement';
import { Person } from './person';
import { Scene, type Disaster, type Expected, type Said } from './scene';

export interface Rehearsed {
  name: string;
  title: string;
  passed: boolean;
  violations: string[];
  seconds: number;
  phases: { name: string; seconds: number }[];
  figures: Record<string, number>;
  facts: Record<string, boolean>;
  said: Said[];
  /** What a person typed, in order. */
  commands: string[];
  /** Workers that ended, or did not start, though nobody asked for it. */
  mishaps: string[];
  /** What the sweep at the end found. */
  sweep: unknown;
}

/** Those that have ended say so at once. */
const answerMs = 5_000;

export class Rehearsal {
  private readonly closers = new Closers();

  constructor(
    private readonly disaster: Disaster,
    private readonly patienceMs: number,
  ) {}

  /** Ends everything that was started, whatever is under way. */
  close(): Promise<void> {
    return this.closers.close();
  }

  /** @param compiled the folder of our programs */
  async result(compiled: string): Promise<Rehearsed> {
    const beginMs = Date.now();
    try {
      return await this.rehearse(compiled);
    } catch (error) {
      const { name, title } = this.disaster;
      const violations = [
        `it could not be rehearsed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
      ];
      const nothing = { phases: [], figures: {}, facts: {}, said: [], commands: [], mishaps: [], sweep: undefined };
      return { name, title, passed: false, violations, seconds: seconds(Date.now() - beginMs), ...nothing };
    }
  }

  private async rehearse(compiled: string): Promise<Rehearsed> {
    const { name, title, ground: options = {}, strike } = this.disaster;
    const beginMs = Date.now();
    const ground = await startGround(this.closers, compiled, options);
    const cast = new Cast(ground.sandbox, ground.sagas);
    const scene = new Scene(ground, cast, new Person(ground.terminal, ground.sandbox), this.closers);
    const violations: string[] = [];
    let expected: Expected | undefined;
    let sweep: unknown;
    try {
      scene.phase('sagas take their places');
      await ground.hire();
      await cast.takePlaces();
      expected = await strike(scene);
      scene.phase('the backend sends again, a person settles the rest');
      cast.letGo();
      await cast.sendAgain();
      await scene.person.settle(scene.countOpen, scene.listen, this.patienceMs);
      await expected.finish?.();
      scene.phase('a sweep');
      sweep = (await scene.person.reconcile()).report;
    } catch (error) {
      // A rehearsal that stands still is judged by what there is.
      violations.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
    }
    scene.phase('judgement');
    const sagas: Lived[] = await Promise.all(
      cast.members.map(async ({ saga, ...member }) => {
        const ended = await Promise.race([outcomeOf(saga).catch(() => undefined), pause(answerMs, undefined)]);
        return { ...member, ...(ended === undefined ? {} : { ended }) };
      }),
    );
    await ground.dismiss();
    const { ledger } = ground.sandbox;
    const all = await ground.rows().catch((error: unknown) => {
      violations.push(`the journal cannot be read: ${String(error)}`);
      return [];
    });
    const rows = expected?.rowsLost ? undefined : all;
    violations.push(...judge({ ledger, sagas, rows }));
    const facts = { ...expected?.facts, ...expected?.later?.() };
    for (const [fact, came] of Object.entries(facts))
      if (!came) violations.push(`it was to be seen, and was not: ${fact}`);
    const { phases } = scene;
    const endMs = Date.now();
    return {
      ...{ name, title, violations, facts, sweep },
      passed: violations.length === 0,
      seconds: seconds(endMs - beginMs),
      phases: phases.map((phase, nth) => ({
        name: phase.name,
        seconds: seconds((phases[nth + 1]?.beginMs ?? endMs) - phase.beginMs),
      })),
      figures: {
        sagas: sagas.length,
        'calls to the provider': ledger.calls.length,
        'effects there': ledger.entries.length,
        'rows of the journal': all.length,
      },
      said: scene.said,
      commands: [...ground.terminal.commands],
      mishaps: ground.crews.flatMap(({ mishaps }) => mishaps),
    };
  }
}

const seconds = (ms: number) => Math.round(ms / 100) / 10;
