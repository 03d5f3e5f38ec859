/** What a run asks the journal before it sends a call, and what the journal may answer. */
import type { EffectCall, JournalKnowledge, OpenPivot, PivotNote } from '../domain/effects';
import type { Concern } from '../domain/spending';
import type { FailoverRule } from './database-identity';
import type { Bought, PurchaseRules } from './purchases';
import type { CorrectionRow } from './correction-rows';
import type { Effect, Reference, SagaKey, SentDigests } from './rows';

export interface Meaning extends SagaKey {
  call: EffectCall;
  run: string;
  /** The run's namespace: the reference is open there from now on. Undefined where the reference is another saga's. */
  namespace?: string | undefined;
  /** What the run's history knows of the journal; undefined before the run has used it. */
  knows: JournalKnowledge | undefined;
  /** After so long the worker that means it now can no longer be sending it. */
  inFlightMs: number;
  /** If the step has already made something, return its recorded answer and send nothing. Always so for a pivot. */
  recall?: boolean;
  /** If a person has done the call by hand, send nothing; see by-hand.ts. */
  countsByHand?: boolean;
  /** Is sealed. */
  note?: PivotNote | undefined;
  /** Digests of the secrets that the call sends by their names. */
  sent?: SentDigests | undefined;
  /** The saga's turn, if it has one: what a person did by hand counts within it. */
  turn?: string | undefined;
  /** For a pivot: how many corrections of the request the run knows. */
  corrections?: number | undefined;
  /** For a pivot: the operator's rules for purchases, over all references. */
  rules?: PurchaseRules | undefined;
}

/** A meaning, ready to be written. */
export type Noted = Omit<Meaning, 'note'> & {
  note: string | null;
  failover: FailoverRule;
  /** For a pivot: by the request that the reference was taken with, and its corrections. */
  boughtBy?: (taken: Reference | undefined, corrections: readonly CorrectionRow[]) => Promise<Bought | undefined>;
};

export type Meant =
  /** `repeats`: the same call was sent before, and nobody knows its outcome. */
  | { how: 'send'; knows: JournalKnowledge & { row: string }; doubts: number; repeats?: true }
  | { how: 'recorded'; knows: JournalKnowledge; answer: unknown; at: string; run: string; doubts: number }
  /** The first call may still be in flight for so long: ask again then. */
  | { how: 'under-way'; row: string; leftMs: number }
  | ({ how: 'unknown'; leftMs: number } & OpenPivot)
  /** Another begin owns the reference. */
  | { how: 'not-owned' }
  /** What the run goes by is not so any more: it has to begin again. */
  | { how: 'changed'; why: string }
  /** The item is in an order that was placed, or may have been. */
  | { how: 'ordered'; placed: boolean; at: string; run: string }
  /** The item's id is that of an item of this reference, which is younger. */
  | { how: 'anothers'; of: string; at: string }
  | { how: 'restored'; why: string }
  /** It was placed, and the provider has cancelled it, as a person said then. */
  | { how: 'cancelled'; at: string }
  /** A person has to agree first. */
  | { how: 'asks'; concern: Concern };

/** A call that was meant, as the worker that made it knows it. */
export interface MeantCall {
  call: EffectCall;
  run: string;
  /** As in {@link Meaning}, in case the row has to be written again. */
  inFlightMs: number;
  knows: JournalKnowledge & { row: string };
}

export type Decided =
  | Exclude<Meant, { how: 'recorded' | 'unknown' | 'send' }>
  /** `top`: the row's place. */
  | (Extract<Meant, { how: 'send' }> & { top: number })
  | (Omit<Extract<Meant, { how: 'unknown' }>, 'note'> & { note: string | null })
  | (Omit<Extract<Meant, { how: 'recorded' }>, 'answer'> & { effect: Effect });
