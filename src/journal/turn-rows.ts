/** The rows of the queues, as transactions of the journal look at them and end them; see turns.ts. */
import type { Selectable, Transaction } from 'kysely';
import { lockName, nowMs } from './dialects';
import type { JournalTables } from './schema';

type Tx = Transaction<JournalTables>;
export type Turn = Selectable<JournalTables['turn']>;
type Key = Pick<Turn, 'workflow' | 'reference'>;

/** A place in a queue, by the saga that has it. */
export type Place = Pick<Turn, 'id' | 'workflow' | 'reference' | 'namespace'>;

export function turnOf(tx: Tx, { workflow, reference }: Key): Promise<Turn | undefined> {
  return tx
    .selectFrom('turn')
    .selectAll()
    .where((where) => where.and({ workflow, reference }))
    .executeTakeFirst();
}

/** Whether a saga still has the turn that it began with. To be asked with the lock on its reference. */
export async function hasTurn(tx: Tx, key: Key, turn: string): Promise<boolean> {
  const mine = await turnOf(tx, key);
  return mine?.id === turn && mine.begun_ms !== null && mine.ended_ms === null;
}

/**
 * The saga works no more, or waits no more. What it worked on is nobody's while a call of it may be in the air: then its row stays, and
 * whoever is next learns how long.
 *
 * @returns whom to tell, where somebody waits for it
 */
export async function endTurn(
  tx: Tx,
  { workflow, reference }: Key,
  resource: string,
  { isInAir }: { isInAir: boolean },
): Promise<Place | undefined> {
  await lockName(tx, resource);
  const mine = await turnOf(tx, { workflow, reference });
  if (mine === undefined) return nextOf(tx, resource);
  const { id, begun_ms } = mine;
  const isKept = begun_ms !== null && isInAir;
  if (isKept)
    await tx
      .updateTable('turn')
      .set({ ended_ms: nowMs(tx) })
      .where('id', '=', id)
      .execute();
  else await tx.deleteFrom('turn').where('id', '=', id).execute();
  return nextOf(tx, resource);
}

/** Who waits, and has only sagas that have ended before it; undefined while somebody works. */
export async function nextOf(tx: Tx, resource: string): Promise<Place | undefined> {
  const [first, second] = await tx
    .selectFrom('turn')
    .selectAll()
    .where('resource', '=', resource)
    .orderBy('seq')
    // Of all that have begun there is one.
    .limit(2)
    .execute();
  const next = first?.ended_ms === null ? first : second;
  if (next?.begun_ms !== null) return undefined;
  const { id, workflow, reference, namespace } = next;
  return { id, workflow, reference, namespace };
}
