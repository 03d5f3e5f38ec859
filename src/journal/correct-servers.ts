/** A person says which servers an order has, once its saga has ended: while it goes on, it is asked. */
import { sql } from 'kysely';
import type { OfOther } from '../domain/servers';
import type { ProvisionServersRequest } from '../domain/requests';
import type { Journal } from './journal';
import { countOf, livePivot, lock, ofSaga, type SagaKey, type Tx } from './rows';
import { bringUnnamed, name, ofOthers, release, serversBrought, unnamed } from './servers';
import type { Verdict } from './store';

/** What stands in the row of a server that a correction has given or taken. */
export interface ServerCorrection extends Verdict {
  /** The order that has lost it to this one, or got it from this one. */
  from?: string;
  to?: string;
}

export type Corrected =
  | { how: 'corrected' }
  | { how: 'not-placed' | 'open'; reference: string }
  | { how: 'too-many'; servers: number }
  | { how: 'others'; others: OfOther[] };

/**
 * @param ids all that it has; none where nobody knows them
 * @param from an order that loses those of them which it has
 * @returns `others` where yet another order has one; then nothing is written, and neither is it where an order goes on, or
 * was not placed
 * @throws JournalUnreadable
 */
export async function correctServers(
  journal: Journal,
  reference: string,
  ids: readonly number[],
  { from, ...verdict }: Verdict & { from?: string | undefined },
): Promise<Corrected> {
  const keyOf = (one: string): SagaKey => ({ workflow: 'provisionServers', reference: one });
  const firewallsOf = async (one: string) =>
    ((await journal.correctedRequest(keyOf(one))) as ProvisionServersRequest | undefined)?.firewalls ?? [];
  const orders = [reference, ...(from === undefined ? [] : [from])];
  const wanted = new Map(await Promise.all(orders.map(async (one) => [one, await firewallsOf(one)] as const)));
  const seal = (said: Omit<ServerCorrection, keyof Verdict>) => journal.sealing.seal({ ...verdict, ...said });
  const [taken, given, left] = await Promise.all([seal({ from }), seal({ to: reference }), seal({})]);
  return journal.inTransaction(async (tx) => {
    const brings = new Map<string, number>();
    // Always in this order, so that no two corrections wait for each other.
    for (const one of [...orders].sort()) {
      const locked = await lock(tx, keyOf(one));
      const pivot = await livePivot(tx, keyOf(one));
      if (pivot?.outcome !== 'done' || pivot.cancelled_ms !== null) return { how: 'not-placed', reference: one };
      if (locked?.is_open !== null) return { how: 'open', reference: one };
      const servers = await serversBrought(tx, keyOf(one));
      if (one === reference && ids.length > (servers ?? Infinity)) return { how: 'too-many', servers: servers ?? 0 };
      // A person may name fewer than were ordered: those that it loses are not gone.
      brings.set(one, one === reference ? 1 : (servers ?? 1));
    }
    const key = keyOf(reference);
    const others = (await ofOthers(tx, key, ids)).filter((other) => ![undefined, from].includes(other.reference));
    if (others.length > 0) return { how: 'others', others };
    if (from !== undefined) await release(tx, keyOf(from), sql`vm_object_id in (${sql.join(ids)})`, given);
    await release(tx, key, sql`vm_object_id not in (${sql.join([unnamed, ...ids])})`, left);
    const got = sql`(vm_object_id, workflow, reference) do update
      set left_ms = null, corrected = excluded.corrected, seen_ms = excluded.seen_ms where server.left_ms is not null`;
    await name(tx, key, ids, wanted.get(reference) ?? [], { onConflict: got, corrected: taken });
    for (const one of orders) await bringUnknown(tx, keyOf(one), wanted.get(one) ?? [], brings.get(one));
    return { how: 'corrected' };
  });
}

/** It brings more than anybody knows. A person's word that these need nothing stays. */
async function bringUnknown(tx: Tx, key: SagaKey, firewalls: readonly number[], brings = 1): Promise<void> {
  const known = sql`server where ${ofSaga(key)} and vm_object_id <> ${unnamed} and left_ms is null`;
  if ((await countOf(tx, known)) >= brings) return;
  const onConflict = sql`(vm_object_id, workflow, reference) do update
    set closed_ms = null, open_since_ms = excluded.open_since_ms where server.closed_ms is not null and server.closed is null`;
  await bringUnnamed(tx, key, firewalls, { onConflict });
}
