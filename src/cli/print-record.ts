/** A record for a person: a summary, and what happened in the order of time. The printer makes the lines safe. */
import { isDeepStrictEqual } from 'node:util';
import { workflowIdOf } from '../domain/identity';
import { describeAlternative } from '../domain/corrections';
import type { RecordedCorrection, RecordedEffect, RecordedEnding, SagaRecord } from '../domain/record';
import type { DecisionRecord } from '../domain/progress';
import { describeDeed, type Deed } from '../domain/deeds';
import { describeQuote, type Quote } from '../domain/quotes';
import { describeLeftovers } from './ending';

const valueMax = 300;
const decisionsShown = 10;

const unexpected = 'a call took effect unexpectedly: look whether it is there twice';

/** The pivot of each workflow. */
const nouns: Record<SagaRecord['workflow'], string | undefined> = {
  provisionServers: 'the order',
  changeOrder: 'the change order',
  switchPlan: 'the plan switch',
  setFirewalls: undefined,
  cleanCart: undefined,
};

export function describeRecord(record: SagaRecord): string[] {
  const { workflow, reference, account, firstSeen, state, total, currency, servers, unreadable } = record;
  const alternatives = record.corrections.flatMap(({ step, correction = {} }) => {
    const told = describeAlternative(correction);
    return told === undefined ? [] : [`  ${step}: ${inOneLine(told)}`];
  });
  const times = record.corrections.length - alternatives.length;
  const last = record.endings.findLast((ending) => ending.workflow !== 'cleanCart');
  return [
    `${workflowIdOf(workflow, reference)}: ${state}`,
    ...(state === 'open'
      ? ['  no run has recorded its end: the saga runs, waits, or was ended from outside; what would be left by now:']
      : last
        ? [`  ended on ${last.at} as ${last.ended ?? last.outcome}${whyOf(last)}`]
        : []),
    `  first seen on ${firstSeen.at}, by run ${firstSeen.run || 'unknown'}${account === undefined ? '' : `, account ${account}`}`,
    ...(times === 0 ? [] : [`  the request was corrected ${times === 1 ? 'once' : `${times} times`} (--timeline)`]),
    ...alternatives,
    ...record.waits.flatMap(({ id, kind, step, since, endedAt }) =>
      endedAt === undefined && state === 'open'
        ? [`  waits for a decision (${kind}) at ${step} since ${since}, question ${id}`]
        : [],
    ),
    ...record.decisions.slice(-decisionsShown).map((one) => `  ${one.at}: ${describeDecision(one)}`),
    ...(record.decisions.length > decisionsShown ? ['  and earlier decisions (--timeline)'] : []),
    ...record.deeds.flatMap((deed) => (endsIt(deed) ? [`  ${deed.at}: ${inOneLine(describeDeed(deed))}`] : [])),
    ...describePlacement(record),
    ...(total === undefined ? [] : [`  quoted ${total} ${currency ?? ''}`]),
    ...(servers ?? []).map(
      ({ vmObjectId, firewalls, verified }) =>
        `  server ${vmObjectId}${firewalls?.length ? `, firewalls ${firewalls.join(', ')}` : ''}${verified === false ? ', not verified' : ''}`,
    ),
    ...saidOfServers(record).map(({ at, text }) => `  ${at}: ${text}`),
    ...describeLeftovers(record.leftovers).map((line) => `  ${inOneLine(line)}`),
    ...(unreadable ?? []).map(({ what, why }) => `  cannot be read: ${inOneLine(what)}: ${inOneLine(why)}`),
  ];
}

function describePlacement({ workflow, placement, effects }: SagaRecord): string[] {
  const noun = nouns[workflow];
  if (noun === undefined) return [];
  const isLate = effects.some((effect) => effect.late !== undefined);
  const sentences = {
    none: 'nothing was placed',
    unknown: `nobody knows whether ${noun} was placed`,
    cancelled: `${noun} was placed, and the provider has cancelled it`,
    placed: `${noun} was placed${isLate ? `; ${unexpected}` : ''}`,
  };
  return [`  ${sentences[placement]}`];
}

interface Happening {
  at: string;
  what: string;
  text: string;
  /** The run that did it, where one did. */
  run?: string;
}

/** Lists what was quoted, asked, answered, intended, undone and ended: a row for each, with its time. */
export function timelineOf(record: SagaRecord): string[][] {
  const { firstSeen, corrections, effects, endings, waits, approvals, decisions, deeds } = record;
  const happenings: Happening[] = [
    { at: firstSeen.at, what: 'first seen', text: 'the reference was taken', run: firstSeen.run },
    ...endings.flatMap(quotedIn),
    ...waits.flatMap(waitOf),
    ...decisions.map((one) => ({ at: one.at, what: 'answered', text: describeDecision(one) })),
    ...approvals.map(approvalOf),
    ...corrections.map(correctionOf),
    ...saidOfServers(record),
    ...deeds.map(({ at, run, ...deed }) => ({
      at,
      what: 'asked',
      text: inOneLine(describeDeed({ at, ...deed })),
      run,
    })),
    ...effects.flatMap((effect) => happeningsOf(effect, effects)),
    ...endings.map(endOf),
  ];
  // A stable sort keeps the order above for what happened in the same millisecond.
  happenings.sort((one, other) => (one.at < other.at ? -1 : Number(one.at > other.at)));
  let known = '';
  const rows = happenings.map(({ at, what, text, run = '' }) => {
    const by = run === '' || run === known ? '' : `, run ${run}`;
    known = run || known;
    return [at, what, `${text}${by}`];
  });
  // When it came is not known.
  const late = effects.filter((effect) => effect.late !== undefined);
  return [...rows, ...late.map(({ step, id }) => ['', 'LATE', `${step}, row ${id}: ${unexpected}`])];
}

function correctionOf({ at, run, step, correction, ...said }: RecordedCorrection): Happening {
  const what = correction === undefined ? 'cannot be read' : inOneLine(JSON.stringify(correction));
  return { at, what: 'corrected', text: `${step}: ${what}, by ${whoAndWhy(said)}`, run };
}

/** The others are among the decisions, or say no more than who has sent it. */
const endsIt = ({ what }: Deed) => what === 'cancelled' || what === 'terminated' || what === 'reset';

/** The last quote of a run, by its report: earlier ones stand in what was asked and intended by them. */
function quotedIn({ run, report }: RecordedEnding): Happening[] {
  const step = report?.steps.find(({ id }) => id === 'quote');
  const quote = report?.known['quote'] as Quote | undefined;
  return step?.endedAt && quote
    ? [{ at: step.endedAt, what: 'quoted', text: inOneLine(describeQuote(quote)), run }]
    : [];
}

function waitOf({ id, kind, step, run, since, asked, endedAt, decision }: SagaRecord['waits'][number]): Happening[] {
  const question = asked === undefined ? '' : `: ${inOneLine(asked)}`;
  const over = { at: endedAt ?? since, what: 'unanswered', text: `${step}, question ${id}: nobody has decided`, run };
  return [
    { at: since, what: 'waits', text: `${kind} at ${step}, question ${id}${question}`, run },
    ...(endedAt !== undefined && decision === undefined ? [over] : []),
  ];
}

function describeDecision({ decision, step, by, note, reason, vmObjectIds = [], ...more }: DecisionRecord): string {
  const { steps = [], orderId } = more;
  const named = [...steps, ...vmObjectIds, ...(orderId === undefined ? [] : [`order ${orderId}`])];
  const what = `${step === undefined ? '' : `${step}: `}${[decision, ...named].join(' ')}`;
  return inOneLine(`${what}, says ${whoAndWhy({ by: by ?? 'nobody', note: note ?? reason })}`);
}

/** Once the saga has ended; while it goes on, it asks. */
function saidOfServers({ serversClosed = [], serversCorrected = [] }: SagaRecord): Happening[] {
  const closed = serversClosed.map(({ vmObjectId, at, ...said }) => {
    const which = vmObjectId === undefined ? 'servers' : `server ${vmObjectId}`;
    return { at, what: 'closed', text: `${which} closed, says ${whoAndWhy(said)}` };
  });
  const named = serversCorrected.map(({ vmObjectId, isOwn, from, to, at, ...said }) => {
    const other = from === undefined ? '' : `, and was ${from}’s`;
    const what = isOwn ? `is its own${other}` : `is not its own${to === undefined ? '' : `, but ${to}’s`}`;
    return { at, what: 'named', text: `server ${vmObjectId} ${what}, says ${whoAndWhy(said)}` };
  });
  return [...closed, ...named];
}

function approvalOf({ at, total, currency = '', until, usedBy, ...said }: SagaRecord['approvals'][number]): Happening {
  const terms = total === undefined ? '' : `${total} ${currency}, `;
  const use = usedBy === undefined ? '' : `, used by row ${usedBy}`;
  return { at, what: 'approved', text: `${terms}until ${until}${use}, says ${whoAndWhy(said)}` };
}

function whoAndWhy({ by = 'somebody', note }: { by?: string; note?: string }): string {
  return inOneLine(by) + (note === undefined ? '' : `: ${inOneLine(note)}`);
}

function happeningsOf(effect: RecordedEffect, effects: readonly RecordedEffect[]): Happening[] {
  const { id, step, run, intendedAt, answeredAt, outcome, decided, undoneBy, cancelled } = effect;
  const name = nameOf(effect);
  const byHand = isByHand(effect);
  const all: Happening[] = byHand ? [] : [{ at: intendedAt, run, ...beginningOf(effect) }];
  if (answeredAt !== undefined) {
    all.push({ at: answeredAt, what: answeredAs(effect), text: `${name}${answerOf(effect)}`, run });
  }
  if (decided) {
    const placed = outcome === 'denied' || isDoneAfterDenial(effect) ? 'not placed' : 'placed';
    const what = byHand ? `${name}${described(effect.about)}, row ${id}: done by hand` : `${step}: ${placed}`;
    all.push({ at: decided.at, what: 'decided', text: `${what}, says ${whoAndWhy(decided)}`, ...(byHand && { run }) });
  }
  if (cancelled) {
    all.push({ at: cancelled.at, what: 'cancelled', text: `${step}: by the provider, says ${whoAndWhy(cancelled)}` });
  }
  if (undoneBy !== undefined) {
    const undoing = effects.find((one) => one.id === undoneBy);
    const at = undoing?.answeredAt ?? undoing?.decided?.at ?? intendedAt;
    all.push({ at, what: 'undone', text: `${name}, by row ${undoneBy}` });
  }
  return all;
}

/** A person did it: nothing was sent. */
function isByHand({ kind, decided }: RecordedEffect): boolean {
  return kind !== 'pivot' && decided !== undefined;
}

/** A person denied that it happened, and its own answer came later. */
function isDoneAfterDenial({ outcome, decided, answer, late }: RecordedEffect): boolean {
  return outcome === 'done' && decided !== undefined && late !== undefined && isDeepStrictEqual(late.answer, answer);
}

function beginningOf(effect: RecordedEffect): Pick<Happening, 'what' | 'text'> {
  const { id, intendedAt, outcome, inFlightUntil, failure } = effect;
  const { quote } = (effect.note ?? {}) as { quote?: Quote };
  const terms = quote === undefined ? '' : `, quoted at ${inOneLine(describeQuote(quote))}`;
  const text = `${nameOf(effect)}${described(effect.about)}${terms}, row ${id}`;
  // Nothing was sent with this row: it records what may have been sent.
  if (failure === 'JournalRestored') {
    return { what: 'in doubt', text: `${text}: the journal was restored, and may have lost that it was sent` };
  }
  if (outcome !== 'intended') return { what: 'intended', text };
  const since = `its outcome was not written down; it may be in flight until ${inFlightUntil ?? intendedAt}`;
  return { what: 'intended', text: `${text}, and ${since}` };
}

function nameOf({ step, kind }: RecordedEffect): string {
  return kind === 'compensate' ? `${step} (undo)` : step;
}

/** The outcome that was written down when the call itself ended, before any later change. */
function answeredAs(effect: RecordedEffect): string {
  const { outcome, failure, decided } = effect;
  if (isDoneAfterDenial(effect)) return 'done';
  if (outcome === 'not-done' || outcome === 'unknown') return outcome;
  if (decided !== undefined || (outcome === 'undone' && failure !== undefined)) return 'unknown';
  return 'done';
}

function answerOf({ outcome, failure, answer = null, decided }: RecordedEffect): string {
  if (failure !== undefined && (outcome !== 'done' || decided !== undefined)) {
    const { message } = (answer ?? {}) as { message?: unknown };
    return `: ${failure}${typeof message === 'string' ? `: ${inOneLine(message)}` : ''}`;
  }
  return answer === null || decided !== undefined ? '' : `: ${inOneLine(JSON.stringify(answer))}`;
}

function endOf(ending: RecordedEnding): Happening {
  const { at, run, workflow, outcome, ended } = ending;
  const how = ended === undefined || ended === outcome ? outcome : `${ended}, ${outcome}`;
  const what = workflow === 'cleanCart' ? `the clean-up: ${how}` : how;
  return { at, what: 'ended', text: `${what}${whyOf(ending)}`, run };
}

function whyOf({ ended, report }: RecordedEnding): string {
  return report === undefined || report.why === ended ? '' : `: ${inOneLine(report.why)}`;
}

const subjects: [keyof RecordedEffect['about'], string][] = [
  ['item', 'item'],
  ['corrected', 'corrected'],
  ['cartItemId', 'cart item'],
  ['cartItems', 'cart items'],
  ['vmObjectId', 'server'],
  ['firewalls', 'firewalls'],
  ['subscriptionId', 'subscription'],
  ['planId', 'plan'],
];

function described(about: RecordedEffect['about']): string {
  const parts = subjects.flatMap(([key, word]) => {
    const value = about[key];
    return value === undefined ? [] : [`${word} ${[value].flat().join(', ')}`];
  });
  return parts.length === 0 ? '' : `: ${parts.join('; ')}`;
}

/** Keeps each event in one line: no text in it can look like another line, or reverse the text beside it. */
function inOneLine(text: string): string {
  const line = text.replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim();
  return line.length > valueMax ? `${line.slice(0, valueMax)}… (--json shows all)` : line;
}
