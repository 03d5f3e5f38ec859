/** Queries for the rows of the queues; see turns.ts. */
import type { Selectable, Transaction } from 'kysely';
import { lockName, nowMs } from './dialects';
import type { JournalTables } from './schema';

type Tx = Transaction<JournalTables>;
export type Turn = Selectable<JournalTables['turn']>;
type Key = Pick<Turn, 'workflow' | 'reference'>;

/** A saga's place in a queue. */
export type Place = Pick<Turn, 'id' | 'workflow' | 'reference' | 'namespace'>;

export function turnOf(tx: Tx, { workflow, reference }: Key): Promise<Turn | undefined> {
  return tx
    .selectFrom('turn')
    .selectAll()
    .where((where) => where.and({ workflow, reference }))
    .executeTakeFirst();
}

/**
 * Ends a saga's turn, or its place in the queue. While a call of the saga may be in flight, its row stays, and the
 * next saga waits that long.
 *
 * @returns the saga to notify, if one waits
 */
export async function endTurn(
  tx: Tx,
  { workflow, reference }: Key,
  resource: string,
  { isInFlight }: { isInFlight: boolean },
): Promise<Place | undefined> {
  await lockName(tx, resource);
  const mine = await turnOf(tx, { workflow, reference });
  if (mine === undefined) return nextOf(tx, resource);
  const { id, begun_ms } = mine;
  const isKept = begun_ms !== null && isInFlight;
  if (isKept)
    await tx
      .updateTable('turn')
      .set({ ended_ms: nowMs(tx) })
      .where('id', '=', id)
      .execute();
  else await tx.deleteFrom('turn').where('id', '=', id).execute();
  return nextOf(tx, resource);
}

/** The first saga that waits, if only ended sagas are before it; undefined while a saga works. */
export async function nextOf(tx: Tx, resource: string): Promise<Place | undefined> {
  const [first, second] = await tx
    .selectFrom('turn')
    .selectAll()
    .where('resource', '=', resource)
    .orderBy('seq')
    // At most one has begun.
    .limit(2)
    .execute();
  const next = first?.ended_ms === null ? first : second;
  if (next?.begun_ms !== null) return undefined;
  const { id, workflow, reference, namespace } = next;
  return { id, workflow, reference, namespace };
}
