/** A dry list: what a decision over many would reach, counted as an operator thinks of it. */
import type { WaitKind } from './progress';

/** A saga that waits for a person, as a list shows it. */
export interface WaitingSaga {
  workflowId: string;
  kind: WaitKind;
  step: string;
  /** The id of the question that it asks. */
  question: string;
  /** ISO time. */
  since: string;
  account?: string;
  /** The name of the last failure; a wait that no failure led to has none. */
  failure?: string;
}

/** The last saga of a page, behind which the next one begins. */
export type Cursor = Pick<WaitingSaga, 'since' | 'workflowId'>;

export interface DryList {
  /** How many it reaches, up to the limit. */
  total: number;
  /** How many more wait beyond the limit. */
  beyond: number;
  kinds: Count[];
  steps: Count[];
  accounts: Count[];
  /** For how long they have waited. */
  ages: Count[];
  failures: Count[];
  /** The first of them, in the order in which they would be decided. */
  first: WaitingSaga[];
}

export interface Count {
  name: string;
  count: number;
}

const minuteMs = 60_000;
const ages: readonly [below: number, name: string][] = [
  [5 * minuteMs, 'less than 5 minutes'],
  [60 * minuteMs, '5 minutes to 1 hour'],
  [6 * 60 * minuteMs, '1 to 6 hours'],
  [24 * 60 * minuteMs, '6 to 24 hours'],
  [7 * 24 * 60 * minuteMs, '1 to 7 days'],
  [Infinity, 'more than 7 days'],
];

const shownMax = 10;

/** @param sagas in the order in which they would be decided */
export function dryListOf(sagas: readonly WaitingSaga[], beyond: number, nowMs: number): DryList {
  const ageOf = ({ since }: WaitingSaga) => ages.find(([below]) => nowMs - Date.parse(since) < below)?.[1] ?? '';
  const found = countBy(sagas, ageOf);
  return {
    total: sagas.length,
    beyond,
    kinds: countBy(sagas, ({ kind }) => kind),
    steps: countBy(sagas, ({ step }) => step),
    accounts: countBy(sagas, ({ account }) => account ?? 'no account'),
    // By age, not by count.
    ages: ages.flatMap(([, name]) => found.filter((age) => age.name === name)),
    failures: countBy(sagas, ({ failure }) => failure ?? 'no failure'),
    first: sagas.slice(0, shownMax),
  };
}

/** The most frequent first; of equals the first by name. */
function countBy(sagas: readonly WaitingSaga[], nameOf: (saga: WaitingSaga) => string): Count[] {
  const counts = new Map<string, number>();
  for (const saga of sagas) counts.set(nameOf(saga), (counts.get(nameOf(saga)) ?? 0) + 1);
  return [...counts]
    .map(([name, count]) => ({ name, count }))
    .sort((a, b) => b.count - a.count || a.name.localeCompare(b.name));
}
