/** What a night shows at its end: how long each part took, what became of all, and how long a person was needed. */
import type { LedgerSnapshot } from '../../../sandbox/ledger';
import type { Hold } from '../../../src/domain/hold';
import type { Row } from '../../support/rows-and-ledger';
import type { Figure, Section } from '../chaos/table';
import { doubtfulAddsOf, questions, type Lived, type Question } from './judgement';
import type { Person } from './person';
import { busiestWindows } from './rate';

export interface Phase {
  name: string;
  beginMs: number;
  /** Absent for the one that runs. */
  endMs?: number;
}

interface Waiting {
  stuck: number;
  doubtful: number;
  held: number;
}

export interface Seen extends Waiting {
  /** The most at any time. */
  most: Waiting;
  /** The first that was on. */
  hold: Hold | undefined;
  /** Since when the first saga waited for a person; infinite where none did. */
  firstWaitMs: number;
}

interface Told {
  phases: readonly Phase[];
  seen: Seen;
  sagas: readonly Lived[];
  broken: Record<Question, readonly string[]>;
  ledger: LedgerSnapshot;
  rows: readonly Row[];
  callsPerSecond: number;
  person: Person;
}

export function sectionsOf({ phases, seen, sagas, broken, ledger, rows, callsPerSecond, person }: Told): Section[] {
  const struck = (moment: string) => ledger.faultsStruck.filter(({ kind }) => kind.endsWith(moment)).length;
  const neededMs = Math.max(0, person.lastDecisionMs - seen.firstWaitMs);
  const needed = Number.isFinite(neededMs) ? neededMs : 0;
  return [
    {
      title: 'The night, in seconds',
      figures: phases.map(({ name, beginMs, endMs = Date.now() }) => ({ of: name, count: seconds(endMs - beginMs) })),
    },
    {
      title: 'What went wrong',
      figures: [
        { of: 'calls without an answer that were not done', count: struck('before'), required: true },
        { of: 'calls without an answer that were done', count: struck('after'), required: true },
        {
          of: 'a worker has held new sagas',
          count: seen.hold?.until === undefined ? 0 : 1,
          ...(seen.hold?.note === undefined ? {} : { detail: seen.hold.note }),
          required: true,
        },
        { of: 'held, at most', count: seen.most.held, required: true },
        { of: 'stuck, at most', count: seen.most.stuck, required: true },
        { of: 'of unknown outcome, at most', count: seen.most.doubtful, required: true },
      ],
    },
    {
      title: 'A person was needed',
      figures: [
        { of: 'seconds from the first saga that waited to the last decision', count: seconds(needed) },
        { of: 'seconds at the terminal', count: seconds(person.terminal.typingMs) },
        { of: 'commands', count: person.terminal.commands.length, required: true },
        { of: 'looked up in the panel, and placed', count: person.looks.placed, required: true },
        { of: 'looked up in the panel, and not placed', count: person.looks.notPlaced, required: true },
        { of: 'cart items looked for in the panel', count: person.looks.cartItems },
      ],
    },
    { title: 'Sagas', figures: [...outcomes(sagas), { of: 'with an addition in doubt', count: inDoubt(sagas) }] },
    {
      title: 'Calls, by the ledger',
      figures: [
        { of: 'in all', count: ledger.calls.length },
        { of: 'that took effect', count: ledger.entries.length },
        { of: 'rows of the journal', count: rows.length },
        ...busiestWindows(ledger.calls, callsPerSecond).map(({ seconds: length, calls, allowed }) => ({
          of: `within ${length} s, at most`,
          count: calls,
          detail: `of ${allowed}: the limit is ${callsPerSecond} a second`,
        })),
      ],
    },
    {
      title: 'Must be none',
      figures: questions.map((question) => ({ of: question, count: broken[question].length })),
    },
  ];
}

function outcomes(sagas: readonly Lived[]): Figure[] {
  const counts = new Map<string, number>();
  for (const { asked, ended } of sagas) {
    const { outcome } = (ended?.result ?? ended?.failure?.report ?? ended?.cancelled ?? {}) as { outcome?: string };
    const name = `${asked.workflow} ${outcome ?? 'open'}`;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts].map(([of, count]) => ({ of, count })).sort((one, other) => one.of.localeCompare(other.of));
}

function inDoubt(sagas: readonly Lived[]): number {
  return sagas.filter((lived) => doubtfulAddsOf(lived) > 0).length;
}

const seconds = (ms: number) => Math.round(ms / 1_000);
