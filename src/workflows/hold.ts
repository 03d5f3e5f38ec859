/**
 * Holds new sagas, and releases them.
 *
 * ```text
 *   hold ── open: new sagas are held ──release · Request Cancellation──▶ closed ══ starts ══▶ releaseHeld
 *             │  ▲                                                         ▲                     │
 *             │  └── keep: a person takes it over, and probes no more      │                     │
 *             └── probes, where it was started with them ── answered ──────┘                     │
 *                 ended ◀── after the fifth look ── look through all that are held, and signal each ──┘
 * ```
 *
 * Neither workflow is a saga: they call no provider and no journal, so Temporal itself retries their activities until
 * they succeed.
 */
import { ApplicationFailure } from '@temporalio/common';
import {
  CancellationScope,
  condition,
  continueAsNew,
  defineSignal,
  defineUpdate,
  getExternalWorkflowHandle,
  isCancellation,
  log,
  makeContinueAsNewFunc,
  ParentClosePolicy,
  setCurrentDetails,
  setHandler,
  sleep,
  startChild,
  upsertMemo,
  workflowInfo,
} from '@temporalio/workflow';
import { definedOnly } from '../domain/defined-only';
import type { Cursor } from '../domain/dry-list';
import {
  describeHold,
  heldReleasedSignal,
  holdWorkflow,
  keepName,
  keepSchema,
  readHoldStart,
  releaseName,
  releaseSchema,
  wavesOf,
  type HoldMemo,
  type HoldStart,
  type HoldWords,
  type Release,
} from '../domain/hold';
import { describeProblems } from '../domain/problems';
import { check } from '../domain/validation';
import { describeOpenHold, releaseExample } from './hold-details';
import { listHeld, probe } from './hold-probes';

const description = `Let the held sagas begin, 20 per second. For another rate: {"by":"you","perSecond":1}. ${releaseExample}`;
const keepDescription = `Make a hold that a worker has set yours: probes do not end it any more. {"by":"you","note":"why"}`;

/** @returns the release that ended the hold */
export async function hold(given?: unknown): Promise<Release> {
  const { workflowId, runId } = workflowInfo();
  if (workflowId !== holdWorkflow) {
    const message = `this holds nothing: the workflow id must be ${holdWorkflow}, and it is ${workflowId}`;
    throw ApplicationFailure.nonRetryable(message, 'InvalidRequest');
  }
  const { release, releasedBy } = await new OpenHold(given).untilReleased();
  // In a scope that cannot be cancelled: the one that released it may have been a cancellation.
  await CancellationScope.nonCancellable(() => afterHold(release, runId));
  upsertMemo({ releasedBy, probing: null, letGo: [] } satisfies Partial<HoldMemo>);
  setCurrentDetails('');
  log.warn('new sagas begin again', { by: release.by, perSecond: release.perSecond, releasedBy });
  return release;
}

/**
 * What follows a hold. Each is a run of its own: the hold is over at once, and what follows takes its time, and is
 * stopped by itself. A hold that probes have released says that the provider answers again.
 */
async function afterHold(release: Release, runId: string): Promise<void> {
  await startChild(releaseHeld, {
    workflowId: `${releaseWorkflowIdPrefix}/${runId}`,
    args: [{ ...release, after: runId }],
    parentClosePolicy: ParentClosePolicy.ABANDON,
  });
}

interface Released {
  release: Release;
  releasedBy: NonNullable<HoldMemo['releasedBy']>;
}

class OpenHold {
  private readonly start: HoldStart;
  private readonly since: string;
  /** Probes in a row that were not answered. */
  private failed: number;
  private released: Released | undefined;
  private probing = new CancellationScope();

  constructor(given: unknown) {
    const { since, failed, ...start } = readHoldStart(given);
    this.start = start;
    this.since = since ?? workflowInfo().startTime.toISOString();
    this.failed = failed;
    this.tell({ probing: null, letGo: [] });
    onUpdateAndSignal(releaseName, description, readRelease, (release) => {
      this.released ??= { release, releasedBy: 'person' };
      this.probing.cancel();
      return { released: true };
    });
    onUpdateAndSignal(keepName, keepDescription, readKeep, (words) => this.keep(words));
    if (since === undefined) log.warn('new sagas are held', { by: start.by });
  }

  async untilReleased(): Promise<Released> {
    try {
      while (this.released === undefined && this.start.probe !== undefined) await this.probe();
      await condition(() => this.released !== undefined);
    } catch (error) {
      if (!isCancellation(error)) throw error;
    }
    return this.released ?? { release: readRelease({ note: 'by a cancellation' }), releasedBy: 'person' };
  }

  /** Returns when the hold was released, or a person has taken it over. */
  private async probe(): Promise<void> {
    const { start } = this;
    const { probe: plan } = start;
    if (plan === undefined) return;
    const tell = (state: Pick<HoldMemo, 'probing' | 'letGo'>) => {
      this.tell(state);
    };
    const signal = (workflowId: string) => signalRelease(workflowId, 'a probe');
    try {
      const ended = await this.probing.run(() => probe({ plan, tell, signal }, this.failed));
      // A person may have been faster.
      if (this.released !== undefined || start.probe === undefined) return;
      if (ended.how === 'long') await this.goOnAsNew(ended.failed);
      else
        this.released ??= {
          release: readRelease({ by: 'probes', note: whyReleased(ended.letGo) }),
          releasedBy: 'probes',
        };
    } catch (error) {
      if (!isCancellation(error) || (this.released === undefined && start.probe !== undefined)) throw error;
    }
  }

  private keep({ by, note }: HoldWords): { kept: boolean } {
    const { start } = this;
    delete start.probe;
    delete start.detected;
    Object.assign(start, definedOnly({ by, note }));
    this.probing.cancel();
    this.tell({ probing: null, letGo: [] });
    log.warn('the hold is kept until a person releases it', { by: start.by });
    return { kept: true };
  }

  /** In the memo, which the activities and the command line read, and in the details of the Web UI. */
  private tell({ probing, letGo }: Pick<HoldMemo, 'probing' | 'letGo'>): void {
    const { start, since } = this;
    const { by, note, detected = false } = start;
    const memo: HoldMemo = { ...definedOnly({ by, note }), detected, since, probing, letGo };
    upsertMemo({ ...memo });
    const words = { ...definedOnly({ by, note }), since, runId: workflowInfo().runId };
    setCurrentDetails(describeOpenHold(describeHold(words), probing ?? undefined));
  }

  /** The hold is on all the time: one run ends as the next begins. */
  private async goOnAsNew(failed: number): Promise<never> {
    const { start, since } = this;
    const { probe: _, ...words } = start;
    const memo: HoldMemo = { ...words, detected: start.detected ?? false, since, probing: { failed }, letGo: [] };
    return makeContinueAsNewFunc<typeof hold>({ memo: { ...memo } })({ ...start, since, failed });
  }
}

function whyReleased(letGo: number): string {
  return `the provider answers again: ${letGo} ${letGo === 1 ? 'saga was' : 'sagas were'} let go as a probe`;
}

/** An update whose sender hears what is wrong, and a signal that is ignored where something is. */
function onUpdateAndSignal<T>(
  name: string,
  description: string,
  read: (asked: unknown) => T,
  take: (read: T) => unknown,
) {
  setHandler(defineUpdate<unknown, [unknown]>(name), (asked) => take(read(asked)), {
    description,
    validator: (asked) => {
      read(asked);
    },
  });
  setHandler(
    defineSignal<[unknown]>(name),
    (asked) => {
      try {
        take(read(asked));
      } catch (error) {
        log.warn('a signal was ignored', { why: String(error) });
      }
    },
    { description },
  );
}

const releaseWorkflowIdPrefix = 'release-held';

/**
 * A saga that became held while the hold ended is listed within seconds; one whose worker died then, within a minute.
 * One that does not answer in five looks has its signals in its history, and heeds them when its worker comes back.
 */
const looksMax = 5;
const lookEveryMs = 15_000;
/** A new hold is seen after so many seconds' worth of signals, or after one. */
const pageSeconds = 15;
/** The run that was the hold is closed within a moment. */
const closesWithinMs = 500;

interface Releasing extends Release {
  /** The run of the released hold: releasing waits until it is closed. Another hold ends the releasing. */
  after?: string;
  told?: number;
  /** Looks that are over. */
  looks?: number;
  /** Found so far in this look, and where it goes on. */
  found?: number;
  from?: Cursor;
}

/**
 * @returns `told`: how many signals were sent; a saga that got two counts twice. `stillHeld`: how many the last look
 * found: they have not answered yet
 */
export async function releaseHeld(given?: unknown): Promise<{ told: number; heldAgain: boolean; stillHeld?: number }> {
  const {
    after,
    told: before = 0,
    looks: over = 0,
    found: sofar = 0,
    from: begin,
    ...asked
  } = (given ?? {}) as Partial<Releasing>;
  const { by, perSecond } = readRelease(asked);
  const limit = Math.max(1, Math.ceil(perSecond * pageSeconds));
  let [told, looks, found, from] = [before, over, sofar, begin];
  for (;;) {
    if (workflowInfo().continueAsNewSuggested) {
      await continueAsNew<typeof releaseHeld>({ ...asked, told, looks, found, ...definedOnly({ after, from }) });
    }
    const { holdRun, workflowIds, last } = await listHeld({ limit, ...definedOnly({ after: from }) });
    if (holdRun !== undefined) {
      if (holdRun !== after) return { told, heldAgain: true };
      await sleep(closesWithinMs);
      continue;
    }
    for (const { wave, pauseMs } of wavesOf(workflowIds, perSecond)) {
      await Promise.all(wave.map((workflowId) => signalRelease(workflowId, by)));
      told += wave.length;
      await sleep(pauseMs);
    }
    found += workflowIds.length;
    from = last;
    if (from !== undefined) continue;
    looks += 1;
    if (looks >= looksMax) break;
    found = 0;
    await sleep(lookEveryMs);
  }
  if (found > 0) log.warn('held sagas have not answered: they begin when their workers are back', { stillHeld: found });
  return { told, heldAgain: false, stillHeld: found };
}

/** A saga that has ended meanwhile needs no signal. */
async function signalRelease(workflowId: string, by: string | undefined): Promise<void> {
  try {
    await getExternalWorkflowHandle(workflowId).signal(heldReleasedSignal, definedOnly({ by }));
  } catch (error) {
    if (isCancellation(error)) throw error;
    log.warn('a held saga could not be signalled', { workflowId, why: String(error) });
  }
}

/** @throws ApplicationFailure `InvalidRequest` */
function readRelease(asked: unknown): Release {
  const checked = check(releaseSchema(), asked ?? {});
  if (checked.ok) return checked.value;
  throw invalid(checked.problems, releaseExample);
}

/** @throws ApplicationFailure `InvalidRequest` */
function readKeep(asked: unknown): HoldWords {
  const checked = check(keepSchema(), asked ?? {});
  if (checked.ok) return definedOnly(checked.value);
  throw invalid(checked.problems, '{"by":"you","note":"why"}');
}

function invalid(problems: Parameters<typeof describeProblems>[0], example: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(`${describeProblems(problems)}. Like ${example}`, 'InvalidRequest');
}
