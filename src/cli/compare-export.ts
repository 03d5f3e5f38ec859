/**
 * Our orders against the provider's own list of them. A row is an order's by the provider's id, where the journal has it;
 * else by account, label and time, and only if nothing else fits: no other row, and no other order of ours.
 */
import { readClientConfig } from '../config';
import { accountName } from '../domain/identity';
import { namesOfFirst } from '../domain/problems';
import { JournalUnreadable } from '../journal/database/errors';
import { bought, type Bought } from '../journal/purchases';
import type { CommandContext } from './define';
import { UsageError } from './exit-status';
import { withJournal } from './journal-commands';
import { panelOrders, type PanelOrder } from './panel-export';

/** An export may have whole minutes, and its clock is not the journal's. */
const clocksDifferMs = 60_000;
/** So many rows say that an order has more than one. */
const rowsKept = 2;

/** One of ours, the rows that may be it, and all that one of these may be. */
export interface Compared extends Bought {
  rows: PanelOrder[];
  hasOwn: boolean;
  rivals: readonly Compared[];
}

/** What an order is found by: the provider's id; or account and label, in each of its minutes. */
type By = [orderId: string] | [account: string, label: string, minute: number];

/**
 * A panel may write an id in another way than the answer to the order: then its row is one of account and label, too.
 *
 * @param onRow takes each row, with those of ours that it may be; rows without an id of ours come last
 * @returns orders that were not surely refused
 */
export async function compareWith(
  file: string,
  { stdin }: CommandContext,
  onRow: (row: PanelOrder, ours: readonly Compared[]) => void = () => undefined,
): Promise<Compared[]> {
  const declared = readClientConfig().profile?.export;
  if (!declared)
    throw new UsageError('`export` of PROVIDER_PROFILE is not declared: what the columns mean is not known');
  const ours: Compared[] = [];
  const known = new Map<string, Compared[]>();
  const foundBy = (...by: By) => known.get(JSON.stringify(by)) ?? [];
  const keep = (one: Compared, ...by: By) => {
    const all = foundBy(...by);
    if (all.push(one) === 1) known.set(JSON.stringify(by), all);
  };
  await withJournal({ writes: false }, async (journal) => {
    for await (const order of bought(journal, {})) {
      const { workflow, reference, fate, orderId, label, sentUntil } = order;
      if (workflow !== 'provisionServers' || (fate === 'not-placed' && sentUntil === undefined)) continue;
      // Its row might be taken for another one's.
      if (order.unreadable) throw new JournalUnreadable(`the order of ${reference}`);
      const account = accountName(order.account ?? '');
      const one = { ...order, account, rows: [], hasOwn: false, rivals: [] };
      ours.push(one);
      if (orderId !== undefined) keep(one, orderId);
      if (label !== undefined)
        for (let at = minuteOf(earliest(one)); at <= minuteOf(latest(one)); at += 1) keep(one, account, label, at);
    }
  });
  const take = (row: PanelOrder, those: readonly Compared[]) => {
    for (const one of those) {
      if (one.rows.length < rowsKept) one.rows.push(row);
      if (those.length > 1) one.rivals = those;
    }
    onRow(row, those);
  };
  const byLabel: [PanelOrder, readonly Compared[]][] = [];
  for await (const row of panelOrders(file, stdin, declared)) {
    const { orderId, account, label, ms } = row;
    const byId = foundBy(orderId);
    for (const one of byId) one.hasOwn = true;
    const alike = byId.length > 0 ? [] : foundBy(account, label, minuteOf(ms));
    if (alike.length > 0) byLabel.push([row, alike]);
    else take(row, byId);
  }
  for (const [row, alike] of byLabel) {
    const fits = (one: Compared) => !one.hasOwn && earliest(one) <= row.ms && row.ms <= latest(one);
    take(row, alike.filter(fits));
  }
  return ours;
}

const minuteOf = (ms: number) => Math.floor(ms / 60_000);
const earliest = ({ at }: Bought) => Date.parse(at) - clocksDifferMs;
const latest = ({ at, sentUntil = at }: Bought) => Date.parse(sentUntil) + clocksDifferMs;

export const noRow = 'no row fits, which does not say that it was not placed';

/** @returns why its row is not known, where it is not */
export function rowOf(one: Compared): PanelOrder | string {
  const { rows, orderId, label } = one;
  const [row] = rows;
  if (orderId === undefined && label === undefined)
    return 'it has no label, or the journal was restored since it was sent';
  if (row === undefined) return noRow;
  if (rows.length > 1) return `more than one row fits: ${rows.map((other) => other.row).join(', ')}`;
  const rivals = one.rivals.flatMap((other) => (other === one ? [] : [other.reference]));
  if (rivals.length > 0) return `row ${row.row} may be another order’s: ${namesOfFirst(rivals, 3)}`;
  return row.stands ? row : `row ${row.row} does not stand, by its status`;
}
