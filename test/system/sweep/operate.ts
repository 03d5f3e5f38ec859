/** Brings a saga to its end: decides whatever it waits for. */
import { DecisionRefusedError, NoWorkerError, SagaEndedError } from '../../../src/client/errors';
import type { SagaHandle } from '../../../src/client/handle';
import { anyUnderWay, callsOf } from '../../support/saga-calls';
import { fittingDecisions } from '../../support/operator';
import type { Asked } from '../../support/promises';
import { until, type Rig } from '../../support/rig';
import { answer, outcomeOf, progressOf, type Ended } from '../../support/sagas';
import type { WaitingRoom } from '../../support/waiting-room';

export interface World {
  rig: Rig;
  waitingRoom: WaitingRoom;
}

export interface Operator {
  /** Which of the decisions that fit is taken at the first wait once `attends`; everywhere else the first. */
  choice: number;
  attends: boolean;
  /** How many there were. */
  choices: number;
  /** Called at decisions once `attends`: whatever lasts until somebody decides is over. */
  decided: () => void;
}

/** One fault makes a saga ask once or twice; one that asks on and on runs in circles. */
const decisionsMax = 12;

export async function operate(
  { rig, waitingRoom }: World,
  saga: SagaHandle,
  asked: Asked,
  operator: Operator,
): Promise<Ended> {
  const ending = outcomeOf(saga);
  try {
    for (let count = 0; count < decisionsMax;) {
      const ended = await Promise.race([ending, waitingRoom.whenListed(saga.workflowId)]);
      if (ended !== undefined) return ended;
      const { waiting } = await progressOf(saga);
      if (waiting === undefined) continue;
      // What is still on its way will be in the control panel: nobody can say yet what is there.
      await until(() => Promise.resolve(!anyUnderWay(rig.sandbox.ledger, callsOf(asked))));
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
    waitingRoom.forget(saga.workflowId);
  }
}

/** The wait or the saga is over, or its worker is gone: what comes next shows. */
export function unlessOver(error: unknown): undefined {
  const over = [SagaEndedError, DecisionRefusedError, NoWorkerError].some((kind) => error instanceof kind);
  if (!over) throw error;
}
