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

type Identities = Pick<JournalRow, 'identity' | 'here'>;

/** @returns a sentence where a person has to say what became of the journal */
export function whyElsewhere({ identity, here }: Identities, how: Failover): string | undefined {
  if (identity === null || identity === here) return undefined;
  if (here === null) {
    return `the journal’s database does not say any more which one it is: it was on timeline ${describeIdentity(identity)}. Is it another one, or may this user not ask?`;
  }
  const isSameCluster = clusterOf(identity) === clusterOf(here);
  // A failover begins a later timeline: an earlier one is another copy.
  const isLater = isSameCluster && timelineOf(here) > timelineOf(identity);
  if (isLater && how === 'lossless') return undefined;
  const was = isSameCluster ? timelineOf(identity) : `timeline ${describeIdentity(identity)}`;
  return `the journal’s database was restored or failed over: it is on timeline ${describeIdentity(here)}, and was on ${was}`;
}

/** To be called only where {@link whyElsewhere} has no objection. Concurrent calls write and tell it once. */
export async function follow(tx: Tx, { identity, here }: Identities, { warn }: FailoverRule): Promise<void> {
  if (here === null || identity === here) return;
  const { numUpdatedRows } = await tx
    .updateTable('journal')
    .set({ identity: here })
    .where('identity', identity === null ? 'is' : '=', identity)
    .executeTakeFirst();
  if (identity === null || numUpdatedRows === 0n) return;
  warn(
    `the journal’s database failed over to timeline ${describeIdentity(here)}: by JOURNAL_FAILOVER nothing was lost, and sagas go on`,
  );
}

/** As after “timeline”. */
export function describeIdentity(identity: string): string {
  return `${timelineOf(identity)} of cluster ${clusterOf(identity)}`;
}

function clusterOf(identity: string): string {
  return identity.split('/')[0] ?? '';
}

function timelineOf(identity: string): number {
  return Number.parseInt(identity.split('/')[1] ?? '', 16);
}
