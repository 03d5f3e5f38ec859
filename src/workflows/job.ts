/** A job as it stands: what it has done, whether it may go on, and what people are shown of it. */
import { ApplicationFailure } from '@temporalio/common';
import {
  condition,
  defineQuery,
  defineUpdate,
  log,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import { jobControls, jobWordsSchema, type JobControl, type JobRequest } from '../domain/decide-many';
import { definedOnly } from '../domain/defined-only';
import type { Cursor } from '../domain/dry-list';
import type { EvidenceLine } from '../domain/evidence';
import {
  countsOf,
  emptyTally,
  record,
  refusalsOf,
  sumOf,
  type Decided,
  type JobPause,
  type JobProgress,
  type JobReport,
  type ProbedSaga,
  type Tally,
} from '../domain/job-report';
import { describeProblems } from '../domain/problems';
import { check } from '../domain/validation';
import { describeProgress } from './job-details';

/** What travels from run to run. */
export interface Carried {
  request: JobRequest;
  /** The request in words. */
  asked: string;
  /** Part of each update's id: a decision that is sent again, by whichever run, is the same one. */
  firstRunId: string;
  startedAt: string;
  tally?: Tally;
  cursor?: Cursor;
  /** Evidence that was not sent yet; `reference` is the workflow id of its saga. */
  lines?: EvidenceLine[];
  /** How many are known to be left, and how many are beyond the limit. */
  left?: number;
  beyond?: number;
  paused?: JobPause;
  probing?: ProbedSaga[];
  probed?: boolean;
}

const progressQuery = defineQuery<JobProgress>('progress');

const does: Record<JobControl, string> = {
  pause: 'Send no more decisions until it is resumed',
  resume: 'Go on after a pause, or without waiting for the probe',
  stop: 'End the job; its report says what was decided and what was not',
};
const example = '{"by":"you","note":"why"}';

export class Job {
  readonly request: JobRequest;
  readonly firstRunId: string;
  readonly startedAt: string;
  cursor: Cursor | undefined;
  lines: EvidenceLine[] | undefined;
  /** Decisions that are sent and not answered. */
  underWay = 0;
  private readonly asked: string;
  private readonly tally: Tally;
  private left: number;
  private beyond: number;
  private paused: JobPause | undefined;
  private stopped: JobPause | undefined;
  private ended = false;
  /** The sagas of the probe that have not done their step yet. */
  probing: ProbedSaga[];
  /** It has shown what it was to show. */
  private probed: boolean;

  constructor(carried: Carried) {
    this.request = carried.request;
    this.asked = carried.asked;
    this.firstRunId = carried.firstRunId;
    this.startedAt = carried.startedAt;
    this.cursor = carried.cursor;
    this.lines = carried.lines;
    this.tally = carried.tally ?? emptyTally();
    this.left = carried.left ?? 0;
    this.beyond = carried.beyond ?? 0;
    this.paused = carried.paused;
    this.probing = carried.probing ?? [];
    this.probed = carried.probed ?? carried.request.probe === undefined;
    setHandler(progressQuery, () => this.progress(), { description: 'What it has done, and what is left' });
    for (const name of jobControls) this.receive(name);
    this.show();
  }

  /** Waits while it is paused. @returns false when it was stopped */
  async mayGoOn(): Promise<boolean> {
    await condition(() => this.paused === undefined || this.isStopped);
    return !this.isStopped;
  }

  get isStopped(): boolean {
    return this.stopped !== undefined;
  }

  /** Whether a decision is still to be sent. */
  get hasMore(): boolean {
    return this.left > 0;
  }

  get isAtEnd(): boolean {
    return this.left === 0;
  }

  get pageSize(): number {
    const { pageSize, limit, probe } = this.request;
    return Math.min(this.probed ? pageSize : (probe?.first ?? pageSize), limit - sumOf(countsOf(this.tally)));
  }

  /** @param page that was just decided. Where none of it took the decision, the next one is the probe */
  probe(page: readonly { workflowId: string; question: string; step?: string }[]): void {
    if (this.probed) return;
    this.probing = page.flatMap(({ workflowId, question, step }) =>
      step !== undefined && this.tally.taken.includes(workflowId) ? [{ workflowId, question, step }] : [],
    );
    this.show();
  }

  /** @param asksAgain a sentence about the first one that waits for a person again */
  sawProbe(underWay: ProbedSaga[], asksAgain: string | undefined): void {
    // Somebody has let the job go on meanwhile.
    if (this.probed) return;
    this.probing = asksAgain === undefined ? underWay : [];
    this.probed = this.probing.length === 0;
    if (asksAgain !== undefined) this.pause({ why: `the probe failed: ${asksAgain}` });
    this.show();
  }

  /** @param count of this page. @param more how many there are behind it */
  listed(count: number, more: number, last?: Cursor): void {
    const behind = Math.max(0, this.request.limit - sumOf(countsOf(this.tally)) - count);
    this.left = count + Math.min(more, behind);
    this.beyond = Math.max(0, more - behind);
    if (last) this.cursor = { since: last.since, workflowId: last.workflowId };
    this.show();
  }

  /** The words that go with each decision: whoever reads a saga's record finds the job. */
  words(note = this.request.note): { note: string; by?: string } {
    return { note: `${note} (${workflowInfo().workflowId})`, ...definedOnly({ by: this.request.by }) };
  }

  async deciding(workflowId: string, send: () => Promise<Decided>): Promise<void> {
    this.underWay += 1;
    this.left -= 1;
    const decided = await send();
    this.underWay -= 1;
    record(this.tally, workflowId, decided);
    this.show();
  }

  pause(words: Omit<JobPause, 'since'>): void {
    this.paused ??= { since: now(), ...words };
    log.warn('the job is paused', { by: words.by });
    this.show();
  }

  stop(words: Omit<JobPause, 'since'>): void {
    this.stopped ??= { since: now(), ...words };
    log.warn('the job is stopped', { by: words.by });
    this.show();
  }

  carry(): Carried {
    const { request, asked, firstRunId, startedAt, cursor, lines, tally, left, beyond, paused, probing, probed } = this;
    // The lines that are left stand for the evidence.
    const kept = 'evidence' in request ? { ...request, evidence: [] } : request;
    const known = definedOnly({ cursor, lines, paused });
    return { request: kept, asked, firstRunId, startedAt, tally, left, beyond, probing, probed, ...known };
  }

  end(): JobReport {
    this.ended = true;
    const counts = countsOf(this.tally);
    log.info('the job has ended', { ...counts });
    this.show();
    return {
      ...this.said(),
      outcome: this.isStopped ? 'stopped' : 'done',
      ...definedOnly({ stopped: this.stopped }),
      endedAt: now(),
      notReached: this.left + this.beyond,
      ...this.tally,
    };
  }

  private receive(name: JobControl): void {
    setHandler(
      defineUpdate<{ state: JobProgress['state'] }, [unknown]>(name),
      (body) => {
        const { by, note } = readWords(name, body);
        const words = definedOnly({ by, why: note });
        if (name === 'pause') this.pause(words);
        else if (name === 'stop') this.stop(words);
        else this.resume();
        return { state: this.state };
      },
      {
        description: `${does[name]}. ${example}`,
        validator: (body) => {
          readWords(name, body);
        },
      },
    );
  }

  /** A job that is not paused may wait for its probe. */
  private resume(): void {
    if (this.paused === undefined) [this.probing, this.probed] = [[], true];
    this.paused = undefined;
    log.info('the job goes on');
    this.show();
  }

  private get state(): JobProgress['state'] {
    if (this.ended) return this.isStopped ? 'stopped' : 'done';
    if (this.isStopped) return 'stopping';
    return this.paused === undefined ? 'running' : 'paused';
  }

  private said() {
    const { asked, startedAt, request } = this;
    return {
      job: workflowInfo().workflowId,
      asked,
      note: request.note,
      ...definedOnly({ by: request.by }),
      startedAt,
      counts: countsOf(this.tally),
    };
  }

  private progress(): JobProgress {
    const said = this.said();
    return {
      ...said,
      state: this.state,
      perSecond: this.request.perSecond,
      total: sumOf(said.counts) + this.underWay + this.left,
      ...definedOnly({ paused: this.paused }),
      ...(this.probing.length > 0 ? { probe: { underWay: this.probing.length } } : {}),
      refusals: refusalsOf(this.tally),
    };
  }

  private show(): void {
    setCurrentDetails(describeProgress(this.progress()));
  }
}

/** @throws ApplicationFailure `InvalidRequest` */
function readWords(name: JobControl, body: unknown): { by?: string | undefined; note?: string | undefined } {
  const checked = check(jobWordsSchema(), body ?? {});
  if (checked.ok) return checked.value;
  const message = `${name}: ${describeProblems(checked.problems)}. Like ${example}`;
  throw ApplicationFailure.nonRetryable(message, 'InvalidRequest');
}

function now(): string {
  return new Date().toISOString();
}
