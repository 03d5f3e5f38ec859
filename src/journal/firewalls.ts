/**
 * What the journal knows of a server whose firewalls a saga changes: whether the saga's calls can still take effect,
 * and, before they are undone, which firewalls other sagas rely on.
 */
import { sql } from 'kysely';
import { nowMs } from './dialects';
import { aboutOf, lock, theJournal, type SagaKey } from './rows';
import { changeInFlight } from './decide';
import type { Journal } from './journal';
import { stateOf } from './state';
import { turnOf } from './turn-rows';

export type ServerLook =
  /** A change by this saga may still take effect for so long; until then no list is reliable. */
  | { how: 'under-way'; leftMs: number }
  /**
   * Firewalls that other references have (perhaps) assigned since this saga's turn began, and that were not unassigned
   * since.
   */
  | { how: 'settled'; others: number[] };

/**
 * Milliseconds for which a change of the server by any run of this saga may still take effect.
 *
 * @param kind only calls of this kind
 * @throws JournalUnavailable
 */
export function inFlightAtServer(
  journal: Journal,
  key: SagaKey,
  vmObjectId: number,
  kind?: 'compensate',
): Promise<number> {
  return journal.inTransaction(async (tx) => {
    await lock(tx, key);
    const inFlight = await changeInFlight(tx, key, await theJournal(tx), { vmObjectId, kind });
    return inFlight?.leftMs ?? 0;
  });
}

/** @throws JournalUnavailable */
export function lookAtServer(journal: Journal, key: SagaKey, vmObjectId: number): Promise<ServerLook> {
  return journal.inTransaction(async (tx) => {
    await lock(tx, key);
    const inFlight = await changeInFlight(tx, key, await theJournal(tx), { vmObjectId });
    if (inFlight) return { how: 'under-way', leftMs: inFlight.leftMs };
    // Earlier firewalls are in the list that the saga read first.
    const sinceMs = (await turnOf(tx, key))?.begun_ms ?? 0;
    const rows = await tx
      .selectFrom('effect')
      .selectAll()
      .where('vm_object_id', '=', vmObjectId)
      .where(sql<number>`meant_ms + in_flight_ms`, '>=', sinceMs)
      .orderBy('seq')
      .execute();
    const others = new Set<number>();
    for (const row of rows) {
      const isOwn = row.workflow === key.workflow && row.reference === key.reference;
      const mayBeThere = row.outcome === null || row.outcome === 'unknown';
      const isThere = row.outcome === 'done' && (row.answered_ms ?? row.decided_ms ?? sinceMs) >= sinceMs;
      const isAssigned = row.activity === 'assignFirewalls' && !isOwn && (mayBeThere || isThere);
      const isUnassigned = row.activity === 'unassignFirewalls' && row.outcome === 'done';
      for (const id of aboutOf(row).firewalls ?? []) {
        if (isAssigned) others.add(id);
        if (isUnassigned) others.delete(id);
      }
    }
    return { how: 'settled', others: [...others] };
  });
}

/**
 * What was changed at a server within a time, by any saga: whether each firewall was assigned last, or unassigned;
 * undefined where nobody knows whether the last call took effect. Without what a person did by hand.
 *
 * @throws JournalUnavailable
 */
export function changedLately(
  journal: Journal,
  vmObjectId: number,
  withinMs: number,
): Promise<Map<number, boolean | undefined>> {
  return journal.read(async (db) => {
    const rows = await db
      .selectFrom('effect')
      .select(['activity', 'outcome', 'about', 'decided_ms'])
      .where('vm_object_id', '=', vmObjectId)
      .where(sql<boolean>`coalesce(answered_ms, meant_ms + in_flight_ms) > ${nowMs(db)} - ${withinMs}`)
      .where('meant_ms', '<=', nowMs(db))
      .orderBy('seq')
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

/** Firewalls of a server that runs of a saga have (perhaps) assigned or unassigned, and not undone. */
export interface ChangedFirewalls {
  assigned: number[];
  unassigned: number[];
}

/** @throws JournalUnavailable */
export function changedOnServer(
  journal: Journal,
  { workflow, reference }: SagaKey,
  vmObjectId: number,
): Promise<ChangedFirewalls> {
  return journal.inTransaction(async (tx) => {
    const rows = await tx
      .selectFrom('effect')
      .selectAll()
      .where((where) => where.and({ workflow, reference, vm_object_id: vmObjectId }))
      .orderBy('seq')
      .execute();
    const { firewalls } = stateOf(rows);
    const by = (activity: string) => [
      ...new Set(firewalls.flatMap((changed) => (changed.activity === activity ? changed.firewalls : []))),
    ];
    return { assigned: by('assignFirewalls'), unassigned: by('unassignFirewalls') };
  });
}
