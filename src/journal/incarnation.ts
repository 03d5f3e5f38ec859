/**
 * Which database cluster holds the journal, and on which timeline: a restore to a point in time and the promotion of a
 * standby begin another timeline, and another cluster has another identifier. A start after a crash changes neither. A
 * file has none of it.
 */
import type { JournalRow, Tx } from './rows';
import type { Witness } from './witness';

/** `lossless`: a later timeline of the same cluster has lost nothing, because every commit waits for the standby. */
export type Failover = 'ask' | 'lossless';

export interface FailoverRule {
  how: Failover;
  /** Is told of a failover that was taken for lossless. */
  warn: (message: string) => void;
  /** What this worker has seen of the journal. */
  witness?: Witness | undefined;
}

export const askAboutFailovers: FailoverRule = { how: 'ask', warn: () => undefined };

type Incarnations = Pick<JournalRow, 'incarnation' | 'here'>;

/** @returns a sentence where a person has to say what became of the journal */
export function whyElsewhere({ incarnation, here }: Incarnations, how: Failover): string | undefined {
  if (incarnation === null || incarnation === here) return undefined;
  if (here === null) {
    return `the journal’s database does not say any more which one it is: it was on timeline ${describeIncarnation(incarnation)}. Is it another one, or may this user not ask?`;
  }
  const isSameCluster = clusterOf(incarnation) === clusterOf(here);
  // A failover begins a later timeline: an earlier one is another copy.
  const isLater = isSameCluster && timelineOf(here) > timelineOf(incarnation);
  if (isLater && how === 'lossless') return undefined;
  const was = isSameCluster ? timelineOf(incarnation) : `timeline ${describeIncarnation(incarnation)}`;
  return `the journal’s database was put back or failed over: it is on timeline ${describeIncarnation(here)}, and was on ${was}`;
}

/** To be called only where {@link whyElsewhere} has no objection. Concurrent calls write and tell it once. */
export async function follow(tx: Tx, { incarnation, here }: Incarnations, { warn }: FailoverRule): Promise<void> {
  if (here === null || incarnation === here) return;
  const { numUpdatedRows } = await tx
    .updateTable('journal')
    .set({ incarnation: here })
    .where('incarnation', incarnation === null ? 'is' : '=', incarnation)
    .executeTakeFirst();
  if (incarnation === null || numUpdatedRows === 0n) return;
  warn(
    `the journal’s database failed over to timeline ${describeIncarnation(here)}: by JOURNAL_FAILOVER nothing was lost, and sagas go on`,
  );
}

/** As after “timeline”. */
export function describeIncarnation(incarnation: string): string {
  return `${timelineOf(incarnation)} of cluster ${clusterOf(incarnation)}`;
}

function clusterOf(incarnation: string): string {
  return incarnation.split('/')[0] ?? '';
}

function timelineOf(incarnation: string): number {
  return Number.parseInt(incarnation.split('/')[1] ?? '', 16);
}
