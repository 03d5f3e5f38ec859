-------------------------------- MODULE Cart --------------------------------
(***************************************************************************)
(* The cart of one reference: one item that is added, deleted or ordered.  *)
(*                                                                         *)
(* An add may be repeated, so there may come more than one item of it. The *)
(* order names one of them. A delete takes one of them back.               *)
(*                                                                         *)
(* As in Pivot.tla any task may be handed out at any time, with whatever   *)
(* any history of the reference knows: it may add, delete any item that    *)
(* somebody learnt of, and order it. Tasks of an earlier run go on while   *)
(* the next one works.                                                     *)
(*                                                                         *)
(* An item has the id of the row of its add. All spans of time are one     *)
(* tick: who meant something before the tick sends nothing after it, and   *)
(* what was sent before it takes effect before it or never.                *)
(*                                                                         *)
(* Left out: that the order happens once (Pivot.tla), several items in one *)
(* order, firewalls.                                                       *)
(***************************************************************************)
EXTENDS Naturals, FiniteSets, TLC

CONSTANTS
  Tasks,    \* activity executions at one time, of whichever run
  RowsMax,  \* how many rows are meant at all
  Rewinds   \* how often the journal is put back

\* The rules. FALSE takes one away.
CONSTANTS
  DeleteAsksOrder,   \* Order guard: no delete while an order that names the item is meant, unknown or done
  OrderAsksDeletes,  \* Order guard: no order with an item that was taken back, or is just being taken back
  DeleteAsksEpoch,   \* no delete while the reference is in doubt after a ceremony
  DoubtNamesAll,     \* what a person, or a lost row, says to be placed after a ceremony stands for an order of any item
  Wait,              \* "not placed" is believed only when nobody can be sending any more
  Clock,             \* who meant it long ago does not send
  ClockOfDeletes,    \* ... a delete neither, of which a journal that was put back may know nothing
  Wanted,            \* a task that was given up does not send; not of the order alone, of an add too
  UnsureIsUnknown,   \* an answer that does not prove "not done" is not taken for it
  EndReadsJournal    \* what is left is told from the journal, and so for all runs of the reference

VARIABLES
  rows,     \* what each row is: kind, item, outcome, epoch
  copy,     \* an earlier journal, to which it may be put back
  copied,   \* whether that copy was made
  lostOrders,\* the rows of orders that were lost then
  epoch,
  rewound,  \* how often the journal was put back; the ceremony follows at once
  nextId,
  task,
  known,    \* the items that some history knows
  run,      \* "open" or "ended"
  mine,     \* the rows that the present run knows of by itself; empty where it reads the journal
  young,    \* the rows that somebody may still be sending
  raised,   \* a ceremony was in this tick
  items,    \* at the provider: the items that were added
  ordered,  \* ... that an order names which took effect
  deleted,  \* ... that were deleted
  broken,   \* a delete took effect on an item that was ordered
  told      \* the items that the outcome tells of, by their id or as a doubt

vars == <<rows, copy, copied, lostOrders, epoch, rewound, nextId, task, known, run, mine, young, raised, items, ordered, deleted, broken, told>>

Symmetry == Permutations(Tasks)

-----------------------------------------------------------------------------
(* The journal *)

Ids == 1 .. RowsMax
NoRow == [kind |-> "absent", item |-> 0, out |-> "absent", epoch |-> 0]
AnyItem == 0
NoItem == 99

Open(i) == rows[i].out \in {"none", "unknown"}
MayHaveHappened(i) == Open(i) \/ rows[i].out = "done"
Orders == {i \in Ids : rows[i].kind = "order"}
LiveOrders == {i \in Orders : MayHaveHappened(i)}

\* An item that was added since the ceremony is in no order of the lost time.
MayBeOld(i) == ~(rows[i].kind = "add" /\ rows[i].epoch = epoch)
Names(o, i) == rows[o].item = i \/ (rows[o].item = AnyItem /\ MayBeOld(i))

InDoubt == /\ epoch > 1
           /\ ~\E o \in Orders : rows[o].out = "done" \/ rows[o].epoch = epoch

BeingTakenBack(i) == \E d \in Ids : rows[d].kind = "delete" /\ rows[d].item = i /\ MayHaveHappened(d)
Added == {i \in Ids : rows[i].kind = "add" /\ rows[i].out = "done"}
DoubtfulAdds == {i \in Ids : rows[i].kind = "add" /\ Open(i)}

-----------------------------------------------------------------------------
(* Tasks *)

Idle == [pc |-> "idle", kind |-> "", item |-> 0, row |-> 0, fresh |-> FALSE, given |-> FALSE, air |-> FALSE, hit |-> FALSE]
Active(t) == task[t].pc # "idle"

\* What is left of a task that has ended: its call, while that is in the air.
Ended(r) == IF r.air THEN [r EXCEPT !.pc = "idle", !.fresh = FALSE, !.given = FALSE] ELSE Idle
End(t) == task' = [task EXCEPT ![t] = Ended(task[t])]

\* A second start, a reset or a retry. The saga is open again.
HandOut(t) ==
  /\ ~Active(t) /\ ~task[t].air /\ nextId \in Ids
  /\ task' = [task EXCEPT ![t] = [Idle EXCEPT !.pc = "handed"]]
  /\ run' = "open" /\ told' = {}
  /\ mine' = IF run = "open" THEN mine ELSE {}
  /\ UNCHANGED <<rows, copy, copied, lostOrders, epoch, rewound, nextId, known, young, raised, items, ordered, deleted, broken>>

GiveUp(t) ==
  /\ Active(t) /\ ~task[t].given
  /\ task' = [task EXCEPT ![t].given = TRUE]
  /\ UNCHANGED <<rows, copy, copied, lostOrders, epoch, rewound, nextId, known, run, mine, young, raised, items, ordered, deleted, broken, told>>

\* The run is ended from outside, and another one begins: what it had in mind is gone.
Reset ==
  /\ mine # {} /\ mine' = {}
  /\ task' = [t \in Tasks |-> IF Active(t) THEN [task[t] EXCEPT !.given = TRUE] ELSE task[t]]
  /\ UNCHANGED <<rows, copy, copied, lostOrders, epoch, rewound, nextId, known, run, young, raised, items, ordered, deleted, broken, told>>

Crash(t) ==
  /\ Active(t)
  /\ End(t)
  /\ UNCHANGED <<rows, copy, copied, lostOrders, epoch, rewound, nextId, known, run, mine, young, raised, items, ordered, deleted, broken, told>>

-----------------------------------------------------------------------------
(* Mean: one transaction *)

Mine(ids) == IF EndReadsJournal THEN {} ELSE ids

\* A pivot's row of a doubt has no task: nobody of ours is sending it.
Insert(t, kind, item, out) ==
  /\ nextId \in Ids
  /\ rows' = [rows EXCEPT ![nextId] = [kind |-> kind, item |-> item, out |-> out, epoch |-> epoch]]
  /\ nextId' = nextId + 1
  /\ young' = IF kind = "order" THEN young \cup {nextId} ELSE young
  /\ mine' = mine \cup Mine(IF task[t].given THEN {} ELSE {nextId})
  /\ task' = [task EXCEPT ![t] = IF out = "unknown" THEN Ended(@)
                ELSE [@ EXCEPT !.pc = "meant", !.kind = kind, !.item = item, !.row = nextId, !.fresh = TRUE]]
  /\ UNCHANGED known

MeanNothing(t) == End(t) /\ UNCHANGED <<rows, nextId, young, mine, known>>

MeanAdd(t) ==
  LET made == {i \in Added : ~BeingTakenBack(i)} IN
  IF made # {}
  THEN /\ known' = known \cup made  \* the recorded item
       /\ mine' = mine \cup Mine(IF task[t].given THEN {} ELSE made)
       /\ End(t)
       /\ UNCHANGED <<rows, nextId, young>>
  ELSE Insert(t, "add", 0, "none")

MeanDelete(t, i) ==
  IF \/ DeleteAsksOrder /\ \E o \in LiveOrders : Names(o, i)
     \/ DeleteAsksEpoch /\ InDoubt /\ MayBeOld(i)
     \/ rows[i].out = "undone"
  THEN MeanNothing(t)
  ELSE Insert(t, "delete", i, "none")

MeanOrder(t, i) ==
  IF \/ LiveOrders # {}  \* asked about, or recorded: Pivot.tla
     \/ OrderAsksDeletes /\ (rows[i].out = "undone" \/ BeingTakenBack(i))
  THEN MeanNothing(t)
  ELSE IF InDoubt
  THEN Insert(t, "order", IF DoubtNamesAll THEN AnyItem ELSE i, "unknown")
  ELSE Insert(t, "order", i, "none")

Mean(t) ==
  /\ task[t].pc = "handed"
  /\ MeanAdd(t) \/ \E i \in known : MeanDelete(t, i) \/ MeanOrder(t, i)
  /\ UNCHANGED <<copy, copied, lostOrders, epoch, rewound, run, raised, items, ordered, deleted, broken, told>>

Settle(i, out) == IF Open(i) THEN [rows EXCEPT ![i].out = out] ELSE rows

AskWanted(t) ==
  /\ task[t].pc = "meant"
  /\ IF Wanted /\ task[t].given
     THEN rows' = Settle(task[t].row, "not-done") /\ End(t)
     ELSE task' = [task EXCEPT ![t].pc = "ready"] /\ UNCHANGED rows
  /\ UNCHANGED <<copy, copied, lostOrders, epoch, rewound, nextId, known, run, mine, young, raised, items, ordered, deleted, broken, told>>

Send(t) ==
  /\ task[t].pc = "ready"
  /\ IF Clock /\ ~task[t].fresh /\ (ClockOfDeletes \/ task[t].kind # "delete")
     THEN rows' = Settle(task[t].row, "not-done") /\ End(t)
     ELSE task' = [task EXCEPT ![t].pc = "sent", ![t].air = TRUE, ![t].fresh = FALSE] /\ UNCHANGED rows
  /\ UNCHANGED <<copy, copied, lostOrders, epoch, rewound, nextId, known, run, mine, young, raised, items, ordered, deleted, broken, told>>

\* The provider takes whatever it is sent: an order of an item that is gone, and a delete of one that was ordered.
TakeEffect(t) ==
  /\ task[t].air
  /\ items' = IF task[t].kind = "add" THEN items \cup {task[t].row} ELSE items
  /\ ordered' = IF task[t].kind = "order" THEN ordered \cup {task[t].item} ELSE ordered
  /\ deleted' = IF task[t].kind = "delete" THEN deleted \cup {task[t].item} ELSE deleted
  /\ broken' = (broken \/ (task[t].kind = "delete" /\ task[t].item \in ordered))
  /\ task' = [task EXCEPT ![t] = IF Active(t) THEN [@ EXCEPT !.air = FALSE, !.hit = TRUE] ELSE Ended([@ EXCEPT !.air = FALSE])]
  /\ UNCHANGED <<rows, copy, copied, lostOrders, epoch, rewound, nextId, known, run, mine, young, raised, told>>

Answer(t) ==
  /\ task[t].pc = "sent"
  /\ \/ task[t].hit /\ task' = [task EXCEPT ![t].pc = "got done"]
     \/ task[t].air /\ task' = [task EXCEPT ![t].pc = "got not-done", ![t].air = FALSE]  \* a refusal
     \/ task' = [task EXCEPT ![t].pc = "got unknown"]
     \/ ~UnsureIsUnknown /\ task' = [task EXCEPT ![t].pc = "got not-done"]
  /\ known' = IF task'[t].pc = "got done" /\ task[t].kind = "add" THEN known \cup {task[t].row} ELSE known
  /\ UNCHANGED <<rows, copy, copied, lostOrders, epoch, rewound, nextId, run, mine, young, raised, items, ordered, deleted, broken, told>>

\* Of which items the order is, nobody knows here where the row is of before the ceremony, or stands for a lost one.
Placed(o) == [rows EXCEPT ![o].out = "done", ![o].item = IF DoubtNamesAll /\ epoch > 1 THEN AnyItem ELSE @]

Outcome(t) == CASE task[t].pc = "got done" -> "done"
                [] task[t].pc = "got not-done" -> "not-done"
                [] task[t].pc = "got unknown" -> "unknown"
                [] OTHER -> ""

\* A delete that is done makes its item's row "undone". A row that was lost is written again as done.
WriteOutcome(t) ==
  /\ Outcome(t) # ""
  /\ LET r == task[t].row
         lost == rows[r].kind = "absent"
         row == [kind |-> task[t].kind, item |-> task[t].item, out |-> "done", epoch |-> 1]
         written == IF ~lost THEN Settle(r, Outcome(t))
                    ELSE IF Outcome(t) # "done" THEN rows
                    ELSE IF task[t].kind = "order" /\ LiveOrders # {}
                    THEN Placed(CHOOSE o \in LiveOrders : TRUE)
                    ELSE [rows EXCEPT ![r] = row]
     IN rows' = IF task[t].kind = "delete" /\ Outcome(t) = "done" /\ written[task[t].item].out = "done"
                THEN [written EXCEPT ![task[t].item].out = "undone"] ELSE written
  /\ End(t)
  /\ UNCHANGED <<copy, copied, lostOrders, epoch, rewound, nextId, known, run, mine, young, raised, items, ordered, deleted, broken, told>>

-----------------------------------------------------------------------------
(* A person, the end of a saga, and time *)

Deny(o) ==
  /\ rows[o].kind = "order" /\ Open(o) /\ ordered = {}
  /\ Wait => o \notin young /\ ~raised
  /\ rows' = [rows EXCEPT ![o].out = "denied"]
  /\ UNCHANGED <<copy, copied, lostOrders, epoch, rewound, nextId, task, known, run, mine, young, raised, items, ordered, deleted, broken, told>>

Confirm(o) ==
  /\ rows[o].kind = "order" /\ Open(o) /\ ordered # {}
  /\ rows' = Placed(o)
  /\ UNCHANGED <<copy, copied, lostOrders, epoch, rewound, nextId, task, known, run, mine, young, raised, items, ordered, deleted, broken, told>>

\* The same of a row that was lost since it was asked about. It is written again; what it named is not known here.
ConfirmLost(o) ==
  /\ o \in lostOrders /\ rows[o] = NoRow /\ ordered # {} /\ LiveOrders = {}
  /\ rows' = [rows EXCEPT ![o] = [kind |-> "order", item |-> IF DoubtNamesAll THEN AnyItem ELSE NoItem, out |-> "done", epoch |-> 0]]
  /\ UNCHANGED <<copy, copied, lostOrders, epoch, rewound, nextId, task, known, run, mine, young, raised, items, ordered, deleted, broken, told>>

\* The saga has ended, whatever it deleted or left. It tells what stands in the rows that it knows of. An order that is
\* done tells of its own items; one that may have been placed does not, and neither does one that is not ours.
SayEnd ==
  /\ run = "open" /\ Rewinds = 0
  /\ \A t \in Tasks : Active(t) => task[t].given
  /\ LET mayTell == IF EndReadsJournal THEN Ids ELSE mine
         inOrder(i) == \E o \in LiveOrders : rows[o].out = "done" /\ rows[o].item = i
     IN told' = {i \in mayTell : (i \in Added /\ ~inOrder(i)) \/ i \in DoubtfulAdds}
  /\ run' = "ended"
  /\ UNCHANGED <<rows, copy, copied, lostOrders, epoch, rewound, nextId, task, known, mine, young, raised, items, ordered, deleted, broken>>

Tick ==
  /\ young # {} \/ raised \/ \E t \in Tasks : task[t].fresh \/ task[t].air
  /\ young' = {} /\ raised' = FALSE
  /\ task' = [t \in Tasks |-> IF Active(t) THEN [task[t] EXCEPT !.fresh = FALSE, !.air = FALSE] ELSE Ended([task[t] EXCEPT !.air = FALSE])]
  /\ UNCHANGED <<rows, copy, copied, lostOrders, epoch, rewound, nextId, known, run, mine, items, ordered, deleted, broken, told>>

-----------------------------------------------------------------------------
(* The journal is put back, and that is noticed: the ceremony follows before anything is meant *)

Backup ==
  /\ rewound < Rewinds /\ ~copied /\ copy # rows
  /\ copy' = rows /\ copied' = TRUE
  /\ UNCHANGED <<rows, lostOrders, epoch, rewound, nextId, task, known, run, mine, young, raised, items, ordered, deleted, broken, told>>

PutBack ==
  /\ rewound < Rewinds /\ copy # rows
  /\ lostOrders' = {o \in Orders : copy[o] = NoRow}
  /\ rows' = copy /\ epoch' = epoch + 1 /\ rewound' = rewound + 1 /\ raised' = TRUE
  /\ UNCHANGED <<copy, copied, nextId, task, known, run, mine, young, items, ordered, deleted, broken, told>>

Init ==
  /\ rows = [i \in Ids |-> NoRow] /\ copy = [i \in Ids |-> NoRow] /\ copied = FALSE /\ lostOrders = {}
  /\ epoch = 1 /\ rewound = 0 /\ nextId = 1
  /\ task = [t \in Tasks |-> Idle] /\ known = {}
  /\ run = "open" /\ mine = {} /\ young = {} /\ raised = FALSE
  /\ items = {} /\ ordered = {} /\ deleted = {} /\ broken = FALSE /\ told = {}

Next ==
  \/ \E t \in Tasks : \/ HandOut(t) \/ GiveUp(t) \/ Crash(t) \/ Mean(t) \/ AskWanted(t) \/ Send(t) \/ TakeEffect(t)
                      \/ Answer(t) \/ WriteOutcome(t)
  \/ Reset \/ (\E o \in Ids : Deny(o) \/ Confirm(o) \/ ConfirmLost(o)) \/ SayEnd \/ Tick \/ Backup \/ PutBack

Spec == Init /\ [][Next]_vars

\* For the configurations that have to go far: no task is given up, and none dies before it has sent.
Smooth == \A t \in Tasks : ~task'[t].given /\ (task[t].pc \in {"meant", "ready"} => task'[t].pc # "idle")

-----------------------------------------------------------------------------
(* What must hold *)

\* No delete takes effect on an item that is ordered.
OrderIsKept == ~broken

\* No order names an item that was deleted before.
NothingGoneIsOrdered == broken \/ ordered \cap deleted = {}

\* When the saga has ended, whatever is at the provider is in the order, deleted, or told.
NothingIsSilent == run = "ended" => items \subseteq ordered \cup deleted \cup told

OneOrder == Cardinality(LiveOrders) <= 1

-----------------------------------------------------------------------------
(* What must be possible. Each of these has to be found violated. *)

\* An order is refused or denied, and then its item is deleted.
NoDeleteAfterOrder == ~(deleted # {} /\ ordered = {} /\ \E o \in Orders : rows[o].out \in {"denied", "not-done"})

\* An item is taken back, another one is added, and that one is ordered.
NoOrderOfSecondItem == ~(\E i \in deleted : rows[i].out = "undone" /\ \E k \in ordered : k > i)

\* A repeated add made two items: one is ordered, the other one is told as a doubt.
NoDoubtBesideOrder == ~(run = "ended" /\ ordered # {} /\ \E i \in items \cap told : i \in DoubtfulAdds)

\* A saga ends beside a task that has not woken up yet.
NoEndBesideZombie == ~(run = "ended" /\ \E t \in Tasks : task[t].pc = "handed")

\* An item that was told of is deleted later, by a second run.
NoLaterDelete == ~(\E i \in deleted : i \in told)

\* An order of the lost time is seen by a person, and its item is kept.
NoLostOrderKept == ~(epoch > 1 /\ ordered # {} /\ \E o \in Orders : rows[o].epoch = epoch /\ rows[o].out = "done")

=============================================================================
