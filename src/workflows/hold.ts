/**
 * Holds new sagas, and releases them.
 *
 * ```text
 *   hold ── open: new sagas are held ──release · Request Cancellation──▶ closed ══ starts ══▶ releaseHeld
 *                                                                                                │
 *          no saga is held any more ◀── 4 looks in a row find none ── look ── signal some ── pause ┘
 * ```
 *
 * Neither workflow is a saga: they call no provider and no journal, so Temporal itself retries their one activity until it succeeds.
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
  ParentClosePolicy,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  sleep,
  startChild,
  upsertMemo,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../activities/index';
import { definedOnly } from '../domain/defined-only';
import {
  describeHold,
  heldReleasedSignal,
  holdWorkflow,
  readHoldWords,
  releaseName,
  releaseSchema,
  wavesOf,
  type Release,
} from '../domain/hold';
import { describeProblems } from '../domain/problems';
import { check } from '../domain/validation';

const { listHeld } = proxyActivities<Pick<Activities, 'listHeld'>>({
  startToCloseTimeout: '30 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '30 seconds' },
  summary: 'look which sagas are held',
});

const example = '{"by":"you"}';
const description = `Let the held sagas begin, 20 per second. For another rate: {"by":"you","perSecond":1}. ${example}`;

/** @returns the release that ended the hold */
export async function hold(given?: unknown): Promise<Release> {
  const { workflowId, runId, startTime } = workflowInfo();
  if (workflowId !== holdWorkflow) {
    const message = `this holds nothing: the workflow id must be ${holdWorkflow}, and it is ${workflowId}`;
    throw ApplicationFailure.nonRetryable(message, 'InvalidRequest');
  }
  const words = readHoldWords(given);
  if (Object.keys(words).length > 0) upsertMemo({ ...words });
  let release: Release | undefined;
  const take = (asked: unknown) => {
    release ??= readRelease(asked);
    return { released: true };
  };
  setHandler(defineUpdate<{ released: boolean }, [unknown]>(releaseName), take, {
    description,
    validator: (asked) => {
      readRelease(asked);
    },
  });
  setHandler(
    defineSignal<[unknown]>(releaseName),
    (asked) => {
      try {
        take(asked);
      } catch (error) {
        log.warn('a signal was ignored', { why: String(error) });
      }
    },
    { description },
  );
  const inWords = describeHold({ ...words, runId, since: startTime.toISOString() });
  log.warn('new sagas are held', { by: words.by });
  setCurrentDetails(
    [
      `### New sagas are ${inWords}`,
      'Those under way go on. To let the held ones begin, press **More Actions**, then **Send an Update**, choose **release** and paste:',
      `\`${example}\``,
      'They begin 20 per second; `"perSecond":1` makes it one. **Request Cancellation** does the same. Do not use **Terminate**: it ends the hold, but the held sagas are not signalled.\n\n\u00a0',
    ].join('\n\n'),
  );
  try {
    await condition(() => release !== undefined);
  } catch (error) {
    if (!isCancellation(error)) throw error;
  }
  const released = release ?? readRelease({ note: 'by a cancellation' });
  await CancellationScope.nonCancellable(() =>
    startChild(releaseHeld, {
      workflowId: `${releaseWorkflowIdPrefix}/${runId}`,
      args: [{ ...released, after: runId }],
      parentClosePolicy: ParentClosePolicy.ABANDON,
    }),
  );
  setCurrentDetails('');
  log.info('new sagas begin again', { by: released.by, perSecond: released.perSecond });
  return released;
}

const releaseWorkflowIdPrefix = 'release-held';

/** A saga that became held while the hold ended is listed within seconds; one whose worker died then, within a minute. */
const emptyLooksMax = 4;
const lookEveryMs = 15_000;
/** The run that was the hold is closed within a moment. */
const closesWithinMs = 500;

interface Releasing extends Release {
  /** The run of the released hold: releasing waits until it is closed. Another hold ends the releasing. */
  after?: string;
  told?: number;
}

/** @returns `told`: how many signals were sent; a saga that got two counts twice */
export async function releaseHeld(given?: unknown): Promise<{ told: number; heldAgain: boolean }> {
  const { after, told: before = 0, ...asked } = (given ?? {}) as Partial<Releasing>;
  const { by, perSecond } = readRelease(asked);
  let told = before;
  for (let empty = 0; empty < emptyLooksMax;) {
    if (workflowInfo().continueAsNewSuggested) {
      await continueAsNew<typeof releaseHeld>({ ...asked, told, ...definedOnly({ after }) });
    }
    const { holdRun, workflowIds } = await listHeld();
    if (holdRun !== undefined) {
      if (holdRun !== after) return { told, heldAgain: true };
      await sleep(closesWithinMs);
      continue;
    }
    if (workflowIds.length === 0) {
      empty += 1;
      await sleep(lookEveryMs);
      continue;
    }
    empty = 0;
    for (const { wave, pauseMs } of wavesOf(workflowIds, perSecond)) {
      await Promise.all(wave.map((workflowId) => signalRelease(workflowId, by)));
      told += wave.length;
      await sleep(pauseMs);
    }
  }
  return { told, heldAgain: false };
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
  throw ApplicationFailure.nonRetryable(`${describeProblems(checked.problems)}. Like ${example}`, 'InvalidRequest');
}
