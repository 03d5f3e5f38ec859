/** How followed sagas are shown: in place on a terminal, as lines elsewhere, or as JSON lines for a program. */
import type { SagaHandle } from '../client/handle';
import { answerTo } from '../domain/answers';
import { exampleFor } from '../domain/decisions';
import type { WorkflowName } from '../domain/identity';
import type { ProgressView, Waiting } from '../domain/progress';
import { inWords } from '../domain/times';
import { describeEnding, endOf, type Ending } from './ending';
import { describeStep, type Live } from './live';
import type { Printer } from './print';
import { withAge } from './units';

interface FollowOptions {
  /** Go on through waits, to the end. */
  throughWaits?: boolean;
  onProgress?: (progress: ProgressView) => void;
}

export class Watching {
  private readonly shown = new Map<string, string>();

  /** @param live absent: as lines. @param manySagas each line says of which saga it is */
  constructor(
    private readonly printer: Printer,
    private readonly live?: Live,
    private readonly manySagas = false,
  ) {}

  /** Shows a saga to its end, or to where it waits for a person. @throws NoConnectionError, UnknownReferenceError */
  async follow(saga: SagaHandle, { throughWaits = false, onProgress }: FollowOptions = {}) {
    let latest: ProgressView | undefined;
    let waits: Extract<Ending, { state: 'waits' }> | undefined;
    const onSilence = (why: string) => {
      if (this.live) this.say([why]);
      else this.printer.toStderr(why);
    };
    for await (const progress of saga.events({ onSilence })) {
      latest = progress;
      onProgress?.(progress);
      this.progress(progress, saga.workflowId);
      const { waiting, queued } = progress;
      if (!throughWaits && (waiting || queued?.holderWaits)) waits = { state: 'waits', waiting, queued };
      if (waits) break;
    }
    const ending: Ending = waits ?? (await endOf(saga));
    this.ending(ending, saga.workflowId);
    return { ending, latest };
  }

  progress(progress: ProgressView, workflowId: string): void {
    if (!this.live) this.printer.lines(this.newSteps(progress, workflowId));
    this.say(this.news(progress, workflowId));
    this.live?.show(workflowId, progress);
  }

  ending(ending: Ending, workflowId: string): void {
    this.say(describeEnding(ending, workflowId));
  }

  close(): void {
    this.live?.close();
  }

  private say(lines: readonly string[]): void {
    if (!this.live) this.printer.lines(lines);
    else if (lines.length > 0) this.live.draw(lines.map((line) => this.printer.asPrinted(line)));
  }

  private newSteps({ steps }: ProgressView, workflowId: string): string[] {
    return steps.flatMap((step) => {
      const line = `${step.status.padEnd(8)}  ${describeStep(step)}`;
      if (step.status === 'pending' || !this.isNew(`${workflowId} ${step.id}`, line)) return [];
      return [`  ${this.manySagas ? `${workflowId}  ` : ''}${line}`];
    });
  }

  /** Each question, and each time until which a call may be in flight, once. */
  private news({ waiting, queued, settling, workflow }: ProgressView, workflowId: string): string[] {
    return [
      ...(settling && !waiting && this.isNew(`${workflowId} settles`, settling.until)
        ? [`settling: ${settling.step} may still take effect until ${inWords(settling.until)}; nobody is asked before`]
        : []),
      ...(queued?.holderWaits && this.isNew(`${workflowId} is queued`, `${queued.holder} ${queued.holderWaits}`)
        ? [`${workflowId} is queued behind ${queued.holder}, which waits for a decision (${queued.holderWaits}) itself`]
        : []),
      ...(waiting && this.isNew(`${workflowId} waits`, waiting.id) ? describeWait(waiting, workflow, workflowId) : []),
    ];
  }

  private isNew(what: string, text: string): boolean {
    const isSame = this.shown.get(what) === text;
    this.shown.set(what, text);
    return !isSame;
  }
}

function describeWait(waiting: Waiting, workflow: WorkflowName, workflowId: string): string[] {
  const { id, kind, step, question, choices, since, nextTryAt } = waiting;
  return [
    `${workflowId} waits for a decision (${kind}) at ${step} since ${withAge(since)}, question ${id}:`,
    // It may quote a provider, none of whose lines may look like one of ours.
    `  ${question.replace(/\s+/g, ' ')}`,
    ...(nextTryAt === undefined
      ? []
      : [`  it tries by itself at ${inWords(nextTryAt)}, if nobody has decided until then`]),
    ...choices.map(
      (name) =>
        `  order-saga decide ${workflowId} ${name} '${exampleFor(name, waiting)}'   # ${answerTo(kind, name, workflow)}`,
    ),
    `  order-saga cancel ${workflowId} --by you --note 'why'`,
  ];
}
