/**
 * What goes wrong with calls in a history: on the wire, and what it means for a saga by the design's table of failures.
 */
import type { FaultKind } from '../../../sandbox/fault-kinds';

export type Meaning =
  /** The provider says no. */
  | 'refused'
  /** Our credentials, or an answer that is not the provider's: no use in trying again unasked. */
  | 'barred'
  /** Later, please: tried again by itself, also a pivot. */
  | 'slowed'
  /** Nobody knows whether it took effect. */
  | 'lost'
  /** It took effect, and the answer does not name what it made. */
  | 'nameless';

export interface Trouble {
  kind: FaultKind;
  said: string;
  meaning: Meaning;
  /** Whether the call takes effect all the same. */
  effect: boolean;
  /** The answer does not say that nothing happened. */
  leavesDoubt?: true;
}

/** Of a call that is dared once, whatever does not surely say that nothing happened leaves nobody knowing. */
export function meaningOf({ meaning, leavesDoubt }: Trouble, isPivot: boolean): Meaning {
  return isPivot && leavesDoubt && (meaning === 'barred' || meaning === 'refused') ? 'lost' : meaning;
}

export const troubles: readonly Trouble[] = [
  { kind: 'refuse-before', said: 'is refused', meaning: 'refused', effect: false },
  {
    kind: 'error-code',
    said: 'is refused in the body of a success',
    meaning: 'refused',
    effect: false,
    leavesDoubt: true,
  },
  { kind: 'unauthorized', said: 'is answered 401', meaning: 'barred', effect: false },
  { kind: 'redirect', said: 'is redirected', meaning: 'barred', effect: false, leavesDoubt: true },
  {
    kind: 'redirect-after',
    said: 'takes effect and is redirected',
    meaning: 'barred',
    effect: true,
    leavesDoubt: true,
  },
  { kind: 'rate-limit', said: 'is answered 429', meaning: 'slowed', effect: false },
  { kind: 'error-before', said: 'fails and does nothing', meaning: 'lost', effect: false, leavesDoubt: true },
  {
    kind: 'reset-after',
    said: 'takes effect, and its answer is lost',
    meaning: 'lost',
    effect: true,
    leavesDoubt: true,
  },
  {
    kind: 'garbage',
    said: 'takes effect and is answered with garbage',
    meaning: 'lost',
    effect: true,
    leavesDoubt: true,
  },
  { kind: 'other-body', said: 'takes effect and its answer names nothing', meaning: 'nameless', effect: true },
];
