/** What a night shows at its end: how long each part took, what became of all, and how long a person was needed. */
import type { Call, LedgerSnapshot } from '../../../../sandbox/ledger';
import type { Hold } from '../../../../src/domain/hold';
import type { SweepReport } from '../../../../src/domain/reconcile';
import type { Row } from '../../../support/rows-and-ledger';
import { reportOf } from '../../../support/sagas';
import { doubtfulAddsOf, inTheCart, judge, lost, unprotected, type Lived } from '../judgement';
import type { Person } from '../person';
import { counted, seconds, type Figure, type Phase, type Section } from '../report';

export interface Night {
  ledger: LedgerSnapshot;
  /** All rows of the journal. */
  rows: readonly Row[];
  sagas: readonly Lived[];
  /** The limit of calls. */
  callsPerSecond: number;
  /** Of the sweep at the end. */
  sweep: Pick<SweepReport, 'outcome' | 'counts'> | undefined;
}

/** To each question what breaks it. */
export function broken({ ledger, rows, sagas, callsPerSecond, sweep }: Night) {
  const { doubled, broken, differing } = judge(ledger, sagas, rows);
  const swept = sweep?.outcome === 'clean' ? [] : [`the sweep at the end: ${JSON.stringify(sweep ?? 'none ended')}`];
  return {
    doubled,
    lost: lost(ledger, sagas),
    'in the cart': inTheCart(ledger),
    unprotected: unprotected(ledger, sagas),
    'too fast': busiestWindows(ledger.calls, callsPerSecond)
      .filter(({ calls, allowed }) => calls > allowed)
      .map(({ seconds: length, calls, allowed }) => `${calls} calls within ${length} s, and ${allowed} are allowed`),
    'not as written': [...differing, ...broken, ...swept],
  };
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

interface Shown extends Night {
  phases: readonly Phase[];
  seen: Seen;
  answers: ReturnType<typeof broken>;
  person: Person;
}

export function sectionsOf({ phases, seen, sagas, answers, ledger, rows, callsPerSecond, person }: Shown): Section[] {
  const struck = (moment: string) => ledger.faultsStruck.filter(({ kind }) => kind.endsWith(moment)).length;
  const inDoubt = sagas.filter((lived) => doubtfulAddsOf(lived) > 0).length;
  const neededMs = Math.max(0, person.lastDecisionMs - seen.firstWaitMs);
  const needed = Number.isFinite(neededMs) ? neededMs : 0;
  return [
    {
      title: 'The night, in seconds',
      figures: phases.map(({ name, beginMs }, nth) => {
        const endMs = phases[nth + 1]?.beginMs ?? Date.now();
        return { of: name, count: Math.round(seconds(endMs - beginMs)) };
      }),
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
        { of: 'seconds from the first saga that waited to the last decision', count: Math.round(seconds(needed)) },
        { of: 'seconds at the terminal', count: Math.round(seconds(person.typingMs)) },
        { of: 'commands', count: person.commands.length, required: true },
        { of: 'looked up in the panel, and placed', count: person.looks.placed, required: true },
        { of: 'looked up in the panel, and not placed', count: person.looks.notPlaced, required: true },
        { of: 'cart items looked for in the panel', count: person.looks.cartItems },
      ],
    },
    { title: 'Sagas', figures: [...outcomes(sagas), { of: 'with an addition in doubt', count: inDoubt }] },
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
      figures: Object.entries(answers).map(([question, { length }]) => ({ of: question, count: length })),
    },
  ];
}

function outcomes(sagas: readonly Lived[]): Figure[] {
  return counted(
    sagas.map(({ asked, ended = {} }) => {
      const { outcome = 'open' } = (ended.result ?? reportOf(ended) ?? {}) as { outcome?: string };
      return `${asked.workflow} ${outcome}`;
    }),
  );
}

/** In seconds: a burst shows in the short ones, a limit that is not kept in the long ones. */
const windows = [1, 5, 30] as const;

/**
 * The most calls that came in any window of a length. The limit is a bucket that refills: a pause saves up the calls of
 * one second, and they may come at once. Besides, a call takes a moment from the limit to the ledger, and not each
 * takes the same: a tenth more.
 *
 * @param perSecond the limit
 */
function busiestWindows(calls: readonly Pick<Call, 'receivedMs'>[], perSecond: number) {
  const times = calls.map(({ receivedMs }) => receivedMs).sort((one, other) => one - other);
  return windows.map((seconds) => ({
    seconds,
    calls: mostWithin(times, seconds * 1_000),
    allowed: Math.ceil(perSecond * (seconds + 1) * 1.1),
  }));
}

/** @param times ascending */
function mostWithin(times: readonly number[], lengthMs: number): number {
  let most = 0;
  let first = 0;
  times.forEach((time, index) => {
    while (time - (times[first] ?? time) >= lengthMs) first += 1;
    most = Math.max(most, index - first + 1);
  });
  return most;
}
