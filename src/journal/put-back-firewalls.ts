/** Which firewalls of a call were put back: a later call of its step may have put back only some of them. */
import type { EffectKind } from '../domain/effects';

export interface FirewallCall {
  step: string;
  kind: EffectKind;
  /** As in the journal or its record. */
  outcome: string | null;
  about: { vmObjectId?: number | undefined; firewalls?: readonly number[] | undefined };
}

/**
 * The firewalls of a call that no later call of its step has put back.
 *
 * @param calls of the saga, the oldest first
 */
export function notPutBack<Call extends FirewallCall>(call: Call, calls: readonly Call[]): number[] {
  const { step, about } = call;
  const back = calls
    .slice(calls.indexOf(call) + 1)
    .filter((later) => later.kind === 'compensate' && later.outcome === 'done' && later.step === step)
    .flatMap((later) => (later.about.vmObjectId === about.vmObjectId ? (later.about.firewalls ?? []) : []));
  return (about.firewalls ?? []).filter((id) => !back.includes(id));
}
