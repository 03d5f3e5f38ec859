/**
 * Holds the journal against what took effect at the provider: every effect has a row that was intended before it,
 * and every row that is done has its effect. Each difference is a sentence; none is good.
 */
import type { Kysely } from 'kysely';
import type { Call, LedgerEntry, LedgerSnapshot } from '../../sandbox/ledger';
import type { JournalTables } from '../../src/journal/database/schema';
import { planIdOf } from './requests';

export interface Row {
  workflow: string;
  reference: string;
  kind: string;
  activity: string;
  about: { cartItems?: number[]; vmObjectId?: number; firewalls?: number[]; subscriptionId?: number };
  cartItemId: number | null;
  intendedMs: number;
  answeredMs: number | null;
  outcome: string | null;
  /** How the call failed, where it did. */
  failure: string | null;
  /** True where a person or a look said that it happened, and not the provider's answer. */
  byWord: boolean;
  late: boolean;
}

export async function rowsIn(db: Kysely<JournalTables>): Promise<Row[]> {
  const rows = await db.selectFrom('effect').selectAll().orderBy('seq').execute();
  return rows.map((row) => ({
    workflow: row.workflow,
    reference: row.reference,
    kind: row.kind,
    activity: row.activity,
    about: JSON.parse(row.about) as Row['about'],
    cartItemId: row.cart_item_id,
    intendedMs: row.intended_ms,
    answeredMs: row.answered_ms,
    outcome: row.outcome,
    failure: row.failure,
    byWord: row.decided_ms !== null,
    late: row.late !== null,
  }));
}

/** Clocks of one machine, read by two programs. */
const clockSlackMs = 50;

const activities: Record<LedgerEntry['type'], string> = {
  cartItemAdded: 'addCartItem',
  cartItemDeleted: 'deleteCartItem',
  orderPlaced: 'placeOrder',
  changeOrderPlaced: 'placeChangeOrder',
  planSwitched: 'switchPlan',
  firewallsAssigned: 'assignFirewalls',
  firewallsUnassigned: 'unassignFirewalls',
};

/** @param rows of one provider's journal, all of them */
export function differences(rows: readonly Row[], ledger: LedgerSnapshot): string[] {
  const called = new Map<number, Call>();
  for (const call of ledger.calls) for (const effect of call.effects) called.set(effect, call);
  const free = new Set(rows);
  const broken: string[] = rows
    .filter(({ late }) => late)
    .map(({ reference }) => `${reference}: took effect after a person had said that it had not`);

  // Those that name what they made first, so that nothing vaguer takes their rows.
  const effects = ledger.entries
    // A person did the others in the panel.
    .filter((entry) => called.has(entry.seq))
    .sort((one, other) => Number(exactly(rows, other)) - Number(exactly(rows, one)));
  for (const effect of effects) {
    const receivedMs = called.get(effect.seq)?.receivedMs ?? Infinity;
    const named = exactly(rows, effect);
    const candidates = [...free].filter((row) => mayBe(row, effect) && (!named || row.cartItemId !== null));
    const isInTime = (row: Row) => row.intendedMs <= receivedMs + clockSlackMs;
    const [row] = candidates.filter(isInTime).sort(surestFirst);
    if (row === undefined) {
      broken.push(`${candidates.length > 0 ? 'intended only after it was sent' : 'no row'}: ${describe(effect)}`);
      continue;
    }
    free.delete(row);
    if (row.outcome === 'not-done' || row.outcome === 'denied') {
      broken.push(`called ${row.outcome}, and it took effect: ${describe(effect)}`);
    }
  }
  for (const row of free) {
    // A call of unknown outcome is taken back together with the one that was made again.
    const done = row.outcome === 'done' || (row.outcome === 'undone' && row.failure === null);
    // A word is somebody's; and an item that is gone already is deleted without an effect.
    if (done && !row.byWord && row.activity !== 'deleteCartItem' && !isFound(row, rows))
      broken.push(`done, and there is no effect: ${JSON.stringify(row)}`);
  }
  return broken;
}

/** A look has found what another call of the same change may have done: nothing was sent for one of the two rows. */
function isFound(row: Row, rows: readonly Row[]): boolean {
  const at = rows.indexOf(row);
  const ends = ({ answeredMs }: Row) => answeredMs ?? Infinity;
  return (
    row.about.firewalls !== undefined &&
    rows.some((other, place) => {
      const isSame =
        place !== at &&
        other.reference === row.reference &&
        other.activity === row.activity &&
        other.about.vmObjectId === row.about.vmObjectId &&
        sameList(other.about.firewalls, row.about.firewalls ?? []);
      const wasUnsure =
        place < at && (other.outcome === null || (other.outcome !== 'not-done' && other.failure !== null));
      return isSame && (wasUnsure || (ends(other) >= row.intendedMs && ends(row) >= other.intendedMs));
    })
  );
}

const exactly = (rows: readonly Row[], effect: LedgerEntry) =>
  'cartItemId' in effect && rows.some(({ cartItemId }) => cartItemId === effect.cartItemId);

function mayBe(row: Row, effect: LedgerEntry): boolean {
  if (row.activity !== activities[effect.type]) return false;
  const { about } = row;
  switch (effect.type) {
    case 'cartItemAdded':
      // Whose answer was lost has no id; then it is one of this reference's, by the plan that its items are of.
      return row.cartItemId === null
        ? effect.item.plan_id === planIdOf(row.reference) && row.outcome !== 'done'
        : row.cartItemId === effect.cartItemId;
    case 'cartItemDeleted':
      return row.cartItemId === effect.cartItemId;
    case 'orderPlaced':
      return sameList(about.cartItems, effect.cartItems);
    case 'changeOrderPlaced':
    case 'planSwitched':
      return about.subscriptionId === effect.subscriptionId;
    case 'firewallsAssigned':
    case 'firewallsUnassigned':
      return about.vmObjectId === effect.vmObjectId && sameList(about.firewalls, effect.firewalls);
  }
}

/** One that may well be it before one that says that it was not; then the one that was intended last before the call. */
function surestFirst(one: Row, other: Row): number {
  const saysNo = ({ outcome }: Row) => Number(outcome === 'not-done' || outcome === 'denied');
  return saysNo(one) - saysNo(other) || other.intendedMs - one.intendedMs;
}

function describe({ seq, ...effect }: LedgerEntry): string {
  return `${JSON.stringify(effect)} (${seq})`;
}

function sameList(one: readonly number[] | undefined, other: readonly number[]): boolean {
  return one !== undefined && JSON.stringify([...one].sort()) === JSON.stringify([...other].sort());
}
