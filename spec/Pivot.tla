------------------------------- MODULE Pivot -------------------------------
(***************************************************************************)
(* One reference and its pivot: an order, a change order or a switch.      *)
(*                                                                         *)
(*   mean --> still wanted? --> the clock, and send --> answer --> outcome *)
(*                                                                         *)
(* Temporal protects nothing here. A task may be handed out at any time    *)
(* for the same reference: a retry, a reset, a second start, a copy of     *)
(* Temporal that is older or lags behind. It may be given up, and wanted   *)
(* again. It may stand still between any two steps, and die at each.       *)
(*                                                                         *)
(* The journal may be put back to any earlier copy. A person looks and     *)
(* tells the truth of that moment, but may answer later, and twice.        *)
(*                                                                         *)
(* Time is ticks. Within one tick things happen in any order. A span of n  *)
(* ticks that began within a tick is over at the n-th tick after it. So    *)
(* SendWithin + InAir - 1 is the shortest wait that covers both spans, and *)
(* the configurations use just that one.                                   *)
(*                                                                         *)
(* Left out: what is ordered (Cart.tla), the text of answers, two sagas at *)
(* once, clocks that run at different speeds.                              *)
(***************************************************************************)
EXTENDS Naturals, FiniteSets, TLC

CONSTANTS
  Tasks,       \* activity executions, of whichever run
  SendWithin,  \* ticks after which a task does not send any more
  InAir,       \* ticks after which a call that was sent takes effect no more
  WaitFor,     \* ticks before a person is asked, and may say "not placed"
  Rewinds,     \* how often the journal is put back
  Calms        \* whether the harm ends at some time, to ask whether the saga goes on then

\* The rules. FALSE takes one away.
CONSTANTS
  Unique,          \* nothing is meant beside a row without outcome, or one that is done or unknown
  Recall,          \* a row that is done gives its answer
  Clock,           \* who meant it long ago does not send
  ClockBeforeMean, \* that time counts from before the row was written
  Wanted,          \* a task that was given up does not send
  WantedAfterMean, \* that is asked when the row is there already
  WaitToAsk,       \* a person is asked, and looks, only when nobody can be sending any more
  WaitToDeny,      \* "not placed" is refused before that time
  Bind,            \* an answer is for the row that was asked about
  UnsureIsUnknown, \* an answer that does not prove "not done" is not taken for it
  AskAnew,         \* a question whose row was settled or lost meanwhile is dropped: the pivot is tried again
  RandomIds,       \* a row's id is never given twice
  Epoch,           \* after a ceremony, a reference of before is asked about first
  EpochAtTheEnd,   \* ... and "nothing was placed" is not said of it either
  EndWaits,        \* ... nor of any, while the journal is an older copy and nobody has seen to it
  DoubtOutlivesDenial, \* ... also where a row of before was open, and a person has said "not placed" of it
  FlagNew,         \* whether a new reference is asked about is written down when it is first seen
  LostOnlyDone,    \* of calls whose row was lost, only "done" is written into the row that stands for the doubt
  LostWaits,       \* a row that is written again waits like a new one
  LostKeepsEpoch,  \* ... and has the epoch in which it was meant
  LostPlaced,      \* "placed" is written down also where the row was lost
  SureAlarm        \* a row that may never have been written does not prove that the journal was put back

\* What the promise rests on. FALSE takes one away.
CONSTANTS
  OneTick,         \* the last look at the clock and the write to the socket are one tick of the event loop
  Settles,         \* the provider lets a call take effect within InAir, or never
  PersonLooks,     \* who says "not placed" has looked, and seen nothing
  Noticed,         \* the put-back journal is noticed by whoever comes first to mean something in it
  TrustIsTrue      \* references are trusted only where none was lost, or those that were lost have come again

ASSUME /\ {SendWithin, InAir, WaitFor, Rewinds} \subseteq Nat
       /\ SendWithin > 0 /\ InAir > 0

VARIABLES
  journal,  \* its rows, when the reference was first seen, its epoch, and whether new references are asked about
  copy,     \* an earlier journal, to which it may be put back
  copied,   \* whether that copy was made since the last time
  mode,     \* "open", "behind" (put back, and nobody knows), "marked" (put back, and everything stops)
  rewound,  \* how often the journal was put back
  nextId,   \* the next random id
  task,     \* where each task is
  run,      \* what the saga says: "open", "placed", "nothing", "unwritten"
  asked,    \* the row that its question is about
  looked,   \* the rows for which somebody has looked, and seen nothing
  settling, \* for each row, the ticks until nobody who meant it can be sending
  raised,   \* the same since the ceremony
  effects,  \* how often the pivot took effect
  took,     \* the rows whose call took effect
  calm      \* the harm has ended

vars == <<journal, copy, copied, mode, rewound, nextId, task, run, asked, looked, settling, raised, effects, took, calm>>

Symmetry == Permutations(Tasks)

-----------------------------------------------------------------------------
(* The journal *)

Ids == 1 .. Cardinality(Tasks) + (IF Calms THEN 2 ELSE 0)
NoRow == [out |-> "absent", epoch |-> 0]
Stuck == 99  \* a question that no decision settles

Fresh == [rows |-> [i \in Ids |-> NoRow], seen |-> 0, doubtful |-> FALSE, epoch |-> 1, asks |-> FALSE]

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
Insert(j, i, out) == [j EXCEPT !.rows[i] = [out |-> out, epoch |-> journal.epoch]]

-----------------------------------------------------------------------------
(* Tasks *)

New == [pc |-> "new", row |-> 0, left |-> 0, given |-> FALSE, air |-> 0, hit |-> FALSE, epoch |-> 0]
Inactive == {"new", "fin", "recalled"}
Active(t) == task[t].pc \notin Inactive

\* What is left of a task that has ended: its call, while that is in the air.
Ended(r, pc) == [New EXCEPT !.pc = pc, !.row = IF r.air > 0 THEN r.row ELSE 0, !.air = r.air]
End(t) == task' = [task EXCEPT ![t] = Ended(task[t], "fin")]
Go(t, pc) == task' = [task EXCEPT ![t].pc = pc]

\* Temporal hands out a task: a retry, a reset, a second start. The saga is open again.
HandOut(t) ==
  /\ task[t].pc = "new" /\ ~calm
  /\ Go(t, "handed")
  /\ run' = "open"
  /\ UNCHANGED <<journal, copy, copied, mode, rewound, nextId, asked, looked, settling, raised, effects, took, calm>>

\* Nobody waits for this task any more.
GiveUp(t) ==
  /\ Active(t) /\ ~task[t].given /\ ~calm
  /\ task' = [task EXCEPT ![t].given = TRUE]
  /\ UNCHANGED <<journal, copy, copied, mode, rewound, nextId, run, asked, looked, settling, raised, effects, took, calm>>

\* Temporal was restored from an older copy: what was given up or had ended is wanted again.
RestoreTemporal ==
  /\ ~calm
  /\ run # "open" \/ \E t \in Tasks : task[t].given
  /\ run' = "open"
  /\ task' = [t \in Tasks |-> [task[t] EXCEPT !.given = FALSE]]
  /\ UNCHANGED <<journal, copy, copied, mode, rewound, nextId, asked, looked, settling, raised, effects, took, calm>>

Crash(t) ==
  /\ Active(t) /\ ~calm
  /\ End(t)
  /\ UNCHANGED <<journal, copy, copied, mode, rewound, nextId, run, asked, looked, settling, raised, effects, took, calm>>

-----------------------------------------------------------------------------
(* Mean: one transaction *)

Inserts(out) ==
  /\ NewId \in Ids
  /\ journal' = Insert(Seen, NewId, out)
  /\ nextId' = nextId + 1
  /\ settling' = [settling EXCEPT ![NewId] = WaitFor]

MeanNothing(t, pc, question) ==
  /\ task' = [task EXCEPT ![t] = Ended(task[t], pc)]
  /\ asked' = question
  /\ journal' = Seen
  /\ UNCHANGED <<mode, nextId, settling>>

Mean(t) ==
  /\ task[t].pc = IF WantedAfterMean THEN "handed" ELSE "wanted"
  /\ IF mode = "marked" \/ (mode = "behind" /\ Noticed)
     THEN /\ mode' = "marked"
          /\ End(t)
          /\ UNCHANGED <<journal, nextId, settling, asked>>
     ELSE IF DoneRows # {} /\ Recall
     THEN MeanNothing(t, "recalled", 0)
     ELSE IF Unique /\ OpenRows # {}
     THEN MeanNothing(t, "fin", CHOOSE i \in OpenRows : TRUE)
     ELSE IF Unique /\ DoneRows # {}
     THEN MeanNothing(t, "fin", Stuck)  \* the index refuses it
     ELSE IF Epoch /\ InDoubt
     THEN /\ Inserts("unknown")
          /\ asked' = NewId
          /\ End(t)
          /\ UNCHANGED mode
     ELSE /\ Inserts("none")
          /\ task' = [task EXCEPT ![t].pc = IF WantedAfterMean THEN "meant" ELSE "ready", ![t].row = NewId,
                                  ![t].left = SendWithin, ![t].epoch = journal.epoch]
          /\ UNCHANGED <<mode, asked>>
  /\ UNCHANGED <<copy, copied, rewound, run, looked, raised, effects, took, calm>>

\* The journal does not answer. Nothing was written, and the task cannot know that: it asks for "not done" later.
MeanIsLost(t) ==
  /\ task[t].pc = "handed" /\ mode = "open" /\ ~SureAlarm
  /\ End(t)
  /\ mode' = "marked"
  /\ UNCHANGED <<journal, copy, copied, rewound, nextId, run, asked, looked, settling, raised, effects, took, calm>>

\* What is known of a row is written into it, if it is open still.
Settle(i, out) == IF Open(i) THEN Put(journal, i, out) ELSE journal

AskWanted(t) ==
  /\ task[t].pc = IF WantedAfterMean THEN "meant" ELSE "handed"
  /\ IF Wanted /\ task[t].given
     THEN /\ journal' = IF task[t].row # 0 THEN Settle(task[t].row, "not-done") ELSE journal
          /\ End(t)
     ELSE /\ task' = [task EXCEPT ![t].pc = IF WantedAfterMean THEN "ready" ELSE "wanted",
                                  ![t].left = IF ClockBeforeMean THEN @ ELSE SendWithin]
          /\ UNCHANGED journal
  /\ UNCHANGED <<copy, copied, mode, rewound, nextId, run, asked, looked, settling, raised, effects, took, calm>>

-----------------------------------------------------------------------------
(* Send, and what comes of it *)

Late(t) == Clock /\ task[t].left = 0

TooLate(t) ==
  /\ task[t].pc = "ready" /\ Late(t)
  /\ journal' = Settle(task[t].row, "not-done")
  /\ End(t)
  /\ UNCHANGED <<copy, copied, mode, rewound, nextId, run, asked, looked, settling, raised, effects, took, calm>>

\* Only where the two are not one tick of the event loop.
LookAtClock(t) ==
  /\ task[t].pc = "ready" /\ ~OneTick /\ ~Late(t)
  /\ Go(t, "timely")
  /\ UNCHANGED <<journal, copy, copied, mode, rewound, nextId, run, asked, looked, settling, raised, effects, took, calm>>

Send(t) ==
  /\ IF OneTick THEN task[t].pc = "ready" /\ ~Late(t) ELSE task[t].pc = "timely"
  /\ task' = [task EXCEPT ![t].pc = "sent", ![t].air = InAir, ![t].left = 0]
  /\ UNCHANGED <<journal, copy, copied, mode, rewound, nextId, run, asked, looked, settling, raised, effects, took, calm>>

TakeEffect(t) ==
  /\ task[t].air > 0
  /\ effects' = effects + 1
  /\ took' = took \cup {task[t].row}
  /\ task' = [task EXCEPT ![t] = IF Active(t) THEN [@ EXCEPT !.air = 0, !.hit = TRUE] ELSE Ended([@ EXCEPT !.air = 0], "fin")]
  /\ UNCHANGED <<journal, copy, copied, mode, rewound, nextId, run, asked, looked, settling, raised, calm>>

Answer(t) ==
  /\ task[t].pc = "sent"
  /\ \/ task[t].hit /\ Go(t, "got done")
     \/ task[t].air > 0 /\ ~calm /\ task' = [task EXCEPT ![t].pc = "got not-done", ![t].air = 0]  \* a refusal
     \/ (~calm \/ (~task[t].hit /\ task[t].air = 0)) /\ Go(t, "got unknown")
     \/ ~UnsureIsUnknown /\ Go(t, "got not-done")
  /\ UNCHANGED <<journal, copy, copied, mode, rewound, nextId, run, asked, looked, settling, raised, effects, took, calm>>

Outcome(t) == CASE task[t].pc = "got done" -> "done"
                [] task[t].pc = "got not-done" -> "not-done"
                [] task[t].pc = "got unknown" -> "unknown"
                [] OTHER -> ""

\* The row is gone. It is written again where no other one stands for the pivot; a refusal is not, because it says nothing
\* of what else was lost.
WriteLost(t) ==
  LET epoch == IF LostKeepsEpoch THEN task[t].epoch ELSE journal.epoch
      again == [journal EXCEPT !.rows[task[t].row] = [out |-> Outcome(t), epoch |-> epoch],
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

\* By the task itself, or much later by the workflow that got its answer. The saga asks about its own row at once.
WriteOutcome(t) ==
  /\ Outcome(t) # ""
  /\ asked' = IF Outcome(t) = "unknown" /\ ~task[t].given THEN task[t].row ELSE asked
  /\ IF ~Missing(task[t].row)
     THEN journal' = Settle(task[t].row, Outcome(t)) /\ UNCHANGED <<mode, settling>>
     ELSE WriteLost(t)
  /\ End(t)
  /\ UNCHANGED <<copy, copied, rewound, nextId, run, looked, raised, effects, took, calm>>

-----------------------------------------------------------------------------
(* A person *)

Settled(i) == settling[i] = 0 /\ raised = 0

Look ==
  /\ asked \in Ids /\ asked \notin looked
  /\ WaitToAsk => Settled(asked)
  /\ PersonLooks => effects = 0
  /\ looked' = looked \cup {asked}
  /\ UNCHANGED <<journal, copy, copied, mode, rewound, nextId, task, run, asked, settling, raised, effects, took, calm>>

\* "Not placed", by whoever has looked for row r once.
Deny(r) ==
  /\ r \in looked
  /\ \E i \in (IF Bind THEN {r} ELSE OpenRows) :
       /\ Open(i)
       /\ WaitToDeny => Settled(i)
       /\ journal' = IF DoubtOutlivesDenial THEN Put(journal, i, "denied") ELSE Insert(journal, i, "denied")
       /\ asked' = IF asked = i THEN 0 ELSE asked
  /\ UNCHANGED <<copy, copied, mode, rewound, nextId, task, run, looked, settling, raised, effects, took, calm>>

\* "Placed": the effect is there for everybody to see.
Confirm ==
  /\ asked \in Ids /\ effects > 0
  /\ \/ /\ Open(asked)
        /\ journal' = Put(journal, asked, "done") /\ UNCHANGED <<mode, run>>
     \/ /\ Missing(asked) /\ OpenRows \cup DoneRows = {}
        /\ IF LostPlaced
           THEN /\ journal' = Insert(Seen, asked, "done") /\ UNCHANGED run
                /\ mode' = IF mode = "behind" THEN "marked" ELSE mode
           ELSE run' = "unwritten" /\ UNCHANGED <<journal, mode>>
  /\ asked' = 0
  /\ UNCHANGED <<copy, copied, rewound, nextId, task, looked, settling, raised, effects, took, calm>>

\* The row that was asked about is settled, or lost: the pivot is tried again.
DropQuestion ==
  /\ AskAnew /\ asked \in Ids /\ ~Open(asked)
  /\ asked' = 0
  /\ UNCHANGED <<journal, copy, copied, mode, rewound, nextId, task, run, looked, settling, raised, effects, took, calm>>

-----------------------------------------------------------------------------
(* What the saga says. It reads the journal when nobody works for it any more. *)

SayPlaced ==
  /\ run = "open" /\ mode = "open" /\ DoneRows # {} /\ asked # Stuck
  /\ run' = "placed" /\ asked' = 0
  /\ UNCHANGED <<journal, copy, copied, mode, rewound, nextId, task, looked, settling, raised, effects, took, calm>>

\* Cancelled, or refused.
SayNothing ==
  /\ run = "open" /\ ~calm
  /\ EndWaits => mode = "open"
  /\ \A t \in Tasks : Active(t) => task[t].given
  /\ OpenRows \cup DoneRows = {}
  /\ Epoch /\ EpochAtTheEnd => ~InDoubt
  /\ run' = "nothing" /\ asked' = 0
  /\ UNCHANGED <<journal, copy, copied, mode, rewound, nextId, task, looked, settling, raised, effects, took, calm>>

-----------------------------------------------------------------------------
(* The journal is put back *)

\* A saga begins: the reference is seen, before its pivot's turn has come.
See ==
  /\ mode = "open" /\ journal.seen = 0 /\ run = "open" /\ (\E t \in Tasks : task[t].pc # "new")
  /\ journal' = Seen
  /\ UNCHANGED <<copy, copied, mode, rewound, nextId, task, run, asked, looked, settling, raised, effects, took, calm>>

Backup ==
  /\ rewound < Rewinds /\ ~copied /\ mode = "open" /\ ~calm /\ journal # copy
  /\ copy' = journal /\ copied' = TRUE
  /\ UNCHANGED <<journal, mode, rewound, nextId, task, run, asked, looked, settling, raised, effects, took, calm>>

PutBack ==
  /\ rewound < Rewinds /\ ~calm /\ journal # copy
  /\ journal' = copy /\ copied' = FALSE
  /\ rewound' = rewound + 1 /\ mode' = "behind"
  /\ UNCHANGED <<copy, nextId, task, run, asked, looked, settling, raised, effects, took, calm>>

TrustIsGood == TrustIsTrue => (journal.seen # 0 \/ nextId = 1)

\* `order-saga journal restored`
Ceremony ==
  /\ mode # "open"
  /\ \E asks \in BOOLEAN :
       /\ ~asks => TrustIsGood
       /\ journal' = [journal EXCEPT !.epoch = rewound + 1, !.asks = asks]
  /\ mode' = "open" /\ raised' = WaitFor
  /\ UNCHANGED <<copy, copied, rewound, nextId, task, run, asked, looked, settling, effects, took, calm>>

\* `order-saga journal trust-new-references`
TrustNew ==
  /\ mode = "open" /\ journal.asks /\ TrustIsGood
  /\ journal' = [journal EXCEPT !.asks = FALSE]
  /\ UNCHANGED <<copy, copied, mode, rewound, nextId, task, run, asked, looked, settling, raised, effects, took, calm>>

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
  /\ UNCHANGED <<journal, copy, copied, mode, rewound, nextId, run, asked, looked, effects, took, calm>>

\* From now on nobody dies, nobody is given up, and the provider takes what it is sent.
BecomeCalm ==
  /\ Calms /\ ~calm /\ calm' = TRUE
  /\ UNCHANGED <<journal, copy, copied, mode, rewound, nextId, task, run, asked, looked, settling, raised, effects, took>>

\* Then the saga tries its pivot whenever nothing is asked.
TryAgain(t) ==
  /\ calm /\ run = "open" /\ asked = 0 /\ ~Active(t) /\ task[t].air = 0
  /\ \A o \in Tasks : ~Active(o)
  /\ task' = [task EXCEPT ![t] = [New EXCEPT !.pc = "handed"]]
  /\ UNCHANGED <<journal, copy, copied, mode, rewound, nextId, run, asked, looked, settling, raised, effects, took, calm>>

-----------------------------------------------------------------------------

Init ==
  /\ journal = Fresh /\ copy = Fresh /\ copied = FALSE /\ mode = "open" /\ rewound = 0 /\ nextId = 1
  /\ task = [t \in Tasks |-> New]
  /\ run = "open" /\ asked = 0 /\ looked = {}
  /\ settling = [i \in Ids |-> 0] /\ raised = 0
  /\ effects = 0 /\ took = {} /\ calm = FALSE

Next ==
  \/ \E t \in Tasks : \/ HandOut(t) \/ GiveUp(t) \/ Crash(t) \/ Mean(t) \/ MeanIsLost(t) \/ AskWanted(t) \/ TooLate(t)
                      \/ LookAtClock(t) \/ Send(t) \/ TakeEffect(t) \/ Answer(t) \/ WriteOutcome(t) \/ TryAgain(t)
  \/ RestoreTemporal \/ Look \/ (\E r \in Ids : Deny(r)) \/ Confirm \/ DropQuestion \/ SayPlaced \/ SayNothing
  \/ See \/ Backup \/ PutBack \/ Ceremony \/ TrustNew \/ Tick \/ BecomeCalm

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
(* Constraints of single configurations *)

\* To go far: no task is given up, and none ends before it has sent, unless it has written something.
Smooth == \A t \in Tasks :
  /\ ~task'[t].given
  /\ task[t].pc \in {"handed", "meant", "ready"} => (task'[t].pc # "fin" \/ journal' # journal)

\* The others have the shape of one finding of the review.
HandsOut == \E t \in Tasks : task[t].pc = "new" /\ task'[t].pc = "handed"
First == \A t \in Tasks : task[t].pc = "new"
NobodyIsAsked == looked' = {}

\* 1: the first run has placed it and ended; then it is deleted in Temporal, and the reference started again.
AfterDeletion == NobodyIsAsked /\ (HandsOut => First \/ run = "placed")

\* 4: the worker is killed while its call is out; attempts are raised, the activity is reset, and is attempt 1 again.
AfterReset == NobodyIsAsked /\ (HandsOut => First \/ (run = "open" /\ OpenRows # {} /\ \A t \in Tasks : ~Active(t)))

\* 6: a forged start ends the run that is at work, and says that it is the first one.
Forged == NobodyIsAsked /\ (HandsOut => First \/ \E t \in Tasks : Active(t) /\ task[t].given)

-----------------------------------------------------------------------------
(* What must hold *)

\* The promise.
AtMostOne == effects <= 1

\* "Nothing was placed", and "placed", are true, and stay true.
NoLie == /\ run = "nothing" => effects = 0
         /\ run = "placed" => effects > 0

\* A row that says "not done" or "denied" says the truth, and no answer comes late.
RowsAreTrue == \A i \in Ids : journal.rows[i].out \in {"not-done", "denied"} => i \notin took

\* A saga that says "placed" has it in the journal.
PlacedIsWritten == run # "unwritten"

\* The journal has one row at most that is open or done: its index says so.
OneRow == Unique => Cardinality(OpenRows \cup DoneRows) <= 1

\* Everything is stopped only where the journal was put back indeed.
NoFalseAlarm == mode = "marked" => rewound > 0

\* Once the harm has ended, a saga that is open goes on until the pivot is placed; a truthful person is all that it needs.
NeverStuck == (calm /\ run = "open") => ENABLED Next

-----------------------------------------------------------------------------
(* What must be possible. Each of these has to be found violated. *)

\* A person says "not placed", and then the pivot is placed.
NoOrderAfterDenial == ~(run = "placed" /\ \E i \in Ids : journal.rows[i].out = "denied")

\* A second run gets the answer that is recorded.
NoRecordedAnswer == ~\E t \in Tasks : task[t].pc = "recalled"

\* After a ceremony a person is asked, sees the pivot of the lost time, and says so.
NoLostOrderFound == ~(/\ effects = 1 /\ journal.epoch > 1
                      /\ \E i \in DoneRows : journal.rows[i].epoch = journal.epoch /\ i \notin took)

\* After a ceremony a person says that nothing was placed in the lost time, and then it is placed.
NoOrderAfterEpochQuestion == ~(/\ effects = 1 /\ journal.epoch > 1
                               /\ \E i, k \in Ids : /\ journal.rows[i] = [out |-> "denied", epoch |-> journal.epoch]
                                                    /\ journal.rows[k] = [out |-> "done", epoch |-> journal.epoch])

\* A new reference, which was never lost, is asked about because of --new-references ask.
NoNewReferenceAsked == ~(journal.doubtful /\ nextId = 2 /\ asked = 1)

\* A saga says "nothing was placed", with a task of its own that has still to wake up.
NoEndBesideZombie == ~(run = "nothing" /\ \E t \in Tasks : Active(t))

\* A call takes effect although its task has ended, and nobody has written it down.
NoEffectBehindTheBack == ~(effects = 1 /\ DoneRows = {} /\ OpenRows = {1} /\ \A t \in Tasks : ~Active(t))

\* The harm ends after the journal was put back, and the pivot is placed.
NoHappyEnd == ~(calm /\ run = "placed" /\ journal.epoch > 1)

\* The answer of a call whose row was lost is written down.
NoLostRowWritten == ~(\E i \in DoneRows : rewound > 0 /\ i \in took /\ copy.rows[i].out = "absent" /\ journal.epoch = 1)

=============================================================================
