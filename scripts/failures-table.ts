/**
 * Prints docs/statuses.md, what an answer means, from the rows of src/provider/verdicts.ts; and into docs/failures.md
 * whose trouble each failure is.
 */
import { callFailureNames, callFailures, mayEndByTime, owners } from '../src/domain/failures';
import { meaningOf, providerCalls, rows, type Row } from '../src/provider/verdicts';

const named = rows.flatMap(({ status }) => (typeof status === 'number' ? [status] : []));
const isIn = (from: number, to: number) => named.some((status) => status >= from && status <= to);

function inWords({ status }: Row): string {
  if (typeof status === 'number') return `${status}`;
  return `${isIn(status[0], status[1]) ? 'other ' : ''}${status[0] / 100}xx`;
}
const first = ({ status }: Row) => (typeof status === 'number' ? status : status[0]);

/** A status of the row that no other row names. */
function sampleOf(row: Row): number {
  if (typeof row.status === 'number') return row.status;
  let status = row.status[0];
  while (named.includes(status)) status += 1;
  return status;
}

/** The meaning of a status for most calls, after those for single ones: `pivot, add: UnknownOutcome; else Rejected`. */
function meaningsOf(row: Row): string {
  const callsOf = new Map<string, string[]>();
  for (const call of providerCalls) {
    const means = meaningOf(sampleOf(row), { call });
    const ofNew = meaningOf(sampleOf(row), { call, serverIsNew: true });
    const both = means === ofNew ? means : `${means}, of a new server ${ofNew}`;
    callsOf.set(both, [...(callsOf.get(both) ?? []), call]);
  }
  const sorted = [...callsOf].sort(([, one], [, other]) => other.length - one.length);
  const [most = ''] = sorted.map(([means]) => means);
  const others = sorted.slice(1).map(([means, calls]) => `${calls.join(', ')}: ${means}`);
  return others.length === 0 ? most : [...others, `else ${most}`].join('; ');
}

/** A line for all statuses and ranges that mean the same for the same reasons. */
export function statusesPage(): string {
  const lines = new Map<string, string[]>();
  for (const row of [...rows].sort((one, other) => first(one) - first(other))) {
    const reasons = rows.filter((one) => inWords(one) === inWords(row)).map(({ because }) => because);
    const why = [...new Set(reasons)].join('; ').replace(/^./, (letter) => letter.toUpperCase());
    const line = `${meaningsOf(row)}. ${why}`;
    const before = lines.get(line) ?? [];
    lines.set(line, before.includes(inWords(row)) ? before : [...before, inWords(row)]);
  }
  const page =
    '# What an answer means, by its status\n\nPrinted by `npm run schemas` from `src/provider/verdicts.ts`. [Failures](failures.md#what-an-answer-means) says what else counts.\n';
  return [page, ...[...lines].map(([line, statuses]) => `- **${statuses.join(', ')}**: ${line}.`)].join('\n');
}

const inCode = (names: readonly string[]) => names.map((name) => `\`${name}\``).join(', ');

/** By whose trouble each is, and what the journal gets for a call that ended so. */
function failuresList(): string {
  const owned = owners.flatMap((owner) => {
    const names = callFailureNames.filter((failure) => callFailures[failure].whose === owner);
    return names.length === 0 ? [] : [`- **${owner}**: ${inCode(names)}`];
  });
  const notDone = callFailureNames.filter((failure) => callFailures[failure].outcome === 'not-done');
  const rows = `After ${inCode(notDone)} the journal's row of a call is \`not-done\`, after any other failure \`unknown\`.`;
  const always = callFailureNames.filter((failure) => mayEndByTime(failure, true));
  const harmless = callFailureNames.filter((failure) => mayEndByTime(failure, false) && !always.includes(failure));
  const own = `Time alone may end a wait at ${inCode(always)}; where a repeat does no harm, also at ${inCode(harmless)}: then the saga [tries by itself](operating-by-day.md#it-tries-by-itself).`;
  return [...owned, '', rows, '', own].join('\n');
}

/** @returns the document with the list of failures in it */
export function withFailures(document: string): string {
  const begin = '<!-- failures, printed by `npm run schemas` -->';
  const from = document.indexOf(begin) + begin.length;
  const to = document.indexOf('<!-- end -->', from);
  if (from < begin.length || to < 0) throw new Error('docs/failures.md has no place for its list of failures');
  return `${document.slice(0, from)}\n\n${failuresList()}\n\n${document.slice(to)}`;
}
