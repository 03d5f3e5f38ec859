/**
 * One saga at a time for a server and for a subscription: each has a queue, in the order of arrival. The rules, and why
 * they hold: docs/internals/journal.md. The constraint that nothing here can break: migrations/0001.
 *
 * ```text
 *   waits ──nobody is before it──▶ works ──the saga ends──▶ has ended ──no call of it can be in flight──▶ the row is deleted
 *     │                            ▲ └──it is gone, and no call of it can be in flight──▶ the row is deleted
 *     │                            └──the same saga asks again── has ended
 *     └──cancelled, or gone──▶ the row is deleted
 * ```
 *
 * Taking or ending a turn locks its queue. Where a reference's row is locked as well, that lock comes first.
 */
import { disown, endingOf } from './acquire';
import { randomUUID } from 'node:crypto';
import { type Selectable, sql } from 'kysely';
import { workflowIdOf } from '../domain/identity';
import type { QueuedTurn, TurnAnswer } from '../domain/turns';
import { lockName, nowMs } from './database/dialects';
import { inFlightOf, iso, livePivot, ofSaga, type SagaKey, timeNow, type Tx } from './rows';
import type { JournalTables } from './database/schema';
import type { Store } from './store';

export type Turn = Selectable<JournalTables['turn']>;

/** A saga's place in a queue. */
export type Place = Pick<Turn, 'id' | 'workflow' | 'reference'>;

export interface Queued extends Omit<QueuedTurn, 'lookInMs'> {
  waitedMs: number;
  /** The saga directly before it. */
  behind: Place;
  /** If that saga has ended: milliseconds for which a call of it may still be in flight. */
  inFlightMs?: number;
}

/**
 * Takes the turn, or a place in the queue. A saga that asks again, in any run, keeps its turn or its place. A saga that
 * has ended, and asks again while its turn is kept, gets a new turn: no other saga has worked since.
 */
export function takeTurn(
  journal: Store,
  key: SagaKey,
  resource: string,
): Promise<Exclude<TurnAnswer, QueuedTurn> | Queued> {
  return journal.inTransaction(async (tx) => {
    if ((await livePivot(tx, key))?.outcome === 'done') return { how: 'already-placed' };
    await lockName(tx, resource);
    // A call that stood still: nobody would give the turn back.
    if ((await endingOf(tx, key, { run: '' })) !== undefined) return { how: 'already-placed' };
    const { workflow, reference } = key;
    const row = { id: randomUUID(), workflow, reference, resource, since_ms: nowMs(tx) };
    const comes = tx.insertInto('turn').values(row).returningAll();
    const mine = (await turnOf(tx, key)) ?? (await comes.executeTakeFirstOrThrow());
    const hasEnded = mine.ended_ms !== null;
    if (mine.begun_ms !== null && !hasEnded) return { how: 'begun', turn: mine.id };
    const before = hasEnded ? [] : await queueOf(tx, resource).where('seq', '<', mine.seq).execute();
    for (const [index, holder] of before.entries()) {
      // Only the first one may have begun. If it has ended, nothing more is intended for it: its reference need not be
      // locked.
      const inFlightMs = holder.ended_ms === null ? undefined : await inFlightOf(tx, holder);
      if (inFlightMs === 0) {
        await tx.deleteFrom('turn').where('id', '=', holder.id).execute();
        continue;
      }
      const last = before.at(-1) ?? holder;
      return {
        how: 'queued',
        resource,
        before: before.length - index,
        since: iso(mine.since_ms),
        holder: workflowIdOf(holder.workflow, holder.reference),
        waitedMs: Math.max(0, (await timeNow(tx)) - mine.since_ms),
        behind: placeOf(last),
        ...(last === holder ? { inFlightMs } : {}),
      };
    }
    const turn = hasEnded ? randomUUID() : mine.id;
    await sql`update turn set id = ${turn}, begun_ms = ${nowMs(tx)}, ended_ms = null where id = ${mine.id}`.execute(tx);
    return { how: 'begun', turn };
  });
}

/**
 * Removes the place of a saga that was terminated or deleted, and could not give it back.
 *
 * @returns milliseconds for which a call of it may still be in flight: until then it keeps its place
 */
export function dropTurn(journal: Store, { id, ...key }: Place): Promise<number> {
  // A call that is intended before this is seen here; one that comes later has no owner.
  return journal.locked(key, async (tx) => {
    const leftMs = await inFlightOf(tx, key);
    if (leftMs > 0) return leftMs;
    await tx.deleteFrom('turn').where('id', '=', id).execute();
    // Its earlier looks do not count any more.
    await disown(tx, key);
    return 0;
  });
}

/** The saga to notify; undefined while a saga works. */
export function whoIsNext(journal: Store, resource: string): Promise<Place | undefined> {
  return journal.inTransaction((tx) => nextOf(tx, resource));
}

/** The saga that works on it, or is to work next; undefined where a new one would. */
export function holderOf(journal: Store, resource: string): Promise<Place | undefined> {
  return journal.inTransaction((tx) => queueOf(tx, resource).where('ended_ms', 'is', null).executeTakeFirst());
}

/** In the order of arrival. */
function queueOf(tx: Tx, resource: string) {
  return tx.selectFrom('turn').selectAll().where('resource', '=', resource).orderBy('seq');
}

const placeOf = ({ id, workflow, reference }: Turn): Place => ({ id, workflow, reference });

export function turnOf(tx: Tx, key: SagaKey): Promise<Turn | undefined> {
  return tx.selectFrom('turn').selectAll().where(ofSaga(key)).executeTakeFirst();
}

/**
 * Ends a saga's turn, or its place in the queue. While a call of the saga may be in flight, its row stays, and the
 * next saga waits that long.
 *
 * @returns the saga to notify, if one waits
 */
export async function endTurn(
  tx: Tx,
  key: SagaKey,
  resource: string,
  { isInFlight }: { isInFlight: boolean },
): Promise<Place | undefined> {
  await lockName(tx, resource);
  const mine = await turnOf(tx, key);
  if (mine === undefined) return nextOf(tx, resource);
  if (mine.begun_ms === null || !isInFlight) await tx.deleteFrom('turn').where('id', '=', mine.id).execute();
  else await sql`update turn set ended_ms = ${nowMs(tx)} where id = ${mine.id}`.execute(tx);
  return nextOf(tx, resource);
}

/** The first saga that waits, if only ended sagas are before it; undefined while a saga works. */
async function nextOf(tx: Tx, resource: string): Promise<Place | undefined> {
  // At most one has begun.
  const [first, second] = await queueOf(tx, resource).limit(2).execute();
  const next = first?.ended_ms === null ? first : second;
  return next?.begun_ms === null ? placeOf(next) : undefined;
}
