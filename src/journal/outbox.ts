/**
 * The outbox: what receivers are to be told, written down before it is sent. Each row is sent at least once, and the
 * rows of one saga and route in their order.
 *
 * ```text
 *   open ──lease──▶ being sent ──2xx──▶ delivered, deleted after days
 *     ▲                │  └── the worker died: open again when the lease is over
 *     └──not yet───────┴── too often, or for too long ──▶ dead ──a person──▶ open again, or deleted
 * ```
 *
 * A row is leased only while no earlier one of its saga and route is open. The attempt's number is the lease's: who
 * comes late can say that a row was delivered, and nothing else.
 */
import { sql } from 'kysely';
import type { NotificationEvent } from '../domain/notifications';
import { beganMs, isPostgres, nowMs } from './dialects';
import { asUnavailable } from './errors';
import type { Journal } from './journal';
import { insertNotices, type Notice } from './outbox-rows';
import type { Tx } from './rows';

/** @throws JournalUnavailable */
export async function writeNotices(journal: Journal, notices: readonly Notice[]): Promise<void> {
  if (notices.length > 0) await journal.inTransaction((tx) => insertNotices(tx, notices));
}

/** A row that is this worker's to send. */
export interface Leased {
  seq: number;
  id: string;
  body: string;
  workflowId: string;
  event: NotificationEvent;
  /** This one included. */
  attempts: number;
  /** How long it has been tried, in milliseconds. */
  triedMs: number;
}

export interface Lease {
  namespace: string;
  route: string;
  /** Rows at most. */
  limit: number;
  /** After so long another worker may send them. Longer than sending takes. */
  leaseMs: number;
}

/** @returns what is due, of each saga one row at most. @throws JournalUnavailable */
export async function leaseDue(journal: Journal, { namespace, route, limit, leaseMs }: Lease): Promise<Leased[]> {
  if (!(await mayBeDue(journal, { namespace, route }))) return [];
  return journal.inTransaction(async (tx) => {
    const rows = await firstDue(tx, { namespace, route, limit });
    for (const { seq } of rows) {
      await tx
        .updateTable('outbox')
        .set((set) => ({ attempts: set('attempts', '+', 1), next_ms: sql<number>`${nowMs(tx)} + ${leaseMs}` }))
        .where('seq', '=', seq)
        .execute();
    }
    return rows;
  });
}

/** Most looks find nothing. In a file a transaction would make all others wait for that. */
async function mayBeDue({ db }: Journal, { namespace, route }: Pick<Lease, 'namespace' | 'route'>): Promise<boolean> {
  try {
    const found = await db
      .selectFrom('outbox')
      .select('seq')
      .where((where) => where.and({ namespace, route }))
      .where('delivered_ms', 'is', null)
      .where('dead_ms', 'is', null)
      .where('next_ms', '<=', beganMs(db))
      .limit(1)
      .executeTakeFirst();
    return found !== undefined;
  } catch (error) {
    throw asUnavailable(error);
  }
}

async function firstDue(tx: Tx, { namespace, route, limit }: Omit<Lease, 'leaseMs'>): Promise<Leased[]> {
  const due = tx
    .selectFrom('outbox as row')
    .select(['seq', 'id', 'body', 'workflow_id', 'event', 'attempts', 'since_ms', nowMs(tx).as('now')])
    .where((where) => where.and({ namespace, route }))
    .where('delivered_ms', 'is', null)
    .where('dead_ms', 'is', null)
    .where('next_ms', '<=', beganMs(tx))
    .where((where) =>
      where.not(
        where.exists(
          where
            .selectFrom('outbox as earlier')
            .select('earlier.seq')
            .whereRef('earlier.namespace', '=', 'row.namespace')
            .whereRef('earlier.route', '=', 'row.route')
            .whereRef('earlier.workflow_id', '=', 'row.workflow_id')
            .whereRef('earlier.seq', '<', 'row.seq')
            .where('earlier.delivered_ms', 'is', null)
            .where('earlier.dead_ms', 'is', null),
        ),
      ),
    )
    .orderBy('next_ms')
    .limit(limit);
  // What another worker leases in this moment is not waited for.
  const rows = await (isPostgres(tx) ? due.forUpdate('row').skipLocked() : due).execute();
  return rows.map(({ workflow_id: workflowId, attempts, since_ms, now, ...row }) => ({
    ...row,
    workflowId,
    attempts: attempts + 1,
    triedMs: Math.max(0, now - since_ms),
  }));
}

/** Whoever sent it. Its message is not kept. @throws JournalUnavailable */
export async function markDelivered(journal: Journal, { seq }: Pick<Leased, 'seq'>): Promise<void> {
  await journal.inTransaction((tx) =>
    tx
      .updateTable('outbox')
      .set({ delivered_ms: nowMs(tx), dead_ms: null, failure: null, body: '' })
      .where('seq', '=', seq)
      .execute(),
  );
}

/**
 * @param retryInMs undefined: it is given up
 * @throws JournalUnavailable
 */
export async function markFailed(
  journal: Journal,
  { seq, attempts }: Pick<Leased, 'seq' | 'attempts'>,
  { failure, retryInMs }: { failure: string; retryInMs: number | undefined },
): Promise<void> {
  await journal.inTransaction((tx) =>
    tx
      .updateTable('outbox')
      .set({
        failure,
        ...(retryInMs === undefined
          ? { dead_ms: nowMs(tx) }
          : { next_ms: sql<number>`${nowMs(tx)} + ${Math.round(retryInMs)}` }),
      })
      .where('seq', '=', seq)
      // Another worker has it by now, or a person had it tried again.
      .where('attempts', '=', attempts)
      .where('delivered_ms', 'is', null)
      .execute(),
  );
}

/** Longer than an event can be written again: then it would be sent once more. */
const keptMs = 3 * 24 * 60 * 60_000;

/** Few enough for each to be found by its number. */
const deletedMax = 200;

/** Deletes what was delivered days ago, a slice of it. @returns whether there is more. @throws JournalUnavailable */
export async function deleteDelivered(journal: Journal): Promise<boolean> {
  return journal.inTransaction(async (tx) => {
    const old = await tx
      .selectFrom('outbox')
      .select('seq')
      .where('delivered_ms', '<', sql<number>`${beganMs(tx)} - ${keptMs}`)
      .limit(deletedMax)
      .execute();
    const numbers = old.map(({ seq }) => seq);
    if (numbers.length > 0) await tx.deleteFrom('outbox').where('seq', 'in', numbers).execute();
    return numbers.length === deletedMax;
  });
}

export interface RouteCounts {
  route: string;
  /** Neither delivered nor dead. */
  open: number;
  /** Since the oldest of them was written, in milliseconds; 0 where there is none. */
  oldestMs: number;
  dead: number;
}

/** Of each route that has an open or a dead row. @throws JournalUnavailable */
export async function countNotices(journal: Journal, namespace: string): Promise<RouteCounts[]> {
  return journal.inTransaction(async (tx) => {
    const rows = tx.selectFrom('outbox').where('namespace', '=', namespace).groupBy('route');
    const open = await rows
      .select(({ fn }) => [
        'route',
        fn.countAll<number>().as('count'),
        fn.min('created_ms').as('oldest'),
        nowMs(tx).as('now'),
      ])
      .where('delivered_ms', 'is', null)
      .where('dead_ms', 'is', null)
      .execute();
    const dead = await rows
      .select(({ fn }) => ['route', fn.countAll<number>().as('count')])
      .where('dead_ms', 'is not', null)
      .execute();
    const routes = [...new Set([...open, ...dead].map(({ route }) => route))].sort();
    return routes.map((route) => {
      const waiting = open.find((one) => one.route === route);
      return {
        route,
        open: waiting?.count ?? 0,
        oldestMs: waiting === undefined ? 0 : Math.max(0, waiting.now - waiting.oldest),
        dead: dead.find((one) => one.route === route)?.count ?? 0,
      };
    });
  });
}
