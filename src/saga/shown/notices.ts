/**
 * Notices that others get of the saga. It waits for none of them, and fails for none.
 *
 * ```text
 *   question, reminder, progress ──▶ untold ──an activity beside the saga──▶ a run that delivers it (src/workflows/fleet/notify.ts)
 *                                      └── what is untold at the end goes with the ending, or right before the run ends
 * ```
 *
 * One activity at a time hands over all that is untold, so that it goes in order. An event has an id of its own; a run's
 * end always the same one: what a worker has handed over before it died comes once more, in a task of another time.
 */
import { ActivityFailure, CancellationScope, isCancellation, log, uuid4, workflowInfo } from '@temporalio/workflow';
import type { Notified } from '../../activities/notifications';
import type { NotificationEvent, SagaEvent } from '../../domain/notifications';
import type { SagaOutcome } from '../../domain/outcomes';
import type { Milestone } from '../../domain/progress';
import type { Wait } from '../../domain/record';
import { telling } from '../activities';
import { count } from './metrics';
import { now, type Progress } from './progress';

/** If a saga asks and is answered while no worker runs, the oldest messages are lost. */
const untoldMax = 100;

/** `state` is the saga's, unless it says another one. */
export type EventDetails = Omit<SagaEvent, 'id' | 'event' | 'at' | 'state'> & Partial<Pick<SagaEvent, 'state'>>;

/** How the saga ends. */
export type Ended = NonNullable<SagaEvent['ended']>;

/** An outcome may name hundreds of leftovers; a message is read on a phone. */
const leftoversToldMax = 20;

export class Notices {
  /** The request's. */
  about: Pick<Notified, 'account' | 'metadata'> = {};
  wanted: readonly Milestone[] = [];
  private readonly untold: SagaEvent[] = [];
  private readonly unwritten: Wait[] = [];
  private telling?: { scope: CancellationScope; ended: Promise<void> } | undefined;
  private hasTold = false;
  private end?: SagaEvent;

  constructor(private readonly progress: Progress) {}

  /** Only the progress that somebody wants to hear: the journal's begin has said so. */
  tellProgress(event: Milestone, said: EventDetails = {}): void {
    this.progress.reach(event, said);
    if (this.wanted.includes(event)) this.tell(event, said);
  }

  tell(event: Exclude<NotificationEvent, 'ended'>, said: EventDetails): void {
    this.hasTold = true;
    this.add(event, said);
    this.handOverBeside();
  }

  /** The journal hears of a wait with what is told next, at the latest with the ending. */
  noteWait(wait: Wait): void {
    const before = this.unwritten.findIndex(({ id, since }) => id === wait.id && since === wait.since);
    this.unwritten.splice(before === -1 ? this.unwritten.length : before, 1, wait);
  }

  /** Some are on their way: a call in place must not be followed by their end in the same task. */
  get isTelling(): boolean {
    return this.telling !== undefined;
  }

  /** For the activity that writes the ending: all that is untold, and the end. */
  withEnd(outcome: SagaOutcome, ended: Ended): Notified {
    this.end ??= this.add('ended', this.endSaid(outcome, ended));
    return this.all();
  }

  /** These were handed over, and written. */
  told({ events = [], waits = [] }: Partial<Notified>): void {
    const ids = events.map(({ id }) => id);
    this.untold.splice(0, this.untold.length, ...this.untold.filter(({ id }) => !ids.includes(id)));
    this.unwritten.splice(0, this.unwritten.length, ...this.unwritten.filter((one) => !waits.includes(one)));
  }

  /** The run ends. One that has asked nobody and has no ending of its own was refused, and says nothing. */
  async close(outcome: SagaOutcome, ended: Ended, isOwn = false): Promise<void> {
    const said = this.endSaid(outcome, ended);
    if (this.end === undefined && (this.hasTold || isOwn)) this.end = this.add('ended', said);
    else if (this.end !== undefined) Object.assign(this.end, said);
    // A call that ends while the run's last workflow task is done makes the server refuse that task: it would be done, and
    // counted, once more. So a call under way is awaited, and one that waits for its next attempt is given up: its events are
    // among the untold, or handed over.
    this.telling?.scope.cancel();
    await this.telling?.ended;
    if (this.untold.length === 0) return;
    const told = this.all();
    try {
      const { tell } = telling('at the end');
      await CancellationScope.nonCancellable(() => tell(told));
      this.told(told);
    } catch (error) {
      if (!(error instanceof ActivityFailure)) throw error;
      log.error('notifications are lost: they could not be handed over', { events: this.untold.length });
      count('notificationsLost', {}, this.untold.length);
    }
  }

  private endSaid(outcome: SagaOutcome, ended: Ended): EventDetails {
    const leftovers = this.progress.leftovers.map(({ kind }) => kind).slice(0, leftoversToldMax);
    return { outcome, ended, state: outcome, leftovers };
  }

  private add(event: NotificationEvent, said: EventDetails): SagaEvent {
    const at = now();
    // With its time: a restored Temporal gives a run the same random ids again, and a receiver ignores what it knows.
    const random = () => uuid4().slice(0, -12) + Date.parse(at).toString(16).padStart(12, '0');
    const id = event === 'ended' ? `${workflowInfo().runId}/${event}` : random();
    const added = { id, event, at, state: this.progress.state, ...said };
    this.untold.push(added);
    if (this.untold.length > untoldMax) {
      this.untold.shift();
      count('notificationsLost', {});
    }
    return added;
  }

  private all(): Notified {
    const waits = this.unwritten.length > 0 ? [...this.unwritten] : undefined;
    return { events: [...this.untold], waits, ...this.about };
  }

  /** Now, also where only the journal has something to hear. A cancellation of the saga does not cancel it. */
  handOverBeside(): void {
    if (this.telling) return;
    void CancellationScope.nonCancellable(async () => {
      const scope = new CancellationScope();
      this.telling = { scope, ended: scope.run(() => this.handOver()) };
      await this.telling.ended;
    });
  }

  private async handOver(): Promise<void> {
    try {
      do {
        const { waits, ...told } = this.all();
        const answer = await telling('in background').tell({ waits, ...told });
        this.told({ ...told, waits: answer?.isWritten === false ? [] : waits });
      } while (this.untold.length > 0);
    } catch (error) {
      if (!(error instanceof ActivityFailure) && !isCancellation(error)) throw error;
      log.warn('notifications are not handed over yet', { events: this.untold.length });
    } finally {
      // In one go with the last look at what is untold: whatever is told from now on begins anew.
      this.telling = undefined;
    }
  }
}
