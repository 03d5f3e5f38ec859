/** What a person sees of the outbox, and does with it: notifications that were not delivered. See outbox.ts. */
import type { ExpressionBuilder, Selectable } from 'kysely';
import type { NotificationEvent } from '../domain/notifications';
import type { WaitKind } from '../domain/progress';
import { nowMs } from './dialects';
import { insertCeremony } from './ceremony';
import type { Journal, Verdict } from './journal';
import { iso } from './rows';
import type { JournalTables } from './schema';

type Row = Selectable<JournalTables['outbox']>;

export interface NoticeView {
  id: string;
  route: string;
  namespace: string;
  workflowId: string;
  event: NotificationEvent;
  kind?: WaitKind;
  account?: string;
  state: 'open' | 'dead';
  createdAt: string;
  attempts: number;
  /** Of an open one: when it is sent next, unless an earlier one of its saga is open. */
  nextAt?: string;
  /** When it was given up. */
  deadAt?: string;
  failure?: string;
}

export interface NoticeFilter {
  ids?: readonly string[] | undefined;
  route?: string | undefined;
  /** Of its sagas only: several may share a journal. */
  namespace?: string | undefined;
  /** Dead ones only. */
  dead?: boolean | undefined;
}

/** The row of a drop names so many. */
const namedMax = 100;

/** Open and dead rows, the oldest first. @throws JournalUnavailable */
export async function listNotices(journal: Journal, filter: NoticeFilter, limit: number): Promise<NoticeView[]> {
  const rows = await journal.inTransaction((tx) =>
    tx.selectFrom('outbox').selectAll().where(matching(filter)).orderBy('seq').limit(limit).execute(),
  );
  return rows.map(viewOf);
}

/** Has rows tried again now, and from the beginning. @returns how many. @throws JournalUnavailable */
export async function retryNotices(journal: Journal, filter: NoticeFilter): Promise<number> {
  const { numUpdatedRows } = await journal.inTransaction((tx) =>
    tx
      .updateTable('outbox')
      .set({ dead_ms: null, attempts: 0, since_ms: nowMs(tx), next_ms: nowMs(tx) })
      .where(matching(filter))
      .executeTakeFirst(),
  );
  return Number(numUpdatedRows);
}

/** Deletes rows that were not delivered. @returns how many. @throws JournalUnavailable */
export async function dropNotices(journal: Journal, filter: NoticeFilter, said: Verdict): Promise<number> {
  const sealed = await journal.sealing.seal(said);
  return journal.inTransaction(async (tx) => {
    const deleted = await tx.deleteFrom('outbox').where(matching(filter)).returning(['id', 'route']).execute();
    const notices = deleted.slice(0, namedMax).map(({ id, route }) => `${id} ${route}`);
    if (deleted.length > 0) {
      await insertCeremony(tx, 'notifications-dropped', sealed, { dropped: deleted.length, notices });
    }
    return deleted.length;
  });
}

function matching({ ids, route, namespace, dead }: NoticeFilter) {
  return (where: ExpressionBuilder<JournalTables, 'outbox'>) =>
    where.and([
      where('delivered_ms', 'is', null),
      ...(dead ? [where('dead_ms', 'is not', null)] : []),
      ...(ids === undefined ? [] : [where('id', 'in', [...ids])]),
      ...(route === undefined ? [] : [where('route', '=', route)]),
      ...(namespace === undefined ? [] : [where('namespace', '=', namespace)]),
    ]);
}

function viewOf({
  id,
  route,
  namespace,
  workflow_id,
  event,
  attempts,
  created_ms,
  next_ms,
  dead_ms,
  ...row
}: Row): NoticeView {
  return {
    id,
    route,
    namespace,
    workflowId: workflow_id,
    event,
    ...(row.kind === null ? {} : { kind: row.kind }),
    ...(row.account === null ? {} : { account: row.account }),
    state: dead_ms === null ? 'open' : 'dead',
    createdAt: iso(created_ms),
    attempts,
    ...(dead_ms === null ? { nextAt: iso(next_ms) } : { deadAt: iso(dead_ms) }),
    ...(row.failure === null ? {} : { failure: row.failure }),
  };
}
