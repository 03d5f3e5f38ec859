/**
 * What sagas have left of which nobody sees to any more, for a sweep: where nothing else reports it, it is found here.
 */
import { sql } from 'kysely';
import type { RecordedEnding } from '../domain/record';
import { whyRestored } from './lost-time';
import { statementBegunMs } from './dialects';
import { ofSaga, theJournal, type SagaKey, type Tx } from './rows';
import type { Store } from './store';
import { stateColumns, stateOf } from './state';

export interface LeftBehind extends SagaKey {
  placement: 'none' | 'placed' | 'unknown' | 'cancelled';
  /** Added, not deleted, and in no order that was placed or may have been. */
  cartItems: number[];
  /**
   * A clean-up has come to its end since the saga last added or ordered anything, and told all that is left: a person
   * has left it.
   */
  isCleaned: boolean;
  /** Servers whose firewalls it has changed, or meant to; none of an order that the provider has cancelled. */
  servers: number[];
}

/** The place of a reference among all of them, the youngest first. */
export interface ByAge extends SagaKey {
  firstSeenMs: number;
}

export interface EndedSlice {
  /**
   * A sentence, where the journal is or may be an older copy, and nobody has run `journal restored` since: what it
   * lacks is not known.
   */
  restored: string | undefined;
  sagas: (LeftBehind & ByAge)[];
  /** Whether there are more behind the last one. */
  hasMore: boolean;
}

/**
 * A slice of the sagas that have ended, the youngest first.
 *
 * @param days they were first seen within so many days
 * @param after the last one of the slice before
 */
export async function endedSagas(
  journal: Store,
  { days, after, limit }: { days: number; after: ByAge | undefined; limit: number },
): Promise<EndedSlice> {
  // Without runs, it is of a time when nobody wrote down where a saga is open: it may still be.
  const { rows } = await journal.read((db) =>
    sql<SagaKey & { firstSeenMs: number }>`
      select workflow, reference, first_seen_ms as ${sql.ref('firstSeenMs')} from reference
        where first_seen_ms >= ${statementBegunMs(db)} - ${days * dayMs} and is_open is null and runs is not null
        ${after === undefined ? sql`` : sql`and (first_seen_ms, workflow, reference) < (${after.firstSeenMs}, ${after.workflow}, ${after.reference})`}
        order by first_seen_ms desc, workflow desc, reference desc limit ${limit}`.execute(db),
  );
  const { restored, sagas } = await leftByLost(journal, rows);
  return { restored, sagas, hasMore: rows.length === limit };
}

/** What lost sagas have left. */
export async function leftByLost<Key extends SagaKey>(
  journal: Store,
  keys: readonly Key[],
): Promise<{ restored: string | undefined; sagas: (LeftBehind & Key)[] }> {
  const found = await journal.inTransaction(async (tx) => {
    const from = await theJournal(tx);
    const sagas = [];
    for (const key of keys) sagas.push({ key, ...(await leftBehindBy(tx, key)) });
    return { restored: whyRestored(from, journal.failover.how), sagas };
  });
  const sagas = found.sagas.map(async ({ key, cleanUps, ...left }) => {
    return { ...key, ...left, isCleaned: await isCleaned(journal, cleanUps, left.cartItems) };
  });
  return { ...found, sagas: await Promise.all(sagas) };
}

/** One that was cancelled, or failed, has settled nothing; also one of which nobody can read how it ended. */
async function isCleaned(journal: Store, cleanUps: readonly string[], cartItems: readonly number[]): Promise<boolean> {
  const reports = cleanUps.map((report) => journal.unseal(report, 'an ending').catch(() => undefined));
  const done = (await Promise.all(reports)).flatMap((report) => {
    const ending = (report ?? {}) as Partial<RecordedEnding>;
    return ending.ended === 'done' ? [ending.report?.leftovers ?? []] : [];
  });
  // One that saw the saga begin again leaves the items of that run to it.
  const told = done.flat().flatMap((one) => (one.kind === 'cart-item' ? [one.cartItemId] : []));
  return done.length > 0 && cartItems.every((id) => told.includes(id));
}

const dayMs = 24 * 60 * 60_000;

/** With how clean-ups have ended since the saga last added or ordered anything, sealed. */
async function leftBehindBy(tx: Tx, key: SagaKey) {
  const columns = [...stateColumns, 'meant_ms'] as const;
  const rows = await tx.selectFrom('effect').select(columns).where(ofSaga(key)).orderBy('seq').execute();
  const endings = await tx.selectFrom('ending').selectAll().where(ofSaga(key)).execute();
  const { placement, items, servers } = stateOf(rows);
  const lastMs = Math.max(0, ...rows.filter(({ kind }) => kind !== 'compensate').map(({ meant_ms }) => meant_ms));
  return {
    placement,
    cartItems: items.map(({ cartItemId }) => cartItemId),
    cleanUps: endings.flatMap(({ ended_by, ended_ms, report }) =>
      ended_by === 'cleanCart' && ended_ms >= lastMs ? [report] : [],
    ),
    servers: placement === 'cancelled' ? [] : servers,
  };
}
