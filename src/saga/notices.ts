/**
 * What others are told of the saga. It waits for none of this, and fails for none.
 *
 * ```text
 *   question, reminder, settlement ──▶ unwritten ──an activity beside the saga──▶ the journal's outbox
 *                                          │ could not be written yet
 *                                          ├──▶ goes with the next one
 *                                          └──▶ goes with the ending, in its transaction, or right before the run ends
 * ```
 *
 * One activity at a time writes all that is unwritten, so that the outbox has it in order. An event has an id of its
 * own: where two activities write it, there is one row.
 */
import { ActivityFailure, CancellationScope, isCancellation, log, uuid4 } from '@temporalio/workflow';
import { definedOnly } from '../domain/defined-only';
import type { NotificationEvent, SagaEvent } from '../domain/notifications';
import type { SagaOutcome } from '../domain/outcomes';
import { besideTheSaga, lastOfTheSaga } from './activities';
import { countLostNotifications } from './metrics';
import { now, type Progress } from './progress';

/** Of a saga that asks and is answered while the journal is away, the oldest are lost. */
const unwrittenMax = 100;

/** `state` is the saga's, unless it says another one. */
export type EventSaid = Omit<SagaEvent, 'id' | 'event' | 'at' | 'state'> & Partial<Pick<SagaEvent, 'state'>>;

/** How the saga ends. */
export interface EndSaid extends Pick<SagaEvent, 'state' | 'leftovers'> {
  outcome: SagaOutcome;
  ended: NonNullable<SagaEvent['ended']>;
}

export class Notices {
  /** The request's. */
  account?: string | undefined;
  private readonly unwritten: SagaEvent[] = [];
  private writing?: { scope: CancellationScope; ended: Promise<void> } | undefined;
  private hasTold = false;
  private end?: SagaEvent;

  constructor(private readonly progress: Progress) {}

  tell(event: Exclude<NotificationEvent, 'ended'>, said: EventSaid): void {
    this.hasTold = true;
    this.add(event, said);
    if (!this.writing) this.beginWriting();
  }

  /** Some are on their way into the journal: a call in place must not be followed by their end in the same task. */
  get isWriting(): boolean {
    return this.writing !== undefined;
  }

  /** For the activity that writes the ending: all that is unwritten, and the end. */
  withEnd(said: EndSaid): { events: SagaEvent[]; account?: string } {
    this.end ??= this.add('ended', said);
    return this.all();
  }

  /** These are in the journal. */
  written({ events }: { events: readonly SagaEvent[] }): void {
    const ids = events.map(({ id }) => id);
    this.unwritten.splice(0, this.unwritten.length, ...this.unwritten.filter(({ id }) => !ids.includes(id)));
  }

  /**
   * The run ends. A run that has asked nobody and has no ending of its own says nothing: it was refused, and did
   * nothing.
   */
  async close(said: EndSaid): Promise<void> {
    if (this.end === undefined && this.hasTold) this.end = this.add('ended', said);
    else if (this.end !== undefined) Object.assign(this.end, said);
    await this.stopWriting();
    if (this.unwritten.length === 0) return;
    const told = this.all();
    try {
      const { writeNotifications } = lastOfTheSaga('write the last notifications into the journal');
      await CancellationScope.nonCancellable(() => writeNotifications(told));
      this.written(told);
    } catch (error) {
      if (!(error instanceof ActivityFailure)) throw error;
      log.error('notifications are lost: the journal could not be written', { events: this.unwritten.length });
      countLostNotifications(this.unwritten.length);
    }
  }

  private add(event: NotificationEvent, said: EventSaid): SagaEvent {
    const added = { id: uuid4(), event, at: now(), state: this.progress.state, ...said };
    this.unwritten.push(added);
    if (this.unwritten.length > unwrittenMax) {
      this.unwritten.shift();
      countLostNotifications(1);
    }
    return added;
  }

  private all(): { events: SagaEvent[]; account?: string } {
    return { events: [...this.unwritten], ...definedOnly({ account: this.account }) };
  }

  /** What cancels the saga does not cancel it. */
  private beginWriting(): void {
    void CancellationScope.nonCancellable(async () => {
      const scope = new CancellationScope();
      const ended = scope.run(() => this.write()).finally(() => (this.writing = undefined));
      this.writing = { scope, ended };
      await ended;
    });
  }

  /**
   * What ends while the run's last workflow task is done makes the server refuse that task: it would be done, and
   * counted, once more. So a write under way is awaited, and one that waits for its next attempt is given up: its
   * events are among the unwritten, or written.
   */
  private async stopWriting(): Promise<void> {
    this.writing?.scope.cancel();
    await this.writing?.ended;
  }

  private async write(): Promise<void> {
    try {
      while (this.unwritten.length > 0) {
        const told = this.all();
        await besideTheSaga('write notifications into the journal').writeNotifications(told);
        this.written(told);
      }
    } catch (error) {
      if (!(error instanceof ActivityFailure) && !isCancellation(error)) throw error;
      log.warn('notifications are not written yet', { events: this.unwritten.length });
    }
  }
}
