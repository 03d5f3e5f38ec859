/**
 * The person in front of the Web UI, who looks into the provider's control panel before saying what is there. The
 * ledger is that panel: what is told here is true.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { firewallsOf, openCartItems, ordersWithLabel } from '../../sandbox/sentences';
import type { LedgerSnapshot } from '../../sandbox/ledger';
import { DecisionRefusedError, NoWorkerError, SagaEndedError } from '../../src/client/errors';
import type { SagaHandle } from '../../src/client/handle';
import type { DecisionName } from '../../src/domain/decisions';
import type { Waiting } from '../../src/domain/progress';
import { restored, trustNewReferences } from '../../src/journal/restore/confirm-restore';
import type { Store } from '../../src/journal/store';
import { placementsOf, type Asked } from './promises';
import { until, type Rig } from './rig';
import { anyUnderWay, callsOf } from './saga-calls';
import { answer, outcomeOf, progressOf, type Ended } from './sagas';

/** The signature of a person whose word stays in the journal. */
export const said = { by: 'op', note: 'a test' };
export const saidThere = ['--by', said.by, '--note', said.note];

/** The journal was restored, and no backend sends anything again. */
export async function restoredAndTrusted(journal: Store): ReturnType<typeof restored> {
  const raised = await restored(journal, said);
  await trustNewReferences(journal, said);
  return raised;
}

/** `cancel` is no decision of the contract, but fits every wait. */
export interface Fitting {
  decision: DecisionName | 'cancel';
  body: Record<string, unknown>;
}

/** Every decision that fits the wait and is true; first the one that brings the saga on. */
export function fittingDecisions(waiting: Waiting, ledger: LedgerSnapshot, asked: Asked): Fitting[] {
  const { choices } = waiting;
  const seen = { by: 'op', note: 'as the control panel shows' };
  const placed = placementsOf(ledger, asked).length > 0;
  const vmObjectIds = ordersWithLabel(ledger, asked.request.reference)[0]?.vmObjectIds;
  const steps = stepsDone(waiting, ledger, asked);
  const bodies: Record<DecisionName, Record<string, unknown>[]> = {
    // No attempt changes what the profile declares.
    retry: waiting.lastFailure?.failure === 'NotDeclared' ? [] : [{ by: 'op' }],
    approve: [{ by: 'op' }],
    // The sandbox cancels no order.
    markCancelled: [],
    confirmPlaced: placed ? [seen, ...(asked.workflow === 'provisionServers' ? [{ ...seen, vmObjectIds }] : [])] : [],
    confirmNotPlaced: placed ? [] : [seen],
    provideServers: [{ by: 'op', vmObjectIds }],
    skip: [seen],
    markDone: steps.length > 0 ? [{ ...seen, steps }] : [],
    reject: [{ by: 'op', reason: 'too dear' }],
  };
  const decisions = choices.flatMap((decision) => bodies[decision].map((body) => ({ decision, body })));
  return [...decisions, { decision: 'cancel', body: {} }];
}

/** Who is asked once it attends takes another of the decisions that fit than the first. */
export class Operator {
  attends = false;
  /** How many there were at the first wait that it attended. */
  choices = 0;

  constructor(
    readonly choice = 0,
    /** Called at decisions once it attends: whatever lasts until somebody decides is over. */
    readonly decided: () => void = () => undefined,
  ) {}
}

/** One fault makes a saga ask once or twice; one that asks on and on runs in circles. */
const decisionsMax = 12;

/** A list lags for a moment. */
const unlistedMsMax = 60_000;

/** @throws where the saga has waited for so long, and the list that an operator looks into does not show it */
async function untilForgotten(saga: SagaHandle, signal: AbortSignal): Promise<undefined> {
  for (;;) {
    await pause(unlistedMsMax / 2, undefined, { signal });
    const { waiting } = await progressOf(saga);
    if (waiting !== undefined && Date.now() - Date.parse(waiting.since) > unlistedMsMax)
      throw new Error(`${saga.workflowId} waits, and no list shows that: ${waiting.question}`);
  }
}

/** Brings a saga to its end: decides whatever it waits for. */
export async function operate(rig: Rig, saga: SagaHandle, asked: Asked, operator = new Operator()): Promise<Ended> {
  const { waitingRoom } = rig;
  const ending = outcomeOf(saga);
  const over = new AbortController();
  const forgotten = untilForgotten(saga, over.signal);
  forgotten.catch(() => undefined);
  try {
    for (let count = 0; count < decisionsMax;) {
      const ended = await Promise.race([ending, waitingRoom.whenListed(saga.workflowId), forgotten]);
      if (ended !== undefined) return ended;
      const { waiting } = await progressOf(saga);
      if (waiting === undefined) continue;
      // A call that is still in flight may show in the control panel later: nobody can say yet what is there.
      await until(() => !anyUnderWay(rig.sandbox.ledger, callsOf(asked)));
      const fitting = fittingDecisions(waiting, rig.sandbox.ledger, asked);
      const chooses = operator.attends && operator.choices === 0;
      if (chooses) operator.choices = fitting.length;
      const taken = fitting[chooses ? operator.choice : 0];
      if (taken === undefined) throw new Error(`${saga.workflowId} waits, and nothing fits`);
      count += 1;
      if (taken.decision === 'cancel') await saga.cancel().catch(unlessOver);
      else {
        if (operator.attends) operator.decided();
        await answer(saga, taken.decision, { question: waiting.id, ...taken.body }).catch(unlessOver);
      }
    }
    throw new Error(`${saga.workflowId} was decided for ${decisionsMax} times, and goes on asking`);
  } finally {
    over.abort();
    waitingRoom.forget(saga.workflowId);
  }
}

/** The wait or the saga is over, or its worker is gone: what comes next shows. */
export function unlessOver(error: unknown): undefined {
  const over = [SagaEndedError, DecisionRefusedError, NoWorkerError].some((kind) => error instanceof kind);
  if (!over) throw error;
}

/** The waiting steps that the control panel shows as done. */
function stepsDone({ step, steps = [step], question }: Waiting, ledger: LedgerSnapshot, asked: Asked): string[] {
  if (asked.workflow !== 'provisionServers' && asked.workflow !== 'cleanCart') return [];
  const { firewalls: wanted = [] } = asked.request as { firewalls?: number[] };
  const isOpen = (item: number) => openCartItems(ledger).some(({ cartItemId }) => cartItemId === item);
  // The step of an undo is the one that added the item: which one that was, only the question says.
  const [, undone] = /^Undoing: “Delete cart item (\d+)”/.exec(question) ?? [];
  if (undone !== undefined) return isOpen(Number(undone)) ? [] : [step];
  return steps.filter((one) => {
    const [, what, id = ''] = /^(assign-firewalls|verify-firewalls|delete-cart-item)-(\d+)$/.exec(one) ?? [];
    if (what === 'delete-cart-item') return !isOpen(Number(id));
    return what !== undefined && wanted.every((firewall) => firewallsOf(ledger, Number(id)).includes(firewall));
  });
}
