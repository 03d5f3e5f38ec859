/** The journal keeps this of a call that changes something: docs/internals/journal.md. These words stand in its database. */
import { z } from 'zod';
import type { Quote } from './quotes';

/** `compensate` takes back, `pivot` cannot be taken back. Calls that change nothing are not in the journal. */
export const effectKinds = ['mutate', 'compensate', 'pivot'] as const;
export type EffectKind = (typeof effectKinds)[number];

/** A row without an outcome: the call was intended, and nobody has written down its outcome. */
export const effectOutcomes = ['done', 'not-done', 'unknown', 'undone', 'denied'] as const;
export type EffectOutcome = (typeof effectOutcomes)[number];

/** A call that ended is written down as one of these. */
export type AnsweredOutcome = Extract<EffectOutcome, 'done' | 'not-done' | 'unknown'>;

/** The ids that a call was about: they are stored unencrypted and searched, so none is a secret. */
export const aboutSchema = z.strictObject({
  /** The number of the item in the request, from 1. */
  item: z.int().optional(),
  /** How often the item had been corrected by then; absent where never. */
  corrected: z.int().optional(),
  cartItemId: z.int().optional(),
  /** The items that an order names. */
  cartItems: z.array(z.int()).optional(),
  vmObjectId: z.int().optional(),
  /** Those that each server of an order is to have. */
  firewalls: z.array(z.int()).optional(),
  /** The servers that an order brings, as its request says. */
  vmObjectIds: z.array(z.int()).optional(),
  subscriptionId: z.int().optional(),
  planId: z.int().optional(),
});
type Said = z.infer<typeof aboutSchema>;
export type About = { [F in keyof Said]: Said[F] extends number | undefined ? Said[F] : Readonly<Said[F]> };

/** How it is known that a pivot happened. Only an answer of the provider brings a value. */
export type Placement<T> =
  | { how: 'answered'; value: T }
  | { how: 'found'; vmObjectIds: number[] }
  | { how: 'confirmed'; vmObjectIds?: number[]; orderId?: string };

/** A question about a pivot shows it, in any run: the history that knew it may be gone. */
export interface PivotNote {
  /** A person looks for it in the provider's control panel, as it was sent: "account AB-1, label “web-1”". */
  foundBy: string;
  /** An order's, whole. */
  label?: string | undefined;
  quote?: Quote;
  /** The server directory listed them before it was sent: these are not its servers. */
  listedBefore?: readonly number[];
}

/** Another reference's order that is known again by the same. */
export interface Namesake {
  reference: string;
  at: string;
  /** The provider's id, where it is known. */
  orderId?: string | undefined;
}

/** The row of a pivot of unknown outcome. */
export interface OpenPivot {
  row: string;
  /** When it was intended, and by which run. */
  at: string;
  run: string;
  /** How long after it was first seen it may be in flight. */
  inFlightMs: number;
  /** True: not a row of ours. The journal was restored, and nobody knows what was sent in the lost time. */
  restored: boolean;
  note?: PivotNote;
  namesakes?: readonly Namesake[] | undefined;
}

/** A cart item that was added and not deleted. */
export interface OpenItem {
  cartItemId: number;
  /** The step that added it. */
  step: string;
}

/** A run passes it to its next call: a journal that lacks it was restored. */
export interface JournalCursor {
  /** Made once, with the journal's tables: another journal has another id. */
  journal: string;
  /** Raised whenever the journal was restored from an older copy. */
  epoch: number;
  /** The id of the last row that the run learnt of. */
  row?: string;
  /** The number of the begin by which the run owns the reference; absent where it is another saga's. */
  fence?: number;
}

/** A call with an effect, as the journal has it. */
export interface EffectCall {
  step: string;
  kind: EffectKind;
  /** The name of the activity that makes it. */
  activity: string;
  about: About;
}

/** It has yet to be written into the journal, which could not be reached when the call had ended. */
export interface Unwritten {
  call: EffectCall;
  cursor: JournalCursor & { row: string };
  /** How long after it was intended it may be in flight. */
  inFlightMs: number;
  outcome: AnsweredOutcome;
  /** The failure's name where it failed. */
  failure?: string;
}

/** An activity with an effect answers it. */
export interface Effected<T> {
  value: T;
  cursor: JournalCursor;
  /** Present where nothing was sent now: the value was recorded then, by that run. */
  recorded?: { at: string; run: string };
  /** How many rows of this step are of unknown outcome. */
  doubts?: number;
  unwritten?: Unwritten;
}
