------------------------------- MODULE Pivot -------------------------------
(***************************************************************************)
(* One reference and its pivot.                                            *)
(*                                                                         *)
(*   begin (own the reference) --> read the state --> intend --> clock,    *)
(*     send --> answer --> outcome ... --> end (disown the reference)      *)
(*                                                                         *)
(* Temporal protects nothing. A task takes what its run knows (owner, last *)
(* row, epoch, corrections, what the state says) when it is handed out, and*)
(* may then stand still for any time: it is a slow worker, a retry, a task *)
(* of a run that was reset or terminated since, or of a Temporal that was  *)
(* restored and has the same run know less. Several tasks may know the     *)
(* same. Any run that there ever was may begin again at any time.          *)
(*                                                                         *)
(* The journal may be restored to any earlier copy, with its owner, ending *)
(* and runs. A person looks and tells the truth of that moment, but may    *)
(* answer later, and twice. Time is ticks: a tick passes when nothing that *)
(* has to happen within it is left.                                        *)
(***************************************************************************)
EXTENDS Naturals, FiniteSets, TLC

CONSTANTS
  Tasks,       \* activity executions
  RunsMax,     \* runs of this reference: 1 is the first start
  BeginsMax,   \* how many begins, where each has a number of its own
  CorrectionsMax, \* how often a person corrects the request
  SendWithin, InFlight, WaitFor, Rewinds, Calms,
  Survivors,   \* how many runs go on once the harm has ended: 1, or 2 in a split brain
  RestartsMax  \* ... and how often one of them begins again before it asks a person; 0: always

\* The fence. FALSE takes a rule away.
CONSTANTS
  Owner,             \* a call names its owner: a "run", a "begin" (run and number of the begin), or "none": no check
  After,             \* a row is inserted only after the row that the run knows as its step's last one
  EpochInIntent,     \* ... in the epoch that it knows
  CorrectionsInIntent, \* ... and after the corrections that it knows
  OneStep,           \* the checks and the insert are one step: no begin and no other intent in between
  EndClears,         \* the ending clears the owner
  EndAsksOwner,      \* the ending is refused to whom the reference is not owned by
  EndAsksAfter,      \* ... and to whom does not know the last row
  EndWritten,        \* who cannot write the ending does not say "nothing was placed"
  EndEpoch,          \* a recorded "nothing" of an earlier epoch is told as "not known"
  Closed,            \* an ended reference is opened by a reset only
  KnownRuns          \* ... whose run has never begun before

\* The other rules.
CONSTANTS
  Unique, Clock, ClockBeforeIntent, WaitToAsk, WaitToDeny, Bind, UnsureIsUnknown, AskAnew, RandomIds,
  Epoch,           \* after a confirmation the state of a reference of before is "doubt"
  EndWaits, DoubtOutlivesDenial, FlagNew, LostOnlyDone, LostWaits, LostKeepsEpoch, LostPlaced, SureAlarm

\* What the promise rests on.
CONSTANTS OneTick, Settles, PersonLooks, Noticed, TrustIsTrue

ASSUME /\ {CorrectionsMax, SendWithin, InFlight, WaitFor, Rewinds, RunsMax, BeginsMax, Survivors, RestartsMax} \subseteq Nat
       /\ SendWithin > 0 /\ InFlight > 0
       /\ Owner \in {"none", "run", "begin"}

VARIABLES
  journal, copy, copied, mode, rewound, nextId,
  nextTok,  \* the number of the next begin
  task,
  kind,     \* of each run: "no" (not yet), "fresh", "reset"
  said,     \* what was last told of the reference: "open", "placed", "nothing", "unknown", "unwritten"
  stays,    \* "nothing was placed" was told and written, and no person has reset the saga since
  asked, looked, settling, raised, effects, took,
  stale,    \* an order took effect that did not know of a correction
  calm,
  restarts, \* how often each run has begun since the harm ended
  begun     \* the runs that have ever begun, whatever the journal knows

vars == <<journal, copy, copied, mode, rewound, nextId, nextTok, task, kind, said, stays, asked, looked, settling, raised,
          effects, took, stale, calm, restarts, begun>>

Symmetry == Permutations(Tasks)
Runs == 1 .. RunsMax

-----------------------------------------------------------------------------
(* The journal *)

Ids == 1 .. Cardinality(Tasks) + (IF Calms THEN 2 ELSE 0)
NoRow == [out |-> "absent", epoch |-> 0]
Nobody == [run |-> 0, tok |-> 0]
NotEnded == [what |-> "", epoch |-> 0]

Fresh == [rows |-> [i \in Ids |-> NoRow], last |-> 0, seen |-> 0, doubtful |-> FALSE, epoch |-> 1, asks |-> FALSE,
          owner |-> Nobody, ended |-> NotEnded, runs |-> {}, corrections |-> 0]

Open(i) == journal.rows[i].out \in {"none", "unknown"}
OpenRows == {i \in Ids : Open(i)}
DoneRows == {i \in Ids : journal.rows[i].out = "done"}
Missing(i) == journal.rows[i].out = "absent"

Seen == IF journal.seen # 0 THEN journal
        ELSE [journal EXCEPT !.seen = journal.epoch, !.doubtful = journal.asks]

InDoubt == /\ DoneRows = {}
           /\ \A i \in Ids : journal.rows[i].epoch # journal.epoch
           /\ \/ Seen.seen < journal.epoch
              \/ IF FlagNew THEN Seen.doubtful ELSE journal.asks

NewId == IF RandomIds THEN nextId
         ELSE CHOOSE i \in Ids : Missing(i) /\ \A k \in Ids : k < i => ~Missing(k)

Put(j, i, out) == [j EXCEPT !.rows[i].out = out]
Insert(j, i, out) == [j EXCEPT !.rows[i] = [out |-> out, epoch |-> journal.epoch], !.last = i]

-----------------------------------------------------------------------------
(* Runs *)

Exists(r) == kind[r] # "no"
Owned == journal.owner # Nobody

\* A second start, or a reset by a person.
NewRun(r, k) ==
  /\ ~Exists(r) /\ (\A o \in Runs : o < r => Exists(o)) /\ ~calm
  /\ kind' = [kind EXCEPT ![r] = k]
  /\ stays' = IF k = "reset" THEN FALSE ELSE stays
  /\ said' = IF k = "reset" THEN "open" ELSE said
  /\ UNCHANGED <<journal, copy, copied, mode, rewound, nextId, nextTok, task, asked, looked, settling, raised, effects, took, stale, calm, restarts, begun>>

\* What a run that may not open an ended reference tells.
Recorded == IF EndEpoch /\ journal.ended.what # "placed" /\ journal.ended.epoch # journal.epoch THEN "unknown" ELSE journal.ended.what

MayOpen(r) == \/ journal.ended = NotEnded
              \/ ~Closed
              \/ /\ kind[r] = "reset"
                 /\ KnownRuns => r \notin journal.runs

LastRun(n) == {r \in Runs : Exists(r) /\ Cardinality({o \in Runs : Exists(o) /\ o > r}) < n}

Begin(r) ==
  /\ Exists(r) /\ mode # "marked"
  /\ calm => /\ r \in LastRun(Survivors) /\ said = "open"
             /\ journal.owner.run # r \/ journal.ended # NotEnded
             /\ RestartsMax > 0 => restarts[r] < RestartsMax
  /\ restarts' = IF calm /\ RestartsMax > 0 THEN [restarts EXCEPT ![r] = @ + 1] ELSE restarts
  /\ IF mode = "behind" /\ Noticed
     THEN /\ mode' = "marked"
          /\ UNCHANGED <<journal, nextTok, said, stays, begun>>
     ELSE IF ~MayOpen(r)
     THEN /\ said' = Recorded
          /\ mode = "open"
          /\ UNCHANGED <<journal, mode, nextTok, stays, begun>>
     ELSE /\ Owner = "begin" => nextTok <= BeginsMax
          /\ journal' = [Seen EXCEPT !.owner = [run |-> r, tok |-> IF Owner = "begin" THEN nextTok ELSE 0],
                                     !.ended = NotEnded,
                                     !.runs = IF KnownRuns THEN @ \cup {r} ELSE @]
          /\ nextTok' = IF Owner = "begin" THEN nextTok + 1 ELSE nextTok
          /\ said' = "open"
          /\ stays' = (stays /\ ~(kind[r] = "reset" /\ r \notin begun))
          /\ begun' = begun \cup {r}
          /\ UNCHANGED mode
  /\ UNCHANGED <<copy, copied, rewound, nextId, task, kind, asked, looked, settling, raised, effects, took, stale, calm>>

-----------------------------------------------------------------------------
(* Tasks *)

New == [pc |-> "new", row |-> 0, left |-> 0, air |-> 0, hit |-> FALSE, epoch |-> 0, owner |-> Nobody, last |-> 0, st |-> "", corrections |-> 0]
Inactive == {"new", "fin"}
Active(t) == task[t].pc \notin Inactive

Ended(r, pc) == IF r.air > 0 THEN [New EXCEPT !.pc = pc, !.row = r.row, !.air = r.air, !.corrections = r.corrections]
                             ELSE [New EXCEPT !.pc = pc]
End(t) == task' = [task EXCEPT ![t] = Ended(task[t], "fin")]
Go(t, pc) == task' = [task EXCEPT ![t].pc = pc]

State == IF OpenRows \cup DoneRows # {} THEN "live" ELSE IF Epoch /\ InDoubt THEN "doubt" ELSE "none"

\* The owner reads its state, and has something in mind: the pivot, the question of a doubt, or the end.
HandOut(t) ==
  /\ \/ task[t].pc = "new" /\ ~calm
     \/ calm /\ said = "open" /\ asked = 0 /\ task[t].air = 0 /\ \A o \in Tasks : ~Active(o)
  /\ Owned /\ mode # "marked" /\ State # "live"
  /\ task' = [task EXCEPT ![t] = [New EXCEPT !.pc = "handed", !.owner = journal.owner, !.last = IF After \/ EndAsksAfter THEN journal.last ELSE 0,
                                             !.epoch = journal.epoch, !.corrections = journal.corrections, !.st = State]]
  /\ UNCHANGED <<journal, copy, copied, mode, rewound, nextId, nextTok, kind, said, stays, asked, looked, settling, raised, effects, took, stale, calm, restarts, begun>>

Crash(t) ==
  /\ Active(t) /\ ~calm
  /\ End(t)
  /\ UNCHANGED <<journal, copy, copied, mode, rewound, nextId, nextTok, kind, said, stays, asked, looked, settling, raised, effects, took, stale, calm, restarts, begun>>

-----------------------------------------------------------------------------
(* Intend *)

IsOwner(t) == Owner = "none" \/ task[t].owner = journal.owner
Fence(t) == /\ IsOwner(t)
            /\ After => task[t].last = journal.last
            /\ EpochInIntent => task[t].epoch = journal.epoch
            /\ CorrectionsInIntent => task[t].corrections = journal.corrections

Notices == mode = "marked" \/ (mode = "behind" /\ Noticed)

Intend(t) ==
  /\ task[t].pc \in {"handed", "checked"}
  /\ IF Notices
     THEN /\ mode' = "marked"
          /\ End(t)
          /\ UNCHANGED <<journal, nextId, settling, asked>>
     ELSE IF \/ task[t].pc = "handed" /\ ~Fence(t)
             \/ (task[t].pc = "checked" \/ OneStep) /\ Unique /\ OpenRows \cup DoneRows # {}
             \/ NewId \notin Ids
     THEN /\ End(t)  \* StateChanged
          /\ UNCHANGED <<journal, nextId, settling, asked, mode>>
     ELSE IF task[t].pc = "handed" /\ ~OneStep
     THEN /\ task' = [task EXCEPT ![t].pc = "checked"]
          /\ UNCHANGED <<journal, nextId, settling, asked, mode>>
     ELSE /\ nextId' = nextId + 1
          /\ settling' = [settling EXCEPT ![NewId] = WaitFor]
          /\ IF task[t].st = "doubt"
             THEN /\ journal' = Insert(journal, NewId, "unknown")
                  /\ asked' = NewId
                  /\ End(t)
             ELSE /\ journal' = Insert(journal, NewId, "none")
                  /\ task' = [task EXCEPT ![t] = [New EXCEPT !.pc = "ready", !.row = NewId, !.epoch = journal.epoch, !.corrections = task[t].corrections,
                                                             !.left = IF ClockBeforeIntent THEN SendWithin ELSE 0]]
                  /\ UNCHANGED asked
          /\ UNCHANGED mode
  /\ UNCHANGED <<copy, copied, rewound, nextTok, kind, said, stays, looked, raised, effects, took, stale, calm, restarts, begun>>

\* The worker learns that the row is there. Only where its time counts from then.
HearIntended(t) ==
  /\ task[t].pc = "ready" /\ ~ClockBeforeIntent /\ task[t].last = 0
  /\ task' = [task EXCEPT ![t].last = 1, ![t].left = SendWithin]
  /\ UNCHANGED <<journal, copy, copied, mode, rewound, nextId, nextTok, kind, said, stays, asked, looked, settling, raised, effects, took, stale, calm, restarts, begun>>

IntentIsLost(t) ==
  /\ task[t].pc = "handed" /\ mode = "open" /\ ~SureAlarm
  /\ End(t)
  /\ mode' = "marked"
  /\ UNCHANGED <<journal, copy, copied, rewound, nextId, nextTok, kind, said, stays, asked, looked, settling, raised, effects, took, stale, calm, restarts, begun>>

Settle(i, out) == IF Open(i) THEN Put(journal, i, out) ELSE journal

-----------------------------------------------------------------------------
(* Send, and what comes of it *)

Late(t) == Clock /\ task[t].left = 0

TooLate(t) ==
  /\ task[t].pc = "ready" /\ Late(t) /\ (ClockBeforeIntent \/ task[t].last = 1)
  /\ journal' = Settle(task[t].row, "not-done")
  /\ End(t)
  /\ UNCHANGED <<copy, copied, mode, rewound, nextId, nextTok, kind, said, stays, asked, looked, settling, raised, effects, took, stale, calm, restarts, begun>>

LookAtClock(t) ==
  /\ task[t].pc = "ready" /\ ~OneTick /\ ~Late(t)
  /\ Go(t, "timely")
  /\ UNCHANGED <<journal, copy, copied, mode, rewound, nextId, nextTok, kind, said, stays, asked, looked, settling, raised, effects, took, stale, calm, restarts, begun>>

Send(t) ==
  /\ IF OneTick THEN task[t].pc = "ready" /\ ~Late(t) ELSE task[t].pc = "timely"
  /\ task' = [task EXCEPT ![t].pc = "sent", ![t].air = InFlight, ![t].left = 0]
  /\ UNCHANGED <<journal, copy, copied, mode, rewound, nextId, nextTok, kind, said, stays, asked, looked, settling, raised, effects, took, stale, calm, restarts, begun>>

TakeEffect(t) ==
  /\ task[t].air > 0
  /\ effects' = effects + 1
  /\ took' = took \cup {task[t].row}
  /\ stale' = (stale \/ task[t].corrections # journal.corrections)
  /\ task' = [task EXCEPT ![t] = IF Active(t) THEN [@ EXCEPT !.air = 0, !.hit = TRUE] ELSE Ended([@ EXCEPT !.air = 0], "fin")]
  /\ UNCHANGED <<journal, copy, copied, mode, rewound, nextId, nextTok, kind, said, stays, asked, looked, settling, raised, calm, restarts, begun>>

Answer(t) ==
  /\ task[t].pc = "sent"
  /\ \/ task[t].hit /\ Go(t, "got done")
     \/ task[t].air > 0 /\ ~calm /\ task' = [task EXCEPT ![t].pc = "got not-done", ![t].air = 0]
     \/ (~calm \/ (~task[t].hit /\ task[t].air = 0)) /\ Go(t, "got unknown")
     \/ ~UnsureIsUnknown /\ Go(t, "got not-done")
  /\ UNCHANGED <<journal, copy, copied, mode, rewound, nextId, nextTok, kind, said, stays, asked, looked, settling, raised, effects, took, stale, calm, restarts, begun>>

Outcome(t) == CASE task[t].pc = "got done" -> "done"
                [] task[t].pc = "got not-done" -> "not-done"
                [] task[t].pc = "got unknown" -> "unknown"
                [] OTHER -> ""

WriteLost(t) ==
  LET epoch == IF LostKeepsEpoch THEN task[t].epoch ELSE journal.epoch
      again == [journal EXCEPT !.rows[task[t].row] = [out |-> Outcome(t), epoch |-> epoch],
                               !.last = task[t].row,
                               !.seen = IF @ = 0 THEN task[t].epoch ELSE @]
  IN
  /\ mode' = IF mode = "behind" THEN "marked" ELSE mode
  /\ IF OpenRows # {}
     THEN /\ journal' = IF Outcome(t) = "done" \/ ~LostOnlyDone
                        THEN Put(journal, CHOOSE i \in OpenRows : TRUE, Outcome(t)) ELSE journal
          /\ UNCHANGED settling
     ELSE IF DoneRows = {} /\ Outcome(t) # "not-done"
     THEN /\ journal' = again
          /\ settling' = [settling EXCEPT ![task[t].row] = IF LostWaits THEN WaitFor ELSE 0]
     ELSE UNCHANGED <<journal, settling>>

WriteOutcome(t) ==
  /\ Outcome(t) # ""
  /\ asked' = IF Outcome(t) = "unknown" /\ asked = 0 THEN task[t].row ELSE asked
  /\ IF ~Missing(task[t].row)
     THEN journal' = Settle(task[t].row, Outcome(t)) /\ UNCHANGED <<mode, settling>>
     ELSE WriteLost(t)
  /\ End(t)
  /\ UNCHANGED <<copy, copied, rewound, nextId, nextTok, kind, said, stays, looked, raised, effects, took, stale, calm, restarts, begun>>

-----------------------------------------------------------------------------
(* A person *)

Settled(i) == settling[i] = 0 /\ raised = 0

\* The owner's state says "unknown".
Ask ==
  /\ Owned /\ asked = 0 /\ OpenRows # {}
  /\ asked' = CHOOSE i \in OpenRows : TRUE
  /\ UNCHANGED <<journal, copy, copied, mode, rewound, nextId, nextTok, task, kind, said, stays, looked, settling, raised, effects, took, stale, calm, restarts, begun>>

Look ==
  /\ asked \in Ids /\ asked \notin looked
  /\ WaitToAsk => Settled(asked)
  /\ PersonLooks => effects = 0
  /\ looked' = looked \cup {asked}
  /\ UNCHANGED <<journal, copy, copied, mode, rewound, nextId, nextTok, task, kind, said, stays, asked, settling, raised, effects, took, stale, calm, restarts, begun>>

\* "Not placed": then it is placed again. After a restore this may be of a saga that had ended in the lost time.
Deny(r) ==
  /\ r \in looked
  /\ \E i \in (IF Bind THEN {r} ELSE OpenRows) :
       /\ Open(i)
       /\ WaitToDeny => Settled(i)
       /\ journal' = IF DoubtOutlivesDenial THEN Put(journal, i, "denied") ELSE Insert(journal, i, "denied")
       /\ asked' = IF asked = i THEN 0 ELSE asked
  /\ stays' = FALSE
  /\ UNCHANGED <<copy, copied, mode, rewound, nextId, nextTok, task, kind, said, looked, settling, raised, effects, took, stale, calm, restarts, begun>>

\* What is ordered is corrected. Not once it was ordered, or may have been.
Correct ==
  /\ Owned /\ mode = "open" /\ ~calm /\ journal.corrections < CorrectionsMax /\ OpenRows \cup DoneRows = {}
  /\ journal' = [journal EXCEPT !.corrections = @ + 1]
  /\ UNCHANGED <<copy, copied, mode, rewound, nextId, nextTok, task, kind, said, stays, asked, looked, settling, raised, effects, took, stale, calm, restarts, begun>>

Confirm ==
  /\ asked \in Ids /\ effects > 0
  /\ \/ /\ Open(asked)
        /\ journal' = Put(journal, asked, "done") /\ UNCHANGED <<mode, said>>
     \/ /\ Missing(asked) /\ OpenRows \cup DoneRows = {}
        /\ IF LostPlaced
           THEN /\ journal' = Insert(Seen, asked, "done") /\ UNCHANGED said
                /\ mode' = IF mode = "behind" THEN "marked" ELSE mode
           ELSE said' = "unwritten" /\ UNCHANGED <<journal, mode>>
  /\ asked' = 0
  /\ UNCHANGED <<copy, copied, rewound, nextId, nextTok, task, kind, stays, looked, settling, raised, effects, took, stale, calm, restarts, begun>>

DropQuestion ==
  /\ AskAnew /\ asked \in Ids /\ ~Open(asked)
  /\ asked' = 0
  /\ UNCHANGED <<journal, copy, copied, mode, rewound, nextId, nextTok, task, kind, said, stays, looked, settling, raised, effects, took, stale, calm, restarts, begun>>

-----------------------------------------------------------------------------
(* The ending: one transaction, before the run is closed *)

Close(what, run) ==
  /\ journal' = [journal EXCEPT !.owner = IF EndClears /\ (EndAsksOwner \/ @.run = run) THEN Nobody ELSE @,
                                !.ended = [what |-> what, epoch |-> journal.epoch],
                                !.runs = IF KnownRuns THEN @ \cup {run} ELSE @]
  /\ said' = what

\* Placed, or cancelled while nobody knows: the ending reads the rows.
SayPlaced ==
  /\ Owned /\ mode = "open" /\ DoneRows # {}
  /\ Close("placed", journal.owner.run) /\ asked' = 0
  /\ UNCHANGED <<copy, copied, mode, rewound, nextId, nextTok, task, kind, stays, looked, settling, raised, effects, took, stale, calm, restarts, begun>>

SayUnknown ==
  /\ Owned /\ mode = "open" /\ ~calm /\ OpenRows # {}
  /\ Close("unknown", journal.owner.run) /\ asked' = 0
  /\ UNCHANGED <<copy, copied, mode, rewound, nextId, nextTok, task, kind, stays, looked, settling, raised, effects, took, stale, calm, restarts, begun>>

\* Cancelled or refused, by what a run knew. A doubt is told as such.
SayNothing(t) ==
  /\ task[t].pc = "handed" /\ ~calm
  /\ EndWaits => mode = "open"
  /\ EndAsksOwner => IsOwner(t)
  /\ EndAsksAfter => task[t].last = journal.last
  /\ EndAsksOwner => (EpochInIntent => task[t].epoch = journal.epoch)
  /\ Close(IF task[t].st = "doubt" THEN "unknown" ELSE "nothing", task[t].owner.run)
  /\ stays' = (stays \/ task[t].st = "none")
  /\ asked' = 0
  /\ End(t)
  /\ UNCHANGED <<copy, copied, mode, rewound, nextId, nextTok, kind, looked, settling, raised, effects, took, stale, calm, restarts, begun>>

\* The journal is away, and a person ends the run nevertheless.
SayUnwritten(t) ==
  /\ task[t].pc = "handed" /\ ~calm /\ ~EndWritten /\ task[t].st = "none" /\ IsOwner(t) /\ task[t].last = journal.last
  /\ said' = "nothing"
  /\ End(t)
  /\ UNCHANGED <<journal, copy, copied, mode, rewound, nextId, nextTok, kind, stays, asked, looked, settling, raised, effects, took, stale, calm, restarts, begun>>

-----------------------------------------------------------------------------
(* The journal is restored *)

Backup ==
  /\ rewound < Rewinds /\ ~copied /\ mode = "open" /\ ~calm /\ journal # copy
  /\ copy' = journal /\ copied' = TRUE
  /\ UNCHANGED <<journal, mode, rewound, nextId, nextTok, task, kind, said, stays, asked, looked, settling, raised, effects, took, stale, calm, restarts, begun>>

Restore ==
  /\ rewound < Rewinds /\ ~calm /\ journal # copy
  /\ journal' = copy /\ copied' = FALSE
  /\ rewound' = rewound + 1 /\ mode' = "behind"
  /\ UNCHANGED <<copy, nextId, nextTok, task, kind, said, stays, asked, looked, settling, raised, effects, took, stale, calm, restarts, begun>>

\* A reference that had ended in the lost time was lost, too, if it had no row.
TrustIsGood == TrustIsTrue => (journal.seen # 0 \/ (nextId = 1 /\ ~stays))

ConfirmRestore ==
  /\ mode # "open"
  /\ journal' = [journal EXCEPT !.epoch = rewound + 1, !.asks = TRUE]
  /\ mode' = "open" /\ raised' = WaitFor
  /\ UNCHANGED <<copy, copied, rewound, nextId, nextTok, task, kind, said, stays, asked, looked, settling, effects, took, stale, calm, restarts, begun>>

TrustNew ==
  /\ mode = "open" /\ journal.asks /\ TrustIsGood
  /\ journal' = [journal EXCEPT !.asks = FALSE]
  /\ UNCHANGED <<copy, copied, mode, rewound, nextId, nextTok, task, kind, said, stays, asked, looked, settling, raised, effects, took, stale, calm, restarts, begun>>

-----------------------------------------------------------------------------
(* Time, and its end *)

Less(n) == IF n > 0 THEN n - 1 ELSE 0

Tick ==
  /\ raised > 0 \/ (\E i \in Ids : settling[i] > 0) \/ \E t \in Tasks : task[t].left > 0 \/ task[t].air > 0
  /\ calm => \A t \in Tasks : ~Active(t)
  /\ raised' = Less(raised)
  /\ settling' = [i \in Ids |-> Less(settling[i])]
  /\ task' = [t \in Tasks |->
       LET air == IF Settles THEN Less(task[t].air) ELSE task[t].air IN
       IF Active(t) THEN [task[t] EXCEPT !.left = Less(@), !.air = air]
                    ELSE Ended([task[t] EXCEPT !.air = air], task[t].pc)]
  /\ UNCHANGED <<journal, copy, copied, mode, rewound, nextId, nextTok, kind, said, stays, asked, looked, effects, took, stale, calm, restarts, begun>>

BecomeCalm ==
  /\ Calms /\ ~calm /\ calm' = TRUE
  /\ UNCHANGED <<journal, copy, copied, mode, rewound, nextId, nextTok, task, kind, said, stays, asked, looked, settling, raised, effects, took, stale, restarts, begun>>

-----------------------------------------------------------------------------

Init ==
  /\ journal = Fresh /\ copy = Fresh /\ copied = FALSE /\ mode = "open" /\ rewound = 0 /\ nextId = 1 /\ nextTok = 1
  /\ task = [t \in Tasks |-> New]
  /\ kind = [r \in Runs |-> IF r = 1 THEN "fresh" ELSE "no"]
  /\ said = "open" /\ stays = FALSE /\ asked = 0 /\ looked = {}
  /\ settling = [i \in Ids |-> 0] /\ raised = 0
  /\ effects = 0 /\ took = {} /\ stale = FALSE /\ calm = FALSE /\ restarts = [r \in Runs |-> 0] /\ begun = {}

Next ==
  \/ \E r \in Runs : Begin(r) \/ NewRun(r, "fresh") \/ NewRun(r, "reset")
  \/ \E t \in Tasks : \/ HandOut(t) \/ Crash(t) \/ Intend(t) \/ HearIntended(t) \/ IntentIsLost(t) \/ TooLate(t)
                      \/ LookAtClock(t) \/ Send(t) \/ TakeEffect(t) \/ Answer(t) \/ WriteOutcome(t) \/ SayNothing(t) \/ SayUnwritten(t)
  \/ Ask \/ Look \/ (\E r \in Ids : Deny(r)) \/ Correct \/ Confirm \/ DropQuestion \/ SayPlaced \/ SayUnknown
  \/ Backup \/ Restore \/ ConfirmRestore \/ TrustNew \/ Tick \/ BecomeCalm

Spec == Init /\ [][Next]_vars
Fair == Spec /\ WF_vars(Next)

-----------------------------------------------------------------------------
(* Constraints of single configurations *)

Smooth == \A t \in Tasks : task[t].pc \in {"handed", "ready"} => (task'[t].pc # "fin" \/ journal' # journal)

-----------------------------------------------------------------------------
(* What must hold *)

AtMostOne == effects <= 1

NoLie == /\ said = "nothing" => effects = 0
         /\ said = "placed" => effects > 0

\* After "nothing was placed" was told and written, nothing takes effect, unless a person has reset the saga since, or has
\* answered the question of a restore.
EndedStays == stays => effects = 0

NoStaleOrder == ~stale
RowsAreTrue == \A i \in Ids : journal.rows[i].out \in {"not-done", "denied"} => i \notin took
PlacedIsWritten == said # "unwritten"
OneRow == Cardinality(OpenRows \cup DoneRows) <= 1
NoFalseAlarm == mode = "marked" => rewound > 0

\* Once the harm has ended, a saga that is open has always something to do ...
NeverStuck == (calm /\ said = "open") => ENABLED Next
\* ... and comes to its end.
GoesOn == (calm /\ said = "open") ~> (said # "open")

-----------------------------------------------------------------------------
(* What must be possible. Each of these has to be found violated. *)

NoOrderAfterDenial == ~(said = "placed" /\ \E i \in Ids : journal.rows[i].out = "denied")
NoReopening == ~(effects = 1 /\ \E r \in Runs : r \in journal.runs /\ kind[r] = "reset")
NoEndBesideZombie == ~(said = "nothing" /\ \E t \in Tasks : Active(t))
NoRefusedZombie == ~(said = "nothing" /\ \E t \in Tasks : task[t].pc = "handed" /\ task[t].st = "none" /\ task[t].last = journal.last)
NoEffectBehindTheBack == ~(effects = 1 /\ DoneRows = {} /\ OpenRows = {1} /\ \A t \in Tasks : ~Active(t))
NoHappyEnd == ~(calm /\ said = "placed" /\ journal.epoch > 1)
NoToldUnknown == ~(said = "unknown" /\ journal.ended.what = "nothing")
NoLostOrderFound == ~(/\ effects = 1 /\ journal.epoch > 1
                      /\ \E i \in DoneRows : journal.rows[i].epoch = journal.epoch /\ i \notin took)
=============================================================================
