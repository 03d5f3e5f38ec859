/**
 * A rehearsal works with this, and writes down: the commands in their order, what the sagas said, how long each
 * part took.
 */
import { NoConnectionError, NoWorkerError, SearchAttributesMissingError } from '../../../../src/client/errors';
import type { Cluster } from '../../../support/postgres';
import type { Cast } from './cast';
import type { Ground, GroundOptions } from './ground';
import type { Person } from '../person';
import { Phases } from '../report';
import type { Closers } from '../world';

/** One sentence that a saga said, and how many said it. */
export interface Said {
  state: string;
  words: string;
  count: number;
}

export interface Disaster {
  name: string;
  title: string;
  ground?: GroundOptions;
  /** A sentence where it cannot be rehearsed on this machine. */
  lacks?: () => string | undefined;
  /** Strikes, in the middle of the cast's work, and does what has to be done before a person decides for the sagas. */
  strike: (scene: Scene) => Promise<Expected>;
}

/** Facts beside what is always judged: each that is false breaks the rehearsal. */
export interface Expected {
  rowsLost?: boolean;
  facts: Record<string, boolean>;
  /** When all have ended: what a person does at last. */
  finish?: () => Promise<unknown>;
  later?: () => Record<string, boolean>;
}

export class Scene {
  readonly said: Said[] = [];
  readonly phases = new Phases();
  readonly person: Person;
  readonly note: (command: string) => void;
  private readonly heard = new Set<string>();

  constructor(
    readonly ground: Ground,
    readonly cast: Cast,
    readonly closers: Closers,
  ) {
    this.person = ground.person;
    this.note = ground.person.note;
  }

  phase(name: string): void {
    this.phases.begin(name);
  }

  /** Hears what each saga says now; each question is heard once. */
  readonly listen = async (): Promise<void> => {
    for (const { saga } of this.cast.members) {
      const progress = await saga.progress().catch(ifSilent);
      if (progress?.waiting === undefined) continue;
      const { id, kind, question } = progress.waiting;
      const key = `${saga.workflowId} ${id}`;
      if (this.heard.has(key)) continue;
      this.heard.add(key);
      const words = inGeneral(question);
      const known = this.said.find((one) => one.state === kind && one.words === words);
      if (known) known.count += 1;
      else this.said.push({ state: kind, words, count: 1 });
    }
  };

  hasSaid(words: RegExp): boolean {
    return this.said.some((one) => words.test(one.words));
  }
}

export function journalOf({ ground: { journalCluster } }: Scene): Cluster {
  if (journalCluster === undefined) throw new Error('the journal has no cluster of its own');
  return journalCluster;
}

/** Nobody answers for it just now, or nobody has seen it. */
function ifSilent(error: unknown): undefined {
  if (error instanceof NoWorkerError || error instanceof NoConnectionError) return undefined;
  if (error instanceof SearchAttributesMissingError) return undefined;
  throw error;
}

/** Without what differs from saga to saga: times, references, amounts and ids. */
function inGeneral(question: string): string {
  return question
    .replace(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?( ?UTC|Z)?/g, '<time>')
    .replace(/\bT-\d+\b/g, '<reference>')
    .replace(/\bAB-\d+\b/g, '<account>')
    .replace(/\d{4,}/g, '<id>');
}
