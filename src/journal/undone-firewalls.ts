/** Which firewalls of a call were undone: a later call of its step may have undone only some of them. */
import type { EffectKind } from '../domain/effects';
import type { EffectCall } from '../domain/effects';
import { aboutOf, rowsOfStep, type SagaKey, type Tx } from './rows';

export interface FirewallCall {
  step: string;
  kind: EffectKind;
  /** As in the journal or its record. */
  outcome: string | null;
  about: { vmObjectId?: number | undefined; firewalls?: readonly number[] | undefined };
}

/**
 * The firewalls of a call that no later call of its step has undone.
 *
 * @param calls of the saga, the oldest first
 */
export function notUndone<Call extends FirewallCall>(call: Call, calls: readonly Call[]): number[] {
  const { step, about } = call;
  const back = calls
    .slice(calls.indexOf(call) + 1)
    .filter((later) => later.kind === 'compensate' && later.outcome === 'done' && later.step === step)
    .flatMap((later) => (later.about.vmObjectId === about.vmObjectId ? (later.about.firewalls ?? []) : []));
  return (about.firewalls ?? []).filter((id) => !back.includes(id));
}

/** A change of firewalls is undone only once this call, and those before it, have undone all of them. */
export async function markUndone(tx: Tx, key: SagaKey, { step, about }: EffectCall, by: string): Promise<void> {
  const rows = await rowsOfStep(tx, key, { kind: 'compensate', step });
  // The answer of this call may be late, and then its row does not say `done`.
  const calls = rows.map((row) => ({ ...row, about: aboutOf(row), ...(row.id === by ? { outcome: 'done' } : {}) }));
  const { cartItemId } = about;
  const isUndone = (call: (typeof calls)[number]) =>
    cartItemId === undefined
      ? call.cart_item_id === null && notUndone(call, calls).length === 0
      : call.cart_item_id === cartItemId;
  const before = calls.slice(0, calls.map(({ id }) => id).indexOf(by));
  const undone = before.filter(
    (call) =>
      call.kind === 'mutate' &&
      (call.outcome === 'done' ||
        call.outcome === 'unknown' ||
        (call.cart_item_id !== null && call.outcome !== 'undone' && call.outcome !== 'denied')) &&
      isUndone(call),
  );
  if (undone.length === 0) return;
  const ids = undone.map(({ id }) => id);
  await tx.updateTable('effect').set({ outcome: 'undone', undone_by: by }).where('id', 'in', ids).execute();
}
