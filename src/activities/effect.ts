/**
 * The one way by which a call that changes something reaches the provider: it is written down before, checked once more
 * in the tick in which it is sent, and written down after. docs/internals/journal.md has the protocol and its assumptions.
 *
 * ```text
 *   intend ──nothing is to be sent──▶ the recorded answer, or a failure that says why
 *     │
 *   the clock, as the request is written ── send ── write the outcome
 *     │ too late                                     │ the journal is down
 *     ▼                                              ▼
 *   not sent                    the answer goes to the workflow, which has it written
 * ```
 */
import { setTimeout as pause } from 'node:timers/promises';
import { Context, log } from '@temporalio/activity';
import type { About, EffectCall, Effected, EffectKind, JournalCursor, PivotNote, Unwritten } from '../domain/effects';
import { callFailures, whyInDoubt, type CallFailure } from '../domain/failures';
import { whyLate } from '../domain/may-be-sent';
import { metrics } from '../domain/metrics';
import type { ReviewReason } from '../domain/spending';
import { JournalUnavailable } from '../journal/database/errors';
import type { Answer, Journal } from '../journal/journal';
import type { Intent, Intended } from '../journal/decide';
import type { IntendedCall, SagaKey } from '../journal/rows';
import { namesakesOf } from '../journal/namesakes';
import type { SentSecrets } from '../domain/secrets';
import type { CallOptions, Secrets } from '../provider/client';
import { ProviderFailure } from '../provider/errors';
import { type ActivityOf, type CallContext, type Needs, sagaOf } from './call';
import type { ActivitySettings } from './settings';
import { callFailureOf, OwnFailure } from './translate-failure';

/** The workflow adds it to the own arguments of a call with an effect. */
export interface EffectContext extends CallContext {
  /** The id of the step that makes it. */
  step: string;
  cursor?: JournalCursor | undefined;
  /** For a pivot. */
  note?: PivotNote | undefined;
  /** For a saga that has a turn. */
  turn?: string | undefined;
  /** Secrets that other calls of this saga sent to the provider, which may quote them in its answer. */
  secrets?: SentSecrets | undefined;
  /** For a pivot: how many corrections of the request are in it. */
  corrections?: number | undefined;
  /** The call is not sent after this time, unless it undoes something. */
  notAfter?: string | undefined;
  /** For a pivot: it is not sent after this time, because its quote is too old then. */
  quoteUntil?: string | undefined;
}

interface EffectSpec<T> {
  kind: EffectKind;
  about: About;
  /** The step is not sent again where the journal has its answer. */
  recall?: boolean;
  /** Not sent where a person has done the same by hand, and nothing has changed it since. */
  countsByHand?: boolean | undefined;
  /** The secrets that the call sends by their names: what was sent is recognised, also after it was rotated. */
  sent?: Readonly<Record<string, string>> | undefined;
  /** For a pivot: looks before it is intended, and adds to its note. If it fails, nothing is sent. */
  lookFirst?: (() => Promise<Partial<PivotNote>>) | undefined;
  /** False for an answer that nobody has declared: the journal has it as unknown, and the saga goes on to a look. */
  isSure?: (value: T) => boolean;
}

export type Effect = <T>(
  spec: EffectSpec<T>,
  asked: EffectContext,
  send: (options: SendOptions) => Promise<T>,
) => Promise<Effected<T>>;

/** An activity that calls the provider works with these. */
export interface Tools extends Needs {
  activity: ActivityOf;
  effect: Effect;
  readSecrets: ReadSentSecrets;
}

export type SendOptions = CallOptions &
  Required<Pick<CallOptions, 'secrets'>> & {
    /** The same was sent before, and nobody knows what came of it. */
    repeats?: true | undefined;
  };

/** A look beside a call that has an effect: both have to end within the time of one activity. */
export const lookWithinMs = 5_000;

/** How long the activity tries to write an outcome; after that the workflow goes on trying. */
const writingMsMax = 6_000;

/**
 * A call may be in flight for so long. It is looked at again soon enough for a person who waits, and rarely enough for a
 * history, in which each look takes eleven events. An hour, the longest that the settings allow, takes about thirty looks.
 */
export function underWay(why: string, leftMs: number): OwnFailure {
  const retryInMs = Math.min(leftMs, Math.max(1_000, Math.ceil(leftMs / 4)));
  return new OwnFailure('UnderWay', why, { retryInMs, inFlightMs: leftMs });
}

export function createEffect({ journal, settings, activity: activityOf, readSecrets }: Omit<Tools, 'effect'>): Effect {
  const { inFlightMs } = settings;
  return <T>(spec: EffectSpec<T>, asked: EffectContext, send: (options: SendOptions) => Promise<T>) =>
    activityOf(spec.kind, async (): Promise<Effected<T>> => {
      // First, because a slow store must not use up the time to send.
      const secrets = await readSecrets(asked.secrets);
      const sentDigests = await digestsOf(journal, spec.sent);
      const note = asked.note && { ...asked.note, ...(await lookFirst(spec)) };
      const clock = startClock();
      const { saga, run, activity } = sagaOf();
      const { kind, about, recall, countsByHand } = spec;
      const { cursor, turn, corrections, notAfter, quoteUntil } = asked;
      const effect: EffectCall = { step: asked.step, kind, activity, about };
      const rules = kind === 'pivot' ? { ...settings, notAfter, quoteUntil } : undefined;
      const intended = await intend(journal, {
        ...{ ...saga, call: effect, run, cursor, note, turn, corrections, inFlightMs, recall, countsByHand },
        sent: sentDigests,
        rules,
      });
      if (intended.how === 'recorded') {
        const { answer, at, run: by, doubts } = intended;
        return { value: answer as T, cursor: intended.cursor, recorded: { at, run: by }, ...withDoubts(doubts) };
      }
      if (intended.how !== 'send') throw whyNothingIsSent(intended);
      const sent = { call: effect, run, cursor: intended.cursor, inFlightMs, rules };
      let late: Lateness | undefined;
      const mayLeave = () => (late = tooLate(kind, asked, clock, settings))?.message;
      try {
        const value = await send({ mayLeave, secrets, repeats: intended.repeats });
        const outcome = spec.isSure?.(value) === false ? 'unknown' : 'done';
        const unwritten = await write(journal, saga, sent, { outcome, answer: value });
        return { value, cursor: intended.cursor, ...withDoubts(intended.doubts), ...unwritten };
      } catch (error) {
        const failed = callFailureOf(error, kind, settings);
        if (failed === undefined) throw error;
        const failure = late !== undefined && failed.failure === 'NotSent' ? late : failed;
        const { failure: name } = failure;
        const answer = { outcome: callFailures[name].outcome, failure: name, answer: failure };
        const unwritten = await write(journal, saga, sent, answer);
        const { row } = intended.cursor;
        const isAsked = kind === 'pivot' && name === 'UnknownOutcome';
        const foundBy = asked.note?.foundBy;
        const namesakes = isAsked ? await namesakesOf(journal, saga, foundBy) : undefined;
        const doubt = { row, at: clock.startedAt, run, inFlightMs, restored: false, foundBy, namesakes };
        const isSurelyNot = intended.doubts === 0 && failed.cartItemId === undefined;
        const soldOut = failed.declared === 'SoldOut' && isSurelyNot ? { soldOut: true as const } : {};
        const facts = { cursor: intended.cursor, ...(isAsked ? { doubt } : {}), ...soldOut, ...unwritten };
        throw new OwnFailure(name, failure.message, { ...failure, ...facts });
      }
    })(asked);
}

/** @returns 'unknown' where one cannot be read here: then nothing of an answer is shown */
type ReadSentSecrets = (sent: SentSecrets | undefined) => Promise<Secrets>;

/**
 * Looks up the secrets that came with a call, which an answer must not show. A secret by its name may have been rotated
 * since it was sent, and the provider quotes what was sent. The journal has digests of that: where the value of now is
 * another one, what was sent is not known any more.
 */
export function createReadSentSecrets({ secrets, journal }: Needs): ReadSentSecrets {
  return async (sent = []) => {
    if (sent === 'unknown') return sent;
    const known = sent.filter((one) => typeof one === 'string');
    const names = sent.flatMap((one) => (typeof one === 'string' ? [] : [one.secret]));
    if (names.length === 0) return known;
    const calls = await journal.digestsSent(sagaOf().saga).catch(() => undefined);
    if (calls === undefined) return 'unknown';
    const values = await Promise.all(
      names.map(async (name) => {
        const value = await secrets.resolve(name).catch(() => undefined);
        const sentThen = calls.flatMap(({ [name]: digests }) => (digests === undefined ? [] : [digests]));
        const now = value !== undefined && sentThen.length > 0 ? await journal.sealing.secretDigests(value) : [];
        return sentThen.every((digests) => digests.some((digest) => now.includes(digest))) ? value : undefined;
      }),
    );
    return values.every((value) => value !== undefined) ? [...known, ...values] : 'unknown';
  };
}

async function digestsOf(journal: Journal, sent: Readonly<Record<string, string>> = {}): Promise<Intent['sent']> {
  const digests = Object.entries(sent).map(
    async ([name, value]) => [name, await journal.sealing.secretDigests(value)] as const,
  );
  return digests.length === 0 ? undefined : Object.fromEntries(await Promise.all(digests));
}

async function lookFirst(spec: Pick<EffectSpec<unknown>, 'lookFirst'>) {
  try {
    return await spec.lookFirst?.();
  } catch (error) {
    if (!(error instanceof ProviderFailure)) throw error;
    const why = `what is there already could not be looked at; nothing was sent now: ${error.message}`;
    throw new OwnFailure('NotSent', why);
  }
}

const withDoubts = (doubts: number) => (doubts > 0 ? { doubts } : {});

async function intend(journal: Journal, intent: Intent): Promise<Intended> {
  try {
    return await journal.intend(intent);
  } catch (error) {
    const { call, cursor, inFlightMs } = intent;
    if (!(error instanceof JournalUnavailable) || error.row === undefined || cursor === undefined) throw error;
    // Nothing was sent for that row. If it was written anyway, its outcome has to be written, too.
    const unwritten = { call, cursor: { ...cursor, row: error.row }, inFlightMs };
    throw new OwnFailure('JournalUnavailable', error.message, {
      unwritten: { ...unwritten, outcome: 'not-done', failure: 'JournalUnavailable' },
    });
  }
}

/** @returns what has yet to be written, where the journal was down for too long */
async function write(
  journal: Journal,
  saga: SagaKey,
  intended: IntendedCall & Pick<Intent, 'rules'>,
  answer: Answer,
): Promise<{ unwritten?: Unwritten }> {
  const written = await tryFor(writingMsMax, () => journal.answered(saga, intended, answer));
  if (written === 'late') reportLate(intended.call.step, intended.cursor.row);
  if (written !== undefined) return {};
  const { outcome, failure } = answer;
  const { call, cursor, inFlightMs } = intended;
  return { unwritten: { call, cursor, inFlightMs, outcome, ...(failure ? { failure } : {}) } };
}

/** Why nothing is sent for a run that does not own its reference any more. */
export const notOwned = 'another run has begun since, or this one has gone on without this call';

function whyNothingIsSent(intended: Exclude<Intended, { how: 'recorded' | 'send' }>): OwnFailure {
  switch (intended.how) {
    case 'under-way':
      return underWay('a call that was sent before may still be in flight; nothing was sent now', intended.leftMs);
    case 'unknown': {
      const { row, at, run, inFlightMs, restored, note, namesakes } = intended;
      return new OwnFailure('UnknownOutcome', whyInDoubt(intended), {
        doubt: { row, at, run, inFlightMs, restored, foundBy: note?.foundBy, namesakes },
      });
    }
    case 'not-owned':
      return new OwnFailure('StateChanged', `${notOwned}; nothing was sent`, { notOwned: true });
    case 'changed':
      return new OwnFailure('StateChanged', `${intended.why}; nothing was sent`);
    case 'ordered':
      return new OwnFailure(
        'Ordered',
        intended.placed
          ? `it belongs to the order that was placed on ${intended.at} by run ${intended.run}`
          : `it may belong to the order of ${intended.at} by run ${intended.run}, and nobody knows whether that was placed`,
      );
    case 'anothers':
      return new OwnFailure(
        'Ordered',
        `its id is that of an item of ${intended.of} since ${intended.at}: it is gone, or the cart has made one of the two`,
      );
    case 'restored':
      return new OwnFailure('JournalRestored', `${intended.why}; nothing was sent`);
    case 'cancelled':
      return new OwnFailure('OrderCancelled', `the provider has cancelled it, as a person said on ${intended.at}`);
    case 'late':
      return new OwnFailure(intended.failure, intended.why);
    case 'refuse':
      return new OwnFailure('GuardViolated', `${intended.why}; nothing was sent`);
    case 'asks': {
      const { concern } = intended;
      return new OwnFailure('NeedsApproval', `${whyAsked[concern.kind]}; nothing was sent`, { concern });
    }
  }
}

const whyAsked: Record<ReviewReason['kind'], string> = {
  approval: 'a person has to approve it',
  duplicate: 'the same was bought under another reference not long ago',
  'over-limit': 'it exceeds a spend limit',
};

type Lateness = Pick<CallFailure, 'failure' | 'message'>;

/** Checked in the tick in which a call is sent: whatever it had to wait for, it is never sent too late. */
function tooLate(
  kind: EffectKind,
  { notAfter, quoteUntil }: EffectContext,
  clock: ReturnType<typeof startClock>,
  { sendWithinMs }: ActivitySettings,
): Lateness | undefined {
  const times = { notAfter: kind === 'compensate' ? undefined : notAfter, quoteUntil };
  const late = whyLate(Date.now(), times);
  if (late) return { failure: late.failure, message: late.why };
  const why = clock.whyTooLate(sendWithinMs);
  return why === undefined ? undefined : { failure: 'StoodStill', message: `was not sent: ${why}` };
}

/**
 * Measures the time since now on two clocks. Both show that a process was stopped; only the wall clock shows that the
 * machine slept, and only the monotonic one is right after the wall clock was set back.
 */
function startClock() {
  const monotonicMs = performance.now();
  const wallMs = Date.now();
  return {
    startedAt: new Date(wallMs).toISOString(),
    /** @returns a sentence where more time has passed than this */
    whyTooLate: (withinMs: number) => {
      const sinceMs = Math.max(performance.now() - monotonicMs, Date.now() - wallMs);
      return sinceMs <= withinMs
        ? undefined
        : `it was intended ${Math.round(sinceMs)} ms ago, and may not be wanted any more`;
    },
  };
}

/** The rules are made so that this never happens; if it does, the operator must learn of it. */
export function reportLate(step: string, row: string): void {
  log.error('the provider accepted a call that a person had denied: look at the record of this reference', {
    step,
    row,
  });
  const { name, help } = metrics.lateAnswers;
  Context.current().metricMeter.createCounter(name, '', help).add(1);
}

/** @returns undefined where it could not be written in time */
async function tryFor<T>(withinMs: number, write: () => Promise<T>): Promise<T | undefined> {
  const untilMs = performance.now() + withinMs;
  for (let waitMs = 50; ; waitMs = Math.min(waitMs * 2, 1_000)) {
    try {
      return await write();
    } catch (error) {
      if (!(error instanceof JournalUnavailable)) throw error;
      if (performance.now() + waitMs > untilMs) return undefined;
      await pause(waitMs);
    }
  }
}
