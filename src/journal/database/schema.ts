/**
 * The journal's tables: each column as the database has it, and as the code sees it. Times are milliseconds since 1970,
 * by the database's clock.
 */
import type { Generated } from 'kysely';
import type { Deed } from '../../domain/deeds';
import type { EffectKind, EffectOutcome } from '../../domain/effects';
import type { WorkflowName } from '../../domain/identity';
import type { WaitKind } from '../../domain/progress';

/** Its definition in SQL, which both databases take. */
type Column<Seen> = string & { readonly seen?: Seen };
const column = <Seen>(definition: string) => definition as Column<Seen>;

/** The order in which rows were written. */
export const sequence = column<Generated<number>>('sequence');
const text = column<string>('text not null');
const textOrNull = column<string | null>('text');
/** Milliseconds, ids of the provider, counts. */
const integer = column<number>('bigint not null');
const integerOrNull = column<number | null>('bigint');
const numberOrNull = column<number | null>('double precision');
/** Null stands for false. */
const flag = column<number | null>('integer');

const key = { workflow: column<WorkflowName>('text not null'), reference: text };

/** Those of the first release. A later migration describes what it adds beside them: these never change. */
export const tables = {
  /** The one row about the journal itself. */
  journal: {
    id: column<string>('text primary key'),
    /** The time at which the journal was created or last restored. A later epoch is greater, also in another journal. */
    epoch: integer,
    /** When the epoch was last raised; 0 if never. */
    raised_ms: integer,
    /** When a worker found that the journal lacks rows that a history knows. Nothing is sent until the epoch is raised. */
    restored_ms: integerOrNull,
    /** 1: a person is asked about a new reference, because it may be one that was lost. */
    doubts_new: column<number>('integer not null'),
    /** The cluster that was last known to hold this journal, and its timeline: `7426…/00000001`. Null: never known. */
    identity: textOrNull,
    /** Temporal's, in which its sagas run. Null before the first worker. */
    namespace: textOrNull,
  },
  reference: {
    ...key,
    account: textOrNull,
    /** Sealed. Null where the journal was restored, and the reference is known only from a later effect or doubt. */
    request: textOrNull,
    first_seen_ms: integer,
    first_run: text,
    /** The journal's epoch when the reference was first seen; 0 where it may be from the lost time. */
    epoch: integer,
    /** When the reference was last used. Whatever decides under the lock writes it first. */
    touched_ms: integer,
    /** 1 from when it is taken until an ending is written, and again once a later run has begun. */
    is_open: flag,
    /** The epoch in which it has ended, as long as that counts: until something is learnt of the pivot, or the epoch is raised. */
    ended: integerOrNull,
    /** The runs that began or ended, as they began last, with a space around each. */
    runs: text,
    /** Grows with each begin under it, and each time that a run goes on after a call of it was lost. */
    fence: column<Generated<number>>('integer not null default 0'),
    /** The begin that owns it, as a run and its number: `b1c2…/3`. Only its calls are intended. Null: no run works under it. */
    owner: textOrNull,
  },
  effect: {
    seq: sequence,
    /** Random, chosen by the worker. */
    id: column<string>('text not null unique'),
    ...key,
    step: text,
    kind: column<EffectKind>("text not null check (kind in ('mutate', 'compensate', 'pivot'))"),
    /** The activity that made the call. */
    activity: text,
    run: text,
    /** JSON of `About`. */
    about: text,
    /** Sealed: the `PivotNote` of a pivot. */
    note: textOrNull,
    /** JSON: of each secret that the call sent by its name, the digests of its value. */
    sent: textOrNull,
    /** The item that was added, once its id is known, or that is to be deleted. */
    cart_item_id: integerOrNull,
    /** The server whose firewalls it changes. */
    vm_object_id: integerOrNull,
    epoch: integer,
    intended_ms: integer,
    /** After so long the worker that intended it can no longer be sending it, by that worker's settings. */
    in_flight_ms: integer,
    outcome: column<EffectOutcome | null>(
      "text check (outcome in ('done', 'not-done', 'unknown', 'undone', 'denied'))",
    ),
    answered_ms: integerOrNull,
    /** The failure's name where it failed. */
    failure: textOrNull,
    /** Sealed: the answer of a call that is done, the failure of one that is not. */
    answer: textOrNull,
    /** The row of the call that undid it. */
    undone_by: textOrNull,
    /** When a person said what its outcome was. */
    decided_ms: integerOrNull,
    /** Sealed: who said so, and how they know. */
    decided: textOrNull,
    /** Sealed: an answer of success that came after a person had said that it did not happen. There should be none. */
    late: textOrNull,
    /** When a person said that the provider has cancelled a pivot that is done. It stays `done`. */
    cancelled_ms: integerOrNull,
    /** Sealed: who said so, and how they know. */
    cancelled: textOrNull,
    /** Set where it was written because the step had no row. */
    is_first: flag,
  },
  /** The purchase of a pivot, to count and compare over all references. One for each pivot, whatever the settings. */
  purchase: {
    /** The pivot's row. */
    effect: column<string>('text primary key references effect (id)'),
    /** Null where a change or a switch names no account. */
    account: textOrNull,
    /** A keyed digest of what is bought. */
    same: text,
    /** An order's. */
    servers: numberOrNull,
    items: numberOrNull,
    /** The quote's, for a change or a switch. */
    total: numberOrNull,
    /** The quote's or the order's, in lower case. */
    currency: textOrNull,
    /** An order's, by the price list of that time; in its currency, in lower case. */
    estimate: numberOrNull,
    estimated_in: textOrNull,
    /** As in the pivot's row. */
    intended_ms: integer,
  },
  /** A server that an order has brought; see servers.ts. */
  server: {
    /** 0: all servers of the order, while nobody knows their ids. */
    vm_object_id: integer,
    ...key,
    /** When its id became known. */
    seen_ms: integer,
    /** JSON of the firewalls that were asked for, and that it lacks while it is open. */
    firewalls: text,
    /** Since when it lacks them, as far as is known; null where none were asked for. */
    open_since_ms: integerOrNull,
    /** When it was known not to lack them any more, or a person said that nothing is to be done. */
    closed_ms: integerOrNull,
    /** Sealed: the person who closed it, and why. */
    closed: textOrNull,
    /** When it was known not to be the order's: the provider has cancelled the order, or a person has corrected its ids. */
    left_ms: integerOrNull,
    /** Sealed: the person who has corrected the order's ids, how, and why. */
    corrected: textOrNull,
  },
  /** How a run ended. A reference has several endings where a run was reset after its end. */
  ending: {
    ...key,
    run: text,
    /** The workflow of the run: the reference's own, or `cleanCart`. */
    ended_by: column<WorkflowName>('text not null'),
    ended_ms: integer,
    outcome: text,
    /** Sealed. */
    report: text,
    /** The server or subscription that it worked on, as a turn names it. */
    resource: textOrNull,
    /** JSON of `WantedFirewalls`, where it is a change of firewalls that is done. */
    wanted: textOrNull,
    /** JSON of the cart items that it left, where it is a clean-up that is done. */
    items_left: textOrNull,
  },
  /** A saga's turn at a server or a subscription, or its place in the queue, until no call of it is in flight. */
  turn: {
    /** The order of arrival. */
    seq: sequence,
    /** Random; sent with each call of this turn. */
    id: column<string>('text not null unique'),
    /** `server 7`, `subscription 5`. */
    resource: text,
    ...key,
    since_ms: integer,
    /** Null while the saga waits. */
    begun_ms: integerOrNull,
    /** Set when the saga has ended. The next saga deletes the row once no call of this one can be in flight. */
    ended_ms: integerOrNull,
  },
  /** A person's correction of a request before its pivot. It holds for every later run of the reference. */
  correction: {
    seq: sequence,
    /** Random, chosen by the run. */
    id: column<string>('text not null unique'),
    ...key,
    run: text,
    /** The step that waited. */
    step: text,
    at_ms: integer,
    /** Sealed: the correction, and who made it. */
    correction: text,
  },
  /** A wait for a person; see people.ts. Its times are by the clock of the run, and its row may come later. */
  wait: {
    seq: sequence,
    /** The run, the question, and when it was asked. */
    id: column<string>('text not null unique'),
    ...key,
    run: text,
    question: text,
    kind: column<WaitKind>('text not null'),
    step: text,
    since_ms: integer,
    /** Sealed: the question's words. */
    asked: text,
    /** Null while it waits, and where the run has never told how it ended. */
    ended_ms: integerOrNull,
    /** Sealed. Null where nobody has decided. */
    decision: textOrNull,
  },
  /** What was asked of a run from outside; see people.ts. Its time is Temporal's. */
  deed: {
    seq: sequence,
    id: column<string>('text not null unique'),
    ...key,
    run: text,
    what: column<Deed['what']>('text not null'),
    at_ms: integer,
    /** Sealed: who has, as Temporal knows it, and why. */
    said: text,
  },
  /** A person's yes to a pivot; see approvals.ts. */
  approval: {
    seq: sequence,
    /** Of the question. */
    id: column<string>('text not null unique'),
    ...key,
    /** A keyed digest of what a person has agreed to, beside the price. */
    same: text,
    /** Null where it is not known, and where the question was about other purchases. */
    total: numberOrNull,
    currency: textOrNull,
    /** Sealed: the question, the quote, and who said yes. */
    said: text,
    at_ms: integer,
    /** It holds until then. */
    until_ms: integer,
  },
  /** An approval is used up by one intended pivot. The row goes where that one was surely not done. */
  approval_use: {
    approval: column<string>('text primary key references approval (id)'),
    /** The pivot's row. */
    effect: column<string>('text not null references effect (id)'),
  },
  /** A person's statement about the whole journal. The rows stay. */
  confirmation: {
    seq: sequence,
    at_ms: integer,
    what: column<ConfirmationName>('text not null'),
    /** Sealed: who, and why. */
    said: text,
    /** JSON of what changed: ids, times and counts. */
    details: text,
  },
};

type Seen<Columns> = { [Name in keyof Columns]: Columns[Name] extends Column<infer Value> ? Value : never };

export type JournalTables = { [Name in keyof typeof tables]: Seen<(typeof tables)[Name]> };
export type PurchaseTable = JournalTables['purchase'];

/** The firewalls that a change asked for. They hold from the end of its saga, also where no call was needed. */
export type WantedFirewalls =
  { exactly: readonly number[] } | { assign: readonly number[]; unassign: readonly number[] };

export type ConfirmationName = 'restored' | 'nothing-lost' | 'trust-new-references';
