/** The troubles of calls in a history: on the wire, and what it means for a saga by the design's table of failures. */
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
  effect: boolean;
  /** The answer does not say that nothing happened. */
  leavesDoubt?: true;
}

/** A call that is dared once is of unknown outcome unless the answer surely says that nothing happened. */
export function meaningOf({ meaning, leavesDoubt }: Trouble, isPivot: boolean): Meaning {
  return isPivot && leavesDoubt && (meaning === 'barred' || meaning === 'refused') ? 'lost' : meaning;
}

const trouble = (kind: FaultKind, said: string, meaning: Meaning, more: Partial<Trouble> = {}): Trouble => ({
  ...{ kind, said, meaning, effect: false },
  ...more,
});
const doubtful = { leavesDoubt: true } as const;
const unseen = { effect: true, leavesDoubt: true } as const;

export const troubles: readonly Trouble[] = [
  trouble('refuse-before', 'is refused', 'refused'),
  trouble('error-code', 'is refused in the body of a success', 'refused', doubtful),
  trouble('unauthorized', 'is answered 401', 'barred'),
  trouble('redirect', 'is redirected', 'barred', doubtful),
  trouble('redirect-after', 'takes effect and is redirected', 'barred', unseen),
  trouble('rate-limit', 'is answered 429', 'slowed'),
  trouble('error-before', 'fails and does nothing', 'lost', doubtful),
  trouble('reset-after', 'takes effect, and its answer is lost', 'lost', unseen),
  trouble('garbage', 'takes effect and is answered with garbage', 'lost', unseen),
  trouble('other-body', 'takes effect and its answer names nothing', 'nameless', { effect: true }),
];
