/**
 * One saga at a time for a server and for a subscription: a queue for each, in the order of arrival. The rules, and what they rest
 * on: docs/journal.md. The constraint that nothing here can break: migrations/0002.
 *
 * ```text
 *   waits ──nobody is before it──▶ works ──the saga ends, or is gone──▶ the row is deleted
 *     └──cancelled, or gone──▶ the row is deleted
 * ```
 *
 * Whoever takes or ends a turn locks its queue. Where a reference's row is locked as well, that one comes first.
 */
import { randomUUID } from 'node:crypto';
import type { Transaction } from 'kysely';
import { workflowIdOf } from '../domain/identity';
import type { QueuedTurn, TurnAnswer } from '../domain/turns';
import { lockName, nowMs } from './dialects';
import { iso, leftInAir, livePivot, lock, theJournal, type Journal, type SagaKey } from './journal';
import type { JournalTables } from './schema';
import { nextOf, turnOf, type Place, type Turn } from './turn-rows';

type Tx = Transaction<JournalTables>;

export interface Queued extends Omit<QueuedTurn, 'lookInMs'> {
  waitedMs: number;
  /** Who is next before it. */
  behind: Place;
}

/**
 * Takes the turn, or a place in the queue. A saga that asks again keeps its place, or has its turn already, in whichever run.
 *
 * @param namespace of the run
 * @throws JournalUnavailable
 */
export function takeTurn(
  journal: Journal,
  key: SagaKey,
  resource: string,
  namespace: string,
): Promise<Exclude<TurnAnswer, QueuedTurn> | Queued> {
  return journal.inTransaction(async (tx) => {
    if ((await livePivot(tx, key))?.outcome === 'done') return { how: 'needless' };
    await lockName(tx, resource);
    const mine = (await turnOf(tx, key)) ?? (await insertTurn(tx, key, resource, namespace));
    if (mine.namespace !== namespace) {
      await tx.updateTable('turn').set({ namespace }).where('id', '=', mine.id).execute();
    }
    if (mine.begun_ms !== null) return { how: 'begun', turn: mine.id };
    const { before, first, last, now } = await tx
      .selectFrom('turn')
      .select(({ fn }) => [
        fn.countAll<number>().as('before'),
        fn.min<number | null>('seq').as('first'),
        fn.max<number | null>('seq').as('last'),
        nowMs(tx).as('now'),
      ])
      .where('resource', '=', resource)
      .where('seq', '<', mine.seq)
      .executeTakeFirstOrThrow();
    if (first === null || last === null) {
      await tx
        .updateTable('turn')
        .set({ begun_ms: nowMs(tx) })
        .where('id', '=', mine.id)
        .execute();
      return { how: 'begun', turn: mine.id };
    }
    const holder = await turnAt(tx, first);
    const { id, workflow, reference, ...behind } = last === first ? holder : await turnAt(tx, last);
    const elsewhere = holder.namespace === namespace ? '' : ` in namespace ${holder.namespace}`;
    return {
      how: 'queued',
      resource,
      before,
      since: iso(mine.since_ms),
      holder: workflowIdOf(holder.workflow, holder.reference) + elsewhere,
      waitedMs: Math.max(0, now - mine.since_ms),
      behind: { id, workflow, reference, namespace: behind.namespace },
    };
  });
}

/**
 * Takes away the place of a saga that is gone: it was terminated, or deleted, and could not give it back.
 *
 * @returns milliseconds for which a call of it may still be in the air: until then it keeps its place
 * @throws JournalUnavailable
 */
export function dropTurn(journal: Journal, { id, workflow, reference }: Place): Promise<number> {
  const key = { workflow, reference };
  return journal.inTransaction(async (tx) => {
    // Whoever means something for it does so before this, and is seen here, or after it, and has no turn.
    await lock(tx, key);
    const leftMs = await inAirOf(tx, key);
    if (leftMs === 0) await tx.deleteFrom('turn').where('id', '=', id).execute();
    return leftMs;
  });
}

/** Whose turn it is; undefined while somebody works. @throws JournalUnavailable */
export function whoIsNext(journal: Journal, resource: string): Promise<Place | undefined> {
  return journal.inTransaction((tx) => nextOf(tx, resource));
}

async function insertTurn(tx: Tx, key: SagaKey, resource: string, namespace: string): Promise<Turn> {
  const { workflow, reference } = key;
  await tx
    .insertInto('turn')
    .values({ id: randomUUID(), workflow, reference, namespace, resource, since_ms: nowMs(tx) })
    .execute();
  const inserted = await turnOf(tx, key);
  if (inserted === undefined) throw new Error('what was inserted is there');
  return inserted;
}

function turnAt(tx: Tx, seq: number): Promise<Turn> {
  return tx.selectFrom('turn').selectAll().where('seq', '=', seq).executeTakeFirstOrThrow();
}

/** Milliseconds until nobody can be sending for a saga any more. */
async function inAirOf(tx: Tx, { workflow, reference }: SagaKey): Promise<number> {
  const journal = await theJournal(tx);
  const rows = await tx
    .selectFrom('effect')
    .selectAll()
    .where((where) => where.and({ workflow, reference }))
    .where((where) => where.or([where('outcome', 'is', null), where('outcome', '=', 'unknown')]))
    .execute();
  let leftMs = 0;
  for (const row of rows) leftMs = Math.max(leftMs, await leftInAir(tx, row, journal));
  return leftMs;
}
