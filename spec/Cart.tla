-------------------------------- MODULE Cart --------------------------------
(***************************************************************************)
(* The cart of one reference: one item that is added, deleted or ordered.  *)
(*                                                                         *)
(* An add may be repeated, so there may come more than one item of it. The *)
(* order names one of them. A delete takes one of them back.               *)
(*                                                                         *)
(* A run reads its state, and has in mind what that allows. The task takes *)
(* with it what the run knows, and may then stand still for any time.      *)
(* Several tasks may have been handed out by one state: by a run that gave *)
(* a call up, or in a Temporal that was restored and has the same run      *)
(* decide otherwise.                                                       *)
(*                                                                         *)
(* An item has the id of the row of its add. All spans of time are one     *)
(* tick: who intended something before it sends nothing after it, and      *)
(* what was sent before it takes effect before it or never.                *)
(***************************************************************************)
EXTENDS Naturals, FiniteSets, TLC

CONSTANTS
  Tasks,     \* activity executions at one time, of whichever run
  RunsMax,   \* runs; 1 is the first start, the others are resets
  BeginsMax, \* how many begins, where each has a number of its own
  RowsMax,   \* how many rows are intended at all
  Rewinds    \* how often the journal is restored

\* The fence. FALSE takes a rule away.
CONSTANTS
  Owner,             \* a row is inserted only for the owner: a "run", a "begin", or "none": no check
  LostBegins,        \* a run that lost a call hands out nothing more before it has begun again. Not in a Temporal that was restored
  EpochInIntent,     \* ... in the epoch that the task knows
  OneStep,           \* the checks and the insert are one step
  EndClears,         \* the ending clears the owner
  EndAsksOwner,      \* the ending is refused to whom the reference is not owned by
  EndAsksAfter,      \* ... and to whom does not know the reference's last row: what is left is told from the state
  DeleteAsksOrder,   \* a delete is not intended beside an order that names the item and is intended, unknown or done
  OrderAsksDeletes,  \* an order is not intended with an item that is being deleted, or was
  Cross              \* in their place: a delete names the last order that its run knows, an order the last delete

\* The other rules.
CONSTANTS DeleteAsksEpoch, DoubtNamesAll, Wait, Clock, ClockOfDeletes, UnsureIsUnknown

ASSUME Owner \in {"none", "run", "begin"}

VARIABLES
  rows, owner, ended, runs,
  begins,   \* how many there were
  copy,     \* an earlier journal, to which it may be restored
  copied, lostOrders, epoch, rewound, nextId, task,
  run,      \* "open" or "ended"
  lost,     \* the run has lost a call since it began
  young,    \* the rows that were intended in this tick
  raised, items, ordered, deleted, broken, told

vars == <<rows, owner, ended, runs, begins, copy, copied, lostOrders, epoch, rewound, nextId, task, run, lost, young, raised, items, ordered, deleted, broken, told>>

Symmetry == Permutations(Tasks)

-----------------------------------------------------------------------------
(* The journal *)

Ids == 1 .. RowsMax
Runs == 1 .. RunsMax
NoRow == [kind |-> "absent", item |-> 0, any |-> FALSE, out |-> "absent", epoch |-> 0]
AnyItem == 0
NoItem == 99

Open(i) == rows[i].out \in {"none", "unknown"}
MayHaveHappened(i) == Open(i) \/ rows[i].out = "done"
Orders == {i \in Ids : rows[i].kind = "order"}
LiveOrders == {i \in Orders : MayHaveHappened(i)}

MayBeOld(i) == ~(rows[i].kind = "add" /\ rows[i].epoch = epoch)
Names(o, i) == rows[o].item = i \/ (rows[o].any /\ MayBeOld(i))

InDoubt == /\ epoch > 1
           /\ ~\E o \in Orders : rows[o].out = "done" \/ rows[o].epoch = epoch

BeingTakenBack(i) == \E d \in Ids : rows[d].kind = "delete" /\ rows[d].item = i /\ MayHaveHappened(d)
Added == {i \in Ids : rows[i].kind = "add" /\ rows[i].out = "done"}
DoubtfulAdds == {i \in Ids : rows[i].kind = "add" /\ Open(i)}

Last(s) == IF s = {} THEN 0 ELSE CHOOSE i \in s : \A k \in s : k <= i

\* The row that a task names, and that has still to be the last one.
After(kind) == CASE kind = "end" /\ EndAsksAfter -> Last({i \in Ids : rows[i].kind # "absent"})
                 [] kind = "delete" /\ Cross -> Last(Orders)
                 [] kind = "order" /\ Cross -> Last({i \in Ids : rows[i].kind = "delete"})
                 [] OTHER -> 0

-----------------------------------------------------------------------------
(* Runs and tasks *)

Idle == [pc |-> "idle", kind |-> "", item |-> 0, row |-> 0, owner |-> 0, epoch |-> 0, after |-> 0, out |-> "", tells |-> {},
         mine |-> FALSE, fresh |-> FALSE, air |-> FALSE, hit |-> FALSE]
Active(t) == task[t].pc # "idle"

Ended(r) == IF r.air THEN [Idle EXCEPT !.row = r.row, !.kind = r.kind, !.item = r.item, !.air = TRUE, !.hit = r.hit] ELSE Idle
End(t) == task' = [task EXCEPT ![t] = Ended(task[t])]
Lose(t) == lost' = (lost \/ task[t].mine)

\* Any run there ever was, at any time.
Begin(r) ==
  /\ ended => r \notin runs
  /\ r > 1 => \E o \in runs : o + 1 >= r
  /\ IF Owner = "begin" THEN begins < BeginsMax ELSE owner # r \/ lost \/ \E t \in Tasks : task[t].mine
  /\ owner' = (IF Owner = "begin" THEN begins + 1 ELSE r) /\ begins' = (IF Owner = "begin" THEN begins + 1 ELSE 0)
  /\ ended' = FALSE /\ runs' = runs \cup {r} /\ lost' = FALSE
  /\ task' = [t \in Tasks |-> [task[t] EXCEPT !.mine = FALSE]]
  /\ run' = "open" /\ told' = {}
  /\ UNCHANGED <<rows, copy, copied, lostOrders, epoch, rewound, nextId, young, raised, items, ordered, deleted, broken>>

InOrder(i) == \E o \in LiveOrders : rows[o].out = "done" /\ rows[o].item = i
Left == {i \in Ids : (i \in Added /\ ~InOrder(i)) \/ i \in DoubtfulAdds}

\* What the state allows.
MayAdd == {i \in Added : ~BeingTakenBack(i)} = {}
MayDelete(i) == /\ i \in Added \cup DoubtfulAdds \cup items  \* an id that somebody has read, too
                /\ ~\E o \in LiveOrders : Names(o, i)
                /\ DeleteAsksEpoch => ~(InDoubt /\ MayBeOld(i))
                /\ rows[i].out # "undone"
MayOrder(i) == /\ LiveOrders = {}
               /\ i \in Added /\ ~BeingTakenBack(i)

Hand(t, kind, item, out) ==
  task' = [task EXCEPT ![t] = [Idle EXCEPT !.pc = "handed", !.kind = kind, !.item = item, !.owner = owner, !.epoch = epoch, !.out = out,
                                           !.after = After(kind), !.mine = LostBegins,
                                           !.tells = IF kind = "end" THEN Left ELSE {}]]

HandOut(t) ==
  /\ ~Active(t) /\ ~task[t].air /\ owner # 0 /\ run = "open"
  /\ ~lost /\ \A u \in Tasks : ~task[u].mine
  /\ \/ nextId \in Ids /\ MayAdd /\ Hand(t, "add", 0, "none")
     \/ nextId \in Ids /\ \E i \in Ids : MayDelete(i) /\ Hand(t, "delete", i, "none")
     \/ nextId \in Ids /\ \E i \in Ids : /\ MayOrder(i)
                     /\ IF InDoubt THEN Hand(t, "order", IF DoubtNamesAll THEN AnyItem ELSE i, "unknown") ELSE Hand(t, "order", i, "none")
     \/ Rewinds = 0 /\ Hand(t, "end", 0, "none")
  /\ UNCHANGED <<rows, owner, ended, runs, begins, copy, copied, lostOrders, epoch, rewound, nextId, run, lost, young, raised, items, ordered, deleted, broken, told>>

Crash(t) ==
  /\ Active(t)
  /\ End(t) /\ Lose(t)
  /\ UNCHANGED <<rows, owner, ended, runs, begins, copy, copied, lostOrders, epoch, rewound, nextId, run, young, raised, items, ordered, deleted, broken, told>>

-----------------------------------------------------------------------------
(* Intend *)

Guards(t) ==
  LET i == task[t].item IN
  CASE task[t].kind = "delete" -> DeleteAsksOrder => ~\E o \in LiveOrders : Names(o, i)
    [] task[t].kind = "order" -> LiveOrders = {} /\ (OrderAsksDeletes /\ i \in Ids => ~BeingTakenBack(i) /\ rows[i].out # "undone")
    [] OTHER -> TRUE

Fence(t) == /\ Owner # "none" => task[t].owner = owner
            /\ task[t].after = After(task[t].kind)
            /\ EpochInIntent => task[t].epoch = epoch
            /\ Guards(t)

Intend(t) ==
  /\ task[t].pc \in {"handed", "checked"} /\ task[t].kind # "end"
  /\ IF (task[t].pc = "handed" /\ ~Fence(t)) \/ nextId \notin Ids \/ (task[t].kind = "order" /\ LiveOrders # {})
     THEN End(t) /\ Lose(t) /\ UNCHANGED <<rows, nextId, young>>
     ELSE IF task[t].pc = "handed" /\ ~OneStep
     THEN task' = [task EXCEPT ![t].pc = "checked"] /\ UNCHANGED <<rows, nextId, lost, young>>
     ELSE /\ rows' = [rows EXCEPT ![nextId] = [kind |-> task[t].kind, item |-> task[t].item, any |-> task[t].kind = "order" /\ task[t].item = AnyItem,
                                             out |-> task[t].out, epoch |-> epoch]]
          /\ nextId' = nextId + 1
          /\ young' = young \cup {nextId} /\ UNCHANGED lost
          /\ task' = [task EXCEPT ![t] = IF task[t].out = "unknown" THEN Ended(@)
                        ELSE [Idle EXCEPT !.pc = "ready", !.kind = task[t].kind, !.item = task[t].item, !.row = nextId, !.mine = task[t].mine, !.fresh = TRUE]]
  /\ UNCHANGED <<owner, ended, runs, begins, copy, copied, lostOrders, epoch, rewound, run, raised, items, ordered, deleted, broken, told>>

Settle(i, out) == IF Open(i) THEN [rows EXCEPT ![i].out = out] ELSE rows

Send(t) ==
  /\ task[t].pc = "ready"
  /\ IF Clock /\ ~task[t].fresh /\ (ClockOfDeletes \/ task[t].kind # "delete")
     THEN rows' = Settle(task[t].row, "not-done") /\ End(t)
     ELSE task' = [task EXCEPT ![t].pc = "sent", ![t].air = TRUE, ![t].fresh = FALSE] /\ UNCHANGED rows
  /\ UNCHANGED <<owner, ended, runs, begins, copy, copied, lostOrders, epoch, rewound, nextId, run, lost, young, raised, items, ordered, deleted, broken, told>>

\* The provider takes whatever it is sent: an order of an item that is gone, and a delete of one that was ordered.
TakeEffect(t) ==
  /\ task[t].air
  /\ items' = IF task[t].kind = "add" THEN items \cup {task[t].row} ELSE items
  /\ ordered' = IF task[t].kind = "order" THEN ordered \cup {task[t].item} ELSE ordered
  /\ deleted' = IF task[t].kind = "delete" THEN deleted \cup {task[t].item} ELSE deleted
  /\ broken' = (broken \/ (task[t].kind = "delete" /\ task[t].item \in ordered))
  /\ task' = [task EXCEPT ![t] = IF Active(t) THEN [@ EXCEPT !.air = FALSE, !.hit = TRUE] ELSE Ended([@ EXCEPT !.air = FALSE])]
  /\ UNCHANGED <<rows, owner, ended, runs, begins, copy, copied, lostOrders, epoch, rewound, nextId, run, lost, young, raised, told>>

Answer(t) ==
  /\ task[t].pc = "sent"
  /\ \/ task[t].hit /\ task' = [task EXCEPT ![t].pc = "got done"]
     \/ task[t].air /\ task' = [task EXCEPT ![t].pc = "got not-done", ![t].air = FALSE]
     \/ task' = [task EXCEPT ![t].pc = "got unknown"]
     \/ ~UnsureIsUnknown /\ task' = [task EXCEPT ![t].pc = "got not-done"]
  /\ UNCHANGED <<rows, owner, ended, runs, begins, copy, copied, lostOrders, epoch, rewound, nextId, run, lost, young, raised, items, ordered, deleted, broken, told>>

\* It keeps its own item, too.
Placed(o) == [rows EXCEPT ![o].out = "done", ![o].any = @ \/ (DoubtNamesAll /\ epoch > 1)]

Outcome(t) == CASE task[t].pc = "got done" -> "done"
                [] task[t].pc = "got not-done" -> "not-done"
                [] task[t].pc = "got unknown" -> "unknown"
                [] OTHER -> ""

WriteOutcome(t) ==
  /\ Outcome(t) # ""
  /\ LET r == task[t].row
         gone == rows[r].kind = "absent"
         row == [kind |-> task[t].kind, item |-> task[t].item, any |-> FALSE, out |-> "done", epoch |-> 1]
         written == IF ~gone THEN Settle(r, Outcome(t))
                    ELSE IF Outcome(t) # "done" THEN rows
                    ELSE IF task[t].kind = "order" /\ LiveOrders # {}
                    THEN Placed(CHOOSE o \in LiveOrders : TRUE)
                    ELSE [rows EXCEPT ![r] = row]
     IN rows' = IF task[t].kind = "delete" /\ Outcome(t) = "done" /\ written[task[t].item].out = "done"
                THEN [written EXCEPT ![task[t].item].out = "undone"] ELSE written
  /\ End(t)
  /\ UNCHANGED <<owner, ended, runs, begins, copy, copied, lostOrders, epoch, rewound, nextId, run, lost, young, raised, items, ordered, deleted, broken, told>>

-----------------------------------------------------------------------------
(* A person, the end of a saga, and time *)

Deny(o) ==
  /\ rows[o].kind = "order" /\ Open(o) /\ ordered = {}
  /\ Wait => o \notin young /\ ~raised
  /\ rows' = [rows EXCEPT ![o].out = "denied"]
  /\ UNCHANGED <<owner, ended, runs, begins, copy, copied, lostOrders, epoch, rewound, nextId, task, run, lost, young, raised, items, ordered, deleted, broken, told>>

Confirm(o) ==
  /\ rows[o].kind = "order" /\ Open(o) /\ ordered # {}
  /\ rows' = Placed(o)
  /\ UNCHANGED <<owner, ended, runs, begins, copy, copied, lostOrders, epoch, rewound, nextId, task, run, lost, young, raised, items, ordered, deleted, broken, told>>

ConfirmLost(o) ==
  /\ o \in lostOrders /\ rows[o] = NoRow /\ ordered # {} /\ LiveOrders = {}
  /\ rows' = [rows EXCEPT ![o] = [kind |-> "order", item |-> IF DoubtNamesAll THEN AnyItem ELSE NoItem, any |-> DoubtNamesAll, out |-> "done", epoch |-> 0]]
  /\ UNCHANGED <<owner, ended, runs, begins, copy, copied, lostOrders, epoch, rewound, nextId, task, run, lost, young, raised, items, ordered, deleted, broken, told>>

\* The saga has ended, whatever it deleted or left.
SayEnd(t) ==
  /\ task[t].pc = "handed" /\ task[t].kind = "end"
  /\ IF (EndAsksOwner => task[t].owner = owner) /\ task[t].after = After("end")
     THEN /\ told' = task[t].tells /\ run' = "ended" /\ ended' = TRUE
          /\ owner' = IF EndClears /\ (EndAsksOwner \/ owner = task[t].owner) THEN 0 ELSE owner
          /\ UNCHANGED lost
     ELSE Lose(t) /\ UNCHANGED <<told, run, ended, owner>>
  /\ End(t)
  /\ UNCHANGED <<rows, runs, begins, copy, copied, lostOrders, epoch, rewound, nextId, young, raised, items, ordered, deleted, broken>>

Tick ==
  /\ young # {} \/ raised \/ \E t \in Tasks : task[t].fresh \/ task[t].air
  /\ young' = {} /\ raised' = FALSE
  /\ task' = [t \in Tasks |-> IF Active(t) THEN [task[t] EXCEPT !.fresh = FALSE, !.air = FALSE] ELSE Ended([task[t] EXCEPT !.air = FALSE])]
  /\ UNCHANGED <<rows, owner, ended, runs, begins, copy, copied, lostOrders, epoch, rewound, nextId, run, lost, items, ordered, deleted, broken, told>>

-----------------------------------------------------------------------------
(* The journal is restored, and that is noticed: the confirmation follows before anything is intended *)

Now == [rows |-> rows, owner |-> owner, ended |-> ended, runs |-> runs, begins |-> begins]

Backup ==
  /\ rewound < Rewinds /\ ~copied /\ copy # Now
  /\ copy' = Now /\ copied' = TRUE
  /\ UNCHANGED <<rows, owner, ended, runs, begins, lostOrders, epoch, rewound, nextId, task, run, lost, young, raised, items, ordered, deleted, broken, told>>

Restore ==
  /\ rewound < Rewinds /\ copy # Now
  /\ lostOrders' = {o \in Orders : copy.rows[o] = NoRow}
  /\ rows' = copy.rows /\ owner' = copy.owner /\ ended' = copy.ended /\ runs' = copy.runs /\ begins' = copy.begins
  /\ epoch' = epoch + 1 /\ rewound' = rewound + 1 /\ raised' = TRUE
  /\ UNCHANGED <<copy, copied, nextId, task, run, lost, young, items, ordered, deleted, broken, told>>

Init ==
  /\ rows = [i \in Ids |-> NoRow] /\ owner = 0 /\ ended = FALSE /\ runs = {} /\ begins = 0
  /\ copy = Now /\ copied = FALSE /\ lostOrders = {}
  /\ epoch = 1 /\ rewound = 0 /\ nextId = 1
  /\ task = [t \in Tasks |-> Idle]
  /\ run = "open" /\ lost = FALSE /\ young = {} /\ raised = FALSE
  /\ items = {} /\ ordered = {} /\ deleted = {} /\ broken = FALSE /\ told = {}

Next ==
  \/ \E r \in Runs : Begin(r)
  \/ \E t \in Tasks : HandOut(t) \/ Crash(t) \/ Intend(t) \/ Send(t) \/ TakeEffect(t) \/ Answer(t) \/ WriteOutcome(t) \/ SayEnd(t)
  \/ (\E o \in Ids : Deny(o) \/ Confirm(o) \/ ConfirmLost(o)) \/ Tick \/ Backup \/ Restore

Spec == Init /\ [][Next]_vars

\* For the configurations that have to go far: none dies before it has sent.
Smooth == \A t \in Tasks : task[t].pc \in {"handed", "ready"} => (task'[t].pc # "idle" \/ rows' # rows \/ run' # run)

-----------------------------------------------------------------------------
(* What must hold *)

OrderIsKept == ~broken
NothingGoneIsOrdered == broken \/ ordered \cap deleted = {}
NothingIsSilent == run = "ended" => items \subseteq ordered \cup deleted \cup told
OneOrder == Cardinality(LiveOrders) <= 1

-----------------------------------------------------------------------------
(* What must be possible. Each of these has to be found violated. *)

NoDeleteAfterOrder == ~(deleted # {} /\ ordered = {} /\ \E o \in Orders : rows[o].out \in {"denied", "not-done"})
NoOrderOfSecondItem == ~(\E i \in deleted : rows[i].out = "undone" /\ \E k \in ordered : k > i)
NoDoubtBesideOrder == ~(run = "ended" /\ ordered # {} /\ \E i \in items \cap told : i \in DoubtfulAdds)
NoEndBesideZombie == ~(run = "ended" /\ \E t \in Tasks : task[t].pc = "handed")
NoLaterDelete == ~(run = "open" /\ 2 \in runs /\ deleted # {})
NoLostOrderKept == ~(epoch > 1 /\ ordered # {} /\ \E o \in Orders : rows[o].epoch = epoch /\ rows[o].out = "done")
=============================================================================
