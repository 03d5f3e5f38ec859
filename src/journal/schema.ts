/**
 * The journal's tables as the code sees them; the migrations make them. Times are milliseconds since 1970, by the
 * database's clock.
 */
import type { Generated } from 'kysely';
import type { EffectKind, EffectOutcome } from '../domain/effects';
import type { WorkflowName } from '../domain/identity';

export interface JournalTables {
  journal: JournalTable;
  reference: ReferenceTable;
  effect: EffectTable;
  ending: EndingTable;
  turn: TurnTable;
  correction: CorrectionTable;
  confirmation: ConfirmationTable;
  purchase: PurchaseTable;
  server: ServerTable;
}

/** The one row about the journal itself. */
interface JournalTable {
  id: string;
  /** The time at which the journal was created or last restored. A later epoch is greater, also in another journal. */
  epoch: number;
  /** When the epoch was last raised; 0 if never. */
  raised_ms: number;
  /**
   * When a worker found that the journal lacks rows that a history knows. Nothing is sent until the epoch is raised.
   */
  restored_ms: number | null;
  /** 1: a person is asked about a new reference, because it may be one that was lost. */
  doubts_new: number;
  /**
   * The cluster that was last known to hold this journal, and its timeline: `7426…/00000001`. Null where that was never
   * known.
   */
  identity: string | null;
  /** Temporal's, in which its sagas run. Null before the first worker. */
  namespace: string | null;
}

interface ReferenceTable {
  workflow: WorkflowName;
  reference: string;
  account: string | null;
  /** Sealed. Null where the journal was restored, and the reference is known only from a later effect or doubt. */
  request: string | null;
  first_seen_ms: number;
  first_run: string;
  /** The journal's epoch when the reference was first seen; 0 where it may be from the lost time. */
  epoch: number;
  /** When the reference was last used. Each transaction writes it first, as a lock. */
  touched_ms: number;
  /** 1 from when it is taken until an ending is written, and again once a later run has begun; null otherwise. */
  is_open: number | null;
  /**
   * The runs that began or ended, as they began last, with a space around each. Null: none.
   */
  runs: string | null;
  /** How often a run has begun under it, or gone on after a call of it was lost. */
  begun: Generated<number>;
  /**
   * The begin that owns it, as a run and its number: `b1c2…/3`. Only its calls are meant. Null where no run works under
   * it.
   */
  owner: string | null;
}

interface EffectTable {
  /** The order in which rows were written. */
  seq: Generated<number>;
  /** Random, chosen by the worker. */
  id: string;
  workflow: WorkflowName;
  reference: string;
  step: string;
  kind: EffectKind;
  /** The activity that made the call. */
  activity: string;
  run: string;
  /** JSON of `About`. */
  about: string;
  /** Sealed: the `PivotNote` of a pivot. */
  note: string | null;
  /** JSON: of each secret that the call sent by its name, the digests of its value. */
  sent: string | null;
  /** The item that was added, once its id is known, or that is to be deleted. */
  cart_item_id: number | null;
  /** The server whose firewalls it changes. */
  vm_object_id: number | null;
  epoch: number;
  meant_ms: number;
  /** After so long the worker that meant it can no longer be sending it, by that worker's settings. */
  in_flight_ms: number;
  outcome: EffectOutcome | null;
  answered_ms: number | null;
  /** The failure's name where it failed. */
  failure: string | null;
  /** Sealed: the answer of a call that is done, the failure of one that is not. */
  answer: string | null;
  /** The row of the call that undid it. */
  undone_by: string | null;
  /** When a person said what its outcome was. */
  decided_ms: number | null;
  /** Sealed: who said so, and how they know. */
  decided: string | null;
  /** Sealed: an answer of success that came after a person had said that it did not happen. There should be none. */
  late: string | null;
  /** When a person said that the provider has cancelled a pivot that is done. It stays `done`. */
  cancelled_ms: number | null;
  /** Sealed: who said so, and how they know. */
  cancelled: string | null;
  /** Set where it was written because the step had no row. */
  is_first: number | null;
}

/** How a run ended. A reference has several endings where a run was reset after its end. */
interface EndingTable {
  workflow: WorkflowName;
  reference: string;
  run: string;
  /** The workflow of the run: the reference's own, or `cleanCart`. */
  ended_by: WorkflowName;
  ended_ms: number;
  outcome: string;
  /** Sealed. */
  report: string;
  /** What it worked on, as a turn names it. */
  resource: string | null;
  /** JSON of `WantedFirewalls`, where it is a change of firewalls that is done. */
  word: string | null;
}

/** What a change of firewalls asked for: it holds from the end of its saga, also where no call was needed. */
export type WantedFirewalls =
  { exactly: readonly number[] } | { assign: readonly number[]; unassign: readonly number[] };

/**
 * A saga's turn at a server or a subscription, or its place in the queue. Deleted once no call of the ended saga is in
 * the air.
 */
interface TurnTable {
  /** The order of arrival. */
  seq: Generated<number>;
  /** Random; sent with each call of this turn. */
  id: string;
  /** `server 7`, `subscription 5`. */
  resource: string;
  workflow: WorkflowName;
  reference: string;
  since_ms: number;
  /** Null while the saga waits. */
  begun_ms: number | null;
  /** Set when the saga has ended. The next saga deletes the row once no call of this one can be in flight. */
  ended_ms: number | null;
}

/** A person's correction of a request before its pivot. It holds for every later run of the reference. */
interface CorrectionTable {
  /** The order in which they were made. */
  seq: Generated<number>;
  /** Random, chosen by the run. */
  id: string;
  workflow: WorkflowName;
  reference: string;
  run: string;
  /** The step that waited. */
  step: string;
  at_ms: number;
  /** Sealed: the correction, and who made it. */
  correction: string;
}

/** What a person has said of the whole journal, or of what is not delivered. The rows stay. */
interface ConfirmationTable {
  seq: Generated<number>;
  at_ms: number;
  what: ConfirmationName;
  /** Sealed: who, and why. */
  said: string;
  /** JSON of what changed: ids, times and counts. */
  details: string;
}

export type ConfirmationName = 'restored' | 'nothing-lost' | 'trust-new-references';

/** What a pivot buys, to count and compare over all references. One for each pivot, whatever the settings. */
export interface PurchaseTable {
  /** The pivot's row. */
  effect: string;
  /** Null where a change or a switch names no account. */
  account: string | null;
  /** A keyed digest of what is bought. */
  same: string;
  /** An order's. */
  servers: number | null;
  items: number | null;
  /** The quote's, for a change or a switch. */
  total: number | null;
  /** The quote's or the order's, in lower case. */
  currency: string | null;
  /** An order's, by the price list of that time; in its currency, in lower case. */
  estimate: number | null;
  estimated_in: string | null;
  /** As in the pivot's row. */
  meant_ms: number;
}

/** A server that an order has brought; see servers.ts. */
interface ServerTable {
  /** 0: all servers of the order, while nobody knows their ids. */
  vm_object_id: number;
  workflow: WorkflowName;
  reference: string;
  /** When its id became known. */
  seen_ms: number;
  /** JSON of the firewalls that were asked for, and that it lacks while it is open. */
  firewalls: string;
  /** Since when it lacks them, as far as is known; null where none were asked for. */
  open_since_ms: number | null;
  /** When it was known not to lack them any more, or a person said that nothing is to be done. */
  closed_ms: number | null;
  /** Sealed: the person who closed it, and why. */
  closed: string | null;
}
