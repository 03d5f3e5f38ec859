/**
 * Somebody who works off the list of waiting sagas: the one list filter that is to find them all. What is decided is
 * drawn from the seed, and always true: the provider's control panel is looked at first, and not while a call is on its
 * way.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { chanceOf } from '../../../../sandbox/chance';
import { DecisionRefusedError, OrderSagaError } from '../../../../src/client/errors';
import type { SagaRow } from '../../../../src/client/saga-list';
import type { Waiting } from '../../../../src/domain/progress';
import { fittingDecisions, type Fitting } from '../../../support/operator';
import type { Asked } from '../../../support/promises';
import { anyUnderWay } from '../../../support/saga-calls';
import type { Storm } from './life';
import type { PlannedSaga } from './plan';
import { listOf } from '../../../support/listed';

const roundMs = 700;

export class RandomOperator {
  waiting: SagaRow[] = [];
  readonly questionsOf: Record<string, number> = {};
  /** Errors that the client does not promise, in sentences. */
  readonly surprises: string[] = [];
  /** Decisions of an older question than the one that waits. */
  refused = 0;
  /** The question that was read last, of each saga. */
  private readonly questions = new Map<string, string>();
  /** Looks at the same wait, and decisions of a saga, so far. */
  private readonly looks = new Map<string, number>();
  private readonly decided = new Map<string, number>();
  private readonly planned: Map<string, PlannedSaga>;
  private ended = false;
  private working: Promise<void> | undefined;

  constructor(
    private readonly world: Storm,
    private readonly seed: string,
    planned: readonly PlannedSaga[],
  ) {
    this.planned = new Map(planned.map((saga) => [saga.asked.request.reference, saga]));
  }

  begin(): void {
    this.working = this.work();
  }

  async goHome(): Promise<void> {
    this.ended = true;
    await this.working;
  }

  private async work(): Promise<void> {
    while (!this.ended) {
      await this.unlessServerIsAway(async () => {
        const rows = await listOf(this.world.sagas.list({ state: 'waiting' }));
        this.waiting = rows;
        await Promise.all(rows.map((row) => this.unlessServerIsAway(() => this.visit(row))));
      });
      await pause(roundMs);
    }
  }

  private async visit(row: SagaRow): Promise<void> {
    const { workflow, reference, workflowId, runId, step, waitingSince } = row;
    const planned = this.planned.get(reference);
    if (planned === undefined) return;
    const nth = this.decided.get(workflowId) ?? 0;
    const chance = chanceOf(`${this.seed}/${workflowId}/${nth}`);
    const wait = `${runId} ${step} ${waitingSince?.getTime()}`;
    const looks = (this.looks.get(wait) ?? 0) + 1;
    this.looks.set(wait, looks);
    if (looks === 1) this.questionsOf[row.state] = (this.questionsOf[row.state] ?? 0) + 1;
    // People take their time; and a call that a reset cut short may only just be on its way.
    if (looks < 2 + Math.floor(chance() * 3)) return;

    const saga = await this.world.sagas.get(reference, workflow);
    const { waiting } = await saga.progress();
    if (waiting === undefined || anyUnderWay(this.world.sandbox.ledger, planned.calls)) return;
    const asked: Asked = workflow === 'cleanCart' ? { workflow, request: { reference } } : planned.asked;
    const { decision, body } = this.choose(waiting, asked, chance);
    if (decision === 'cancel') {
      this.decided.set(workflowId, nth + 1);
      await saga.cancel();
      this.world.deeds.cancelled += 1;
      return;
    }
    const older = this.questions.get(workflowId);
    this.questions.set(workflowId, waiting.id);
    // Somebody who has the older question open still.
    if (older !== undefined && older !== waiting.id) {
      await this.refusing(() => saga.decide(decision, { ...body, question: older }));
    }
    this.decided.set(workflowId, nth + 1);
    await saga.decide(decision, { ...body, question: waiting.id });
  }

  private async refusing(decide: () => Promise<unknown>): Promise<void> {
    try {
      this.surprises.push(`a decision of an older question was taken: ${JSON.stringify(await decide())}`);
    } catch (error) {
      if (!(error instanceof DecisionRefusedError)) throw error;
      this.refused += 1;
    }
  }

  private choose(waiting: Waiting, asked: Asked, chance: () => number): Fitting {
    const fitting = fittingDecisions(waiting, this.world.sandbox.ledger, asked);
    const [cancel, onward] = [fitting.slice(-1), fitting.slice(0, -1)];
    const among = chance() < 0.08 || onward.length === 0 ? cancel : onward;
    const chosen = among[Math.floor(chance() * among.length)];
    if (chosen === undefined) throw new Error('cancel fits every wait');
    return chosen;
  }

  /**
   * The client's own errors are for whoever asks to come again: the saga ended, the question changed, nobody answers.
   */
  private async unlessServerIsAway(look: () => Promise<void>): Promise<void> {
    try {
      await look();
    } catch (error) {
      if (!(error instanceof OrderSagaError))
        this.surprises.push(`the client threw ${String(error)} (${String((error as Error).cause)})`);
    }
  }
}
