/** The rows of the queues, as transactions of the journal look at them and end them; see turns.ts. */
import type { Selectable, Transaction } from 'kysely';
import { lockName } from './dialects';
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
  return mine?.id === turn && mine.begun_ms !== null;
}

/** The saga works no more, or waits no more. @returns whose turn it is now, where somebody waits for it */
export async function endTurn(tx: Tx, { workflow, reference }: Key, resource: string): Promise<Place | undefined> {
  await lockName(tx, resource);
  await tx
    .deleteFrom('turn')
    .where((where) => where.and({ workflow, reference }))
    .execute();
  return nextOf(tx, resource);
}

/** Whose turn it is; undefined while somebody works. */
export async function nextOf(tx: Tx, resource: string): Promise<Place | undefined> {
  const first = await tx
    .selectFrom('turn')
    .selectAll()
    .where('resource', '=', resource)
    .orderBy('seq')
    .limit(1)
    .executeTakeFirst();
  if (first?.begun_ms !== null) return undefined;
  const { id, workflow, reference, namespace } = first;
  return { id, workflow, reference, namespace };
}
