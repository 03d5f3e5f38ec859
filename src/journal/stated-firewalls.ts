/**
 * What sagas have said last of the firewalls of a server, for a sweep: by their calls, and by what they asked for. A
 * saga that finds a firewall as it should be makes no call. Repairs of sweeps are not heard: where one came late, after
 * a saga that wants something else, the next sweep tells of it.
 */
import { isRepair } from '../domain/reconcile';
import { aboutOf, type Tx } from './rows';
import type { WantedFirewalls } from './schema';
import type { Journal } from './journal';

/** No saga is known to have said anything of firewalls that are not named. */
export interface StatedFirewalls {
  /** A saga works on the server, waits for its turn, or has not ended: what is stated may change at any moment. */
  isBusy: boolean;
  assigned: number[];
  unassigned: number[];
  /**
   * When a saga last ended that named all firewalls of the server: of what it did not name, nothing that was said
   * before counts.
   */
  exactlyMs: number | undefined;
}

/** @throws JournalUnavailable */
export function statedFirewalls(journal: Journal, vmObjectId: number): Promise<StatedFirewalls> {
  return journal.inTransaction(async (tx) => {
    const rows = await tx
      .selectFrom('effect')
      .select(['workflow', 'reference', 'activity', 'outcome', 'about', 'meant_ms'])
      .where('vm_object_id', '=', vmObjectId)
      .orderBy('seq')
      .execute();
    const resource = `server ${vmObjectId}`;
    const words = await wordsOn(tx, resource);
    const said = new Map<number, string>();
    let exactlyMs: number | undefined;
    const hear = ({ word, endedMs }: EndingWord) => {
      if ('exactly' in word) {
        exactlyMs = endedMs;
        for (const id of said.keys()) said.set(id, 'unassignFirewalls');
      } else for (const id of word.unassign) said.set(id, 'unassignFirewalls');
      for (const id of 'exactly' in word ? word.exactly : word.assign) said.set(id, 'assignFirewalls');
    };
    for (const row of rows) {
      // One saga at a time works on a server: what is meant after an ending is of a later one.
      const before = words.filter(({ endedMs }) => endedMs < row.meant_ms);
      words.splice(0, before.length).forEach(hear);
      if (isRepair(row)) continue;
      const unsure = row.outcome === null || row.outcome === 'unknown';
      // What was undone, a later row has undone.
      if (!unsure && row.outcome !== 'done' && row.outcome !== 'undone') continue;
      for (const id of aboutOf(row).firewalls ?? []) said.set(id, unsure ? 'unsure' : row.activity);
    }
    words.forEach(hear);
    const those = (activity: string) => [...said].flatMap(([id, last]) => (last === activity ? [id] : []));
    const turn = await tx
      .selectFrom('turn')
      .select('id')
      .where('resource', '=', resource)
      .where('ended_ms', 'is', null)
      .limit(1)
      .execute();
    return {
      isBusy: turn.length > 0 || (await someIsOpen(tx, vmObjectId)),
      assigned: those('assignFirewalls'),
      unassigned: those('unassignFirewalls'),
      exactlyMs,
    };
  });
}

interface EndingWord {
  word: WantedFirewalls;
  endedMs: number;
}

/** The oldest first. Of a saga that has ended several times, because it was reset, the last ending counts. */
async function wordsOn(tx: Tx, resource: string): Promise<EndingWord[]> {
  const endings = await tx
    .selectFrom('ending')
    .select(['workflow', 'reference', 'word', 'ended_ms'])
    .where('resource', '=', resource)
    .orderBy('ended_ms')
    .execute();
  const last = new Map(endings.map((ending) => [`${ending.workflow}/${ending.reference}`, ending]));
  return endings.flatMap((ending) => {
    const { workflow, reference, word, ended_ms: endedMs } = ending;
    const counts = word !== null && !isRepair(ending) && last.get(`${workflow}/${reference}`) === ending;
    return counts ? [{ word: JSON.parse(word) as WantedFirewalls, endedMs }] : [];
  });
}

async function someIsOpen(tx: Tx, vmObjectId: number): Promise<boolean> {
  const open = await tx
    .selectFrom('effect')
    .innerJoin('reference', (join) =>
      join
        .onRef('reference.workflow', '=', 'effect.workflow')
        .onRef('reference.reference', '=', 'effect.reference')
        .on('reference.open_in', 'is not', null),
    )
    .select('effect.id')
    .where('effect.vm_object_id', '=', vmObjectId)
    .limit(1)
    .execute();
  return open.length > 0;
}
