/** The journal's tables as the code sees them; the migrations make them. Times are milliseconds since 1970, by the database's clock. */
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
  purchase: PurchaseTable;
}

/** One row: what the journal is, and what happened to it as a whole. */
interface JournalTable {
  id: string;
  /** The time at which the journal was made, or was last put back: later ones are greater, in another journal as well. */
  epoch: number;
  /** When the epoch was raised last; 0 if never. */
  raised_ms: number;
  /** When a worker found that the journal lacks what a history knows. Until the epoch is raised nothing is sent. */
  put_back_ms: number | null;
  /** 1: a reference that is seen for the first time may be one that was lost, and is asked about. */
  doubts_new: number;
}

interface ReferenceTable {
  workflow: WorkflowName;
  reference: string;
  account: string | null;
  /** Sealed. Null where only an effect of a run tells that the reference was taken: the journal was put back. */
  request: string | null;
  first_seen_ms: number;
  first_run: string;
  /** Of the journal, when the reference was first seen; 0 where it may be one of the lost time. */
  epoch: number;
  /** When an effect was meant last. Written first in each transaction: it is the lock. */
  touched_ms: number;
  /** The namespace of the run that works under it; null where it has ended, or was taken before there was this column. */
  open_in: string | null;
}

interface EffectTable {
  /** In the order in which rows were written. */
  seq: Generated<number>;
  /** Random, and made by the worker. */
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
  /** Sealed: `PivotNote` of a pivot. */
  note: string | null;
  /** The item that was added, once it is known, or is to be deleted. */
  cart_item_id: number | null;
  /** The server whose firewalls it changes. */
  vm_object_id: number | null;
  epoch: number;
  meant_ms: number;
  /** After so long whoever meant it can no longer be sending, by the settings of whoever meant it. */
  in_air_ms: number;
  outcome: EffectOutcome | null;
  answered_ms: number | null;
  /** The failure's name where it failed. */
  failure: string | null;
  /** Sealed: the answer of a call that is done, the failure of one that is not. */
  answer: string | null;
  /** The row that took it back. */
  undone_by: string | null;
  /** When a person said what became of it. */
  decided_ms: number | null;
  /** Sealed: who said so, and how they know. */
  decided: string | null;
  /** An answer that came after a person had said that it did not happen. There should be none. */
  late: string | null;
}

/** How a run ended. A reference has more than one where a run was reset after its end. */
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
}

/** A saga that works on a server or a subscription, or waits for that. Deleted when it has ended, and no call of it is in the air. */
interface TurnTable {
  /** The order of arrival. */
  seq: Generated<number>;
  /** Random; goes along with the calls that are made in this turn. */
  id: string;
  /** `server 7`, `subscription 5`. */
  resource: string;
  workflow: WorkflowName;
  reference: string;
  /** Of its run: only there can be seen whether it goes on. */
  namespace: string;
  since_ms: number;
  /** Null: it waits. */
  begun_ms: number | null;
  /** Its saga has ended. Whoever asks for its turn deletes the row, once no call of that saga can be in the air. */
  ended_ms: number | null;
}

/** What a person corrected of a request before its pivot. It holds for every later run of the reference. */
interface CorrectionTable {
  /** The order in which they were made. */
  seq: Generated<number>;
  /** Random, and made by the run. */
  id: string;
  workflow: WorkflowName;
  reference: string;
  run: string;
  /** That waited. */
  step: string;
  at_ms: number;
  /** Sealed: the correction, and who made it. */
  correction: string;
}

/** What a pivot buys, as it is counted and compared over all references. Beside each pivot that was meant, by whatever settings. */
interface PurchaseTable {
  /** The pivot's row. */
  effect: string;
  /** Null where a change or a switch names none. */
  account: string | null;
  /** What is bought: a keyed digest. */
  same: string;
  /** Of an order. */
  servers: number | null;
  items: number | null;
  /** Of a change or a switch: of the quote that it is placed by. */
  total: number | null;
  /** Of the quote; or as the order names it, in lower case. */
  currency: string | null;
  /** As of its row. */
  meant_ms: number;
}
