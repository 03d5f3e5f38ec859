------------------------------- MODULE Server -------------------------------
(***************************************************************************)
(* One firewall of one server, which a saga takes away and, when it gives  *)
(* up, undoes. Both may be repeated; of two calls that overlap the         *)
(* later one wins. The run looks at the provider's list, and says "kept"   *)
(* when the list shows the firewall.                                       *)
(*                                                                         *)
(* Tasks, knowledge and spans of time are those of Cart.tla.               *)
(***************************************************************************)
EXTENDS Naturals, FiniteSets, TLC

CONSTANTS
  Tasks, RunsMax, RowsMax,
  Waits,        \* a look waits for calls in flight: "all" that any run has left, those of "earlier" owners only, or "none"
  Owner,        \* the fence, as in Cart.tla: a call is intended only for the run that owns the reference
  OneStep,
  EndClears,
  EndAsksOwner,
  EndAsksAfter, \* the ending names the last row that its run knows: refused if one came since the look
  Clock

VARIABLES rows, owner, ended, runs, nextId, task, young, has, told
vars == <<rows, owner, ended, runs, nextId, task, young, has, told>>
Symmetry == Permutations(Tasks)

Ids == 1 .. RowsMax
Runs == 1 .. RunsMax
NoRow == [kind |-> "absent", owner |-> 0, out |-> "absent"]
Open(i) == rows[i].out \in {"none", "unknown"}
Last(s) == IF s = {} THEN 0 ELSE CHOOSE i \in s : \A k \in s : k <= i
LastRow == Last({i \in Ids : rows[i].kind # "absent"})

Idle == [pc |-> "idle", kind |-> "", row |-> 0, owner |-> 0, after |-> 0, fresh |-> FALSE, air |-> FALSE, hit |-> FALSE]
Active(t) == task[t].pc # "idle"
Ended(r) == IF r.air THEN [Idle EXCEPT !.row = r.row, !.kind = r.kind, !.air = TRUE] ELSE Idle
End(t) == task' = [task EXCEPT ![t] = Ended(task[t])]

Begin(r) ==
  /\ ended => r \notin runs
  /\ r > 1 => r - 1 \in runs
  /\ owner # r
  /\ owner' = r /\ ended' = FALSE /\ runs' = runs \cup {r} /\ told' = "open"
  /\ UNCHANGED <<rows, nextId, task, young, has>>

Calm == CASE Waits = "none" -> TRUE
          [] Waits = "earlier" -> \A i \in young : Open(i) => rows[i].owner = owner
          [] OTHER -> \A i \in young : ~Open(i)

HandOut(t, kind) ==
  /\ ~Active(t) /\ ~task[t].air /\ owner # 0 /\ told = "open"
  /\ kind \in {"as", "end"} => Calm
  /\ kind = "un" => has
  /\ kind = "end" => has  \* the list shows it
  /\ kind # "end" => nextId \in Ids
  /\ task' = [task EXCEPT ![t] = [Idle EXCEPT !.pc = "handed", !.kind = kind, !.owner = owner, !.after = IF kind = "end" THEN LastRow ELSE 0]]
  /\ UNCHANGED <<rows, owner, ended, runs, nextId, young, has, told>>

Crash(t) == Active(t) /\ End(t) /\ UNCHANGED <<rows, owner, ended, runs, nextId, young, has, told>>

Intend(t) ==
  /\ task[t].pc \in {"handed", "checked"} /\ task[t].kind # "end"
  /\ IF \/ nextId \notin Ids
        \/ task[t].pc = "handed" /\ ~(Owner => task[t].owner = owner)
     THEN End(t) /\ UNCHANGED <<rows, nextId, young>>
     ELSE IF task[t].pc = "handed" /\ ~OneStep
     THEN task' = [task EXCEPT ![t].pc = "checked"] /\ UNCHANGED <<rows, nextId, young>>
     ELSE /\ rows' = [rows EXCEPT ![nextId] = [kind |-> task[t].kind, owner |-> task[t].owner, out |-> "none"]]
          /\ nextId' = nextId + 1 /\ young' = young \cup {nextId}
          /\ task' = [task EXCEPT ![t] = [Idle EXCEPT !.pc = "ready", !.kind = task[t].kind, !.row = nextId, !.fresh = TRUE]]
  /\ UNCHANGED <<owner, ended, runs, has, told>>

Settle(i, out) == IF Open(i) THEN [rows EXCEPT ![i].out = out] ELSE rows

Send(t) ==
  /\ task[t].pc = "ready"
  /\ IF Clock /\ ~task[t].fresh
     THEN rows' = Settle(task[t].row, "not-done") /\ End(t)
     ELSE task' = [task EXCEPT ![t].pc = "sent", ![t].air = TRUE, ![t].fresh = FALSE] /\ UNCHANGED rows
  /\ UNCHANGED <<owner, ended, runs, nextId, young, has, told>>

TakeEffect(t) ==
  /\ task[t].air
  /\ has' = (task[t].kind = "as")
  /\ task' = [task EXCEPT ![t] = IF Active(t) THEN [@ EXCEPT !.air = FALSE, !.hit = TRUE] ELSE Idle]
  /\ UNCHANGED <<rows, owner, ended, runs, nextId, young, told>>

Answer(t) ==
  /\ task[t].pc = "sent"
  /\ \E out \in {"done", "not-done", "unknown"} :
       /\ out = "done" => task[t].hit
       /\ out = "not-done" => task[t].air
       /\ rows' = Settle(task[t].row, out)
       /\ task' = [task EXCEPT ![t] = Ended(IF out = "not-done" THEN [@ EXCEPT !.air = FALSE] ELSE @)]
  /\ UNCHANGED <<owner, ended, runs, nextId, young, has, told>>

SayKept(t) ==
  /\ task[t].pc = "handed" /\ task[t].kind = "end"
  /\ IF (EndAsksOwner => task[t].owner = owner) /\ (EndAsksAfter => task[t].after = LastRow)
     THEN told' = "kept" /\ ended' = TRUE /\ owner' = IF EndClears /\ (EndAsksOwner \/ owner = task[t].owner) THEN 0 ELSE owner
     ELSE UNCHANGED <<told, ended, owner>>
  /\ End(t)
  /\ UNCHANGED <<rows, runs, nextId, young, has>>

Tick ==
  /\ young # {} \/ \E t \in Tasks : task[t].fresh \/ task[t].air
  /\ young' = {}
  /\ task' = [t \in Tasks |-> IF Active(t) THEN [task[t] EXCEPT !.fresh = FALSE, !.air = FALSE] ELSE Idle]
  /\ UNCHANGED <<rows, owner, ended, runs, nextId, has, told>>

Init ==
  /\ rows = [i \in Ids |-> NoRow] /\ owner = 0 /\ ended = FALSE /\ runs = {} /\ nextId = 1
  /\ task = [t \in Tasks |-> Idle] /\ young = {} /\ has = TRUE /\ told = "open"

Next ==
  \/ \E r \in Runs : Begin(r)
  \/ \E t \in Tasks : \/ \E k \in {"un", "as", "end"} : HandOut(t, k)
                      \/ Crash(t) \/ Intend(t) \/ Send(t) \/ TakeEffect(t) \/ Answer(t) \/ SayKept(t)
  \/ Tick

Spec == Init /\ [][Next]_vars

\* What was told to be kept is there, until a person resets the saga.
KeptIsThere == told = "kept" => has
\* Must be found violated: it is undone, and told.
NoUndo == ~(told = "kept" /\ \E i \in Ids : rows[i] = [kind |-> "as", owner |-> 2, out |-> "done"])
=============================================================================
