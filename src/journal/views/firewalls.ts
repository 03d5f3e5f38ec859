/**
 * The journal's knowledge of a server whose firewalls a saga changes: whether the saga's calls can still take effect;
 * before they are undone, which firewalls other sagas rely on; for a sweep, how they should be.
 */
import { sql } from 'kysely';
import { isRepair } from '../../domain/reconcile';
import { changeInFlight } from '../decide';
import { nowMs } from '../database/dialects';
import { aboutOf, type Db, effects, isSameSaga, isUnanswered, look, type SagaKey, type Tx } from '../rows';
import type { WantedFirewalls } from '../database/schema';
import type { Store } from '../store';
import { turnOf } from '../turns';

/**
 * Milliseconds for which a change of the server by any run of this saga may still take effect: until then no list is
 * reliable. Once there are none, what others rely on.
 *
 * @param kind only calls of this kind
 * @param lagMs for so long the provider's list may lack what was changed
 */
export function lookAtServer(
  journal: Store,
  key: SagaKey,
  vmObjectId: number,
  {
    kind,
    withOthers,
    lagMs = 0,
  }: { kind?: 'compensate' | undefined; withOthers?: boolean | undefined; lagMs?: number },
): Promise<{ leftMs: number; others?: number[] }> {
  return journal.locked(key, async (tx) => {
    const { journal: from, rows } = await look(tx, key);
    const inFlight = changeInFlight(rows, from, { vmObjectId, kind });
    if (inFlight !== undefined || !withOthers) return { leftMs: inFlight?.leftMs ?? 0 };
    return { leftMs: 0, others: await assignedByOthers(tx, key, vmObjectId, lagMs) };
  });
}

/** Changes of the server by any saga, the oldest first. */
const callsOn = (db: Db, vmObjectId: number) => effects(db).where('vm_object_id', '=', vmObjectId).orderBy('seq');

/** Firewalls that other references have (perhaps) assigned since this saga's turn began, and not unassigned since. */
async function assignedByOthers(tx: Tx, key: SagaKey, vmObjectId: number, lagMs: number): Promise<number[]> {
  // Earlier firewalls are in the list that the saga read first, but for one of unknown outcome that this did not show yet.
  const sinceMs = (await turnOf(tx, key))?.begun_ms ?? 0;
  const rows = await callsOn(tx, vmObjectId)
    .where(sql`intended_ms + in_flight_ms`, '>=', sinceMs - lagMs)
    .execute();
  const others = new Set<number>();
  for (const row of rows) {
    const isThere = row.outcome === 'done' && (row.answered_ms ?? row.decided_ms ?? sinceMs) >= sinceMs;
    const mayBeThere = isThere || isUnanswered(row.outcome);
    const isAssigned = row.activity === 'assignFirewalls' && !isSameSaga(row, key) && mayBeThere;
    const isUnassigned = row.activity === 'unassignFirewalls' && row.outcome === 'done';
    for (const id of aboutOf(row).firewalls ?? []) {
      if (isAssigned) others.add(id);
      if (isUnassigned) others.delete(id);
    }
  }
  return [...others];
}

/**
 * Changes of a server within a time, by any saga: whether each firewall was assigned last, or unassigned; undefined
 * where nobody knows whether the last call took effect. Changes by hand do not count.
 */
export function changedLately(
  journal: Store,
  vmObjectId: number,
  withinMs: number,
): Promise<Map<number, boolean | undefined>> {
  return journal.read(async (db) => {
    const rows = await callsOn(db, vmObjectId)
      .where(sql<boolean>`coalesce(answered_ms, intended_ms + in_flight_ms) > ${nowMs(db)} - ${withinMs}`)
      .where('intended_ms', '<=', nowMs(db))
      .execute();
    const lately = new Map<number, boolean | undefined>();
    for (const row of rows) {
      if (row.outcome === 'not-done' || row.outcome === 'denied') continue;
      const isKnown = row.outcome === 'done' || row.outcome === 'undone';
      for (const id of aboutOf(row).firewalls ?? []) {
        if (row.decided_ms === null) lately.set(id, isKnown ? row.activity === 'assignFirewalls' : undefined);
        else lately.delete(id);
      }
    }
    return lately;
  });
}

/**
 * The firewalls that a server should have, for a sweep: by the calls of sagas, and by what they asked for, because a saga
 * that finds a firewall as it should be makes no call. Repairs of sweeps do not count: if one came late, after a saga
 * that wants something else, the next sweep reports it. Nothing is known of firewalls that no saga has named.
 *
 * @returns `isBusy` where a saga works on the server, waits for its turn, or has not ended: all this may change at any
 * moment. `exactlyMs`: when a saga last ended that named all firewalls of the server: earlier wishes for others do not
 * count
 */
export function statedFirewalls(journal: Store, vmObjectId: number) {
  return journal.inTransaction(async (tx) => {
    const rows = await callsOn(tx, vmObjectId).execute();
    const resource = `server ${vmObjectId}`;
    const wishes = await wishesFor(tx, resource);
    const state = new Map<number, string>();
    let exactlyMs: number | undefined;
    const apply = ({ wanted, endedMs }: Wish) => {
      const isExact = 'exactly' in wanted;
      if (isExact) exactlyMs = endedMs;
      for (const id of isExact ? state.keys() : wanted.unassign) state.set(id, 'unassignFirewalls');
      for (const id of isExact ? wanted.exactly : wanted.assign) state.set(id, 'assignFirewalls');
    };
    for (const row of rows) {
      // One saga at a time works on a server: a call that is intended after an ending is of a later saga.
      const before = wishes.filter(({ endedMs }) => endedMs < row.intended_ms);
      wishes.splice(0, before.length).forEach(apply);
      if (isRepair(row)) continue;
      const unsure = isUnanswered(row.outcome);
      // A later row has undone what was undone.
      if (!unsure && row.outcome !== 'done' && row.outcome !== 'undone') continue;
      for (const id of aboutOf(row).firewalls ?? []) state.set(id, unsure ? 'unsure' : row.activity);
    }
    wishes.forEach(apply);
    const those = (activity: string) => [...state].flatMap(([id, last]) => (last === activity ? [id] : []));
    return {
      isBusy: await someIsOpen(tx, vmObjectId, resource),
      assigned: those('assignFirewalls'),
      unassigned: those('unassignFirewalls'),
      exactlyMs,
    };
  });
}

interface Wish {
  wanted: WantedFirewalls;
  endedMs: number;
}

/** The oldest first. If a saga has ended several times, because it was reset, its last ending counts. */
async function wishesFor(tx: Tx, resource: string): Promise<Wish[]> {
  const ofIt = tx.selectFrom('ending').select(['workflow', 'reference', 'wanted', 'ended_ms']);
  const endings = await ofIt.where('resource', '=', resource).orderBy('ended_ms').execute();
  const last = new Map(endings.map((ending) => [`${ending.workflow}/${ending.reference}`, ending]));
  return endings.flatMap((ending) => {
    const { workflow, reference, wanted, ended_ms: endedMs } = ending;
    const counts = wanted !== null && !isRepair(ending) && last.get(`${workflow}/${reference}`) === ending;
    return counts ? [{ wanted: JSON.parse(wanted) as WantedFirewalls, endedMs }] : [];
  });
}

/** A saga that has not ended has changed the server, works on it, or waits for its turn. */
async function someIsOpen(tx: Tx, vmObjectId: number, resource: string): Promise<boolean> {
  const { rows } = await sql<{ id: string }>`
    select id from effect join reference using (workflow, reference)
      where vm_object_id = ${vmObjectId} and is_open is not null
    union all select id from turn join reference using (workflow, reference)
      where resource = ${resource} and is_open is not null limit 1`.execute(tx);
  return rows.length > 0;
}
