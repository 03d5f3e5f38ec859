/**
 * What a decision leads to, before it is made: which steps follow, which calls they make, what cannot be undone, what
 * is spent. It goes by what the saga knows when it is asked, and by the provider taking each call. What nobody can know
 * yet has a condition.
 *
 * ```text
 *   retry · approve · confirmNotPlaced ──▶ the step that waits, and the rest of the story
 *   skip · markDone · provideServers ──────────────▶ the rest of the story without it
 *   confirmPlaced ─────────────────────────────────▶ what follows the pivot
 *   markCancelled ─────────────────────────────────▶ nothing: it ends; a clean-up goes on, as after confirmPlaced
 *   reject · cancel ───────────────────────────────▶ the undo of each step that was done, the last one first
 *   any, while the saga undoes ────────────────────▶ what is left to undo
 * ```
 */
import { decisionHints } from './decisions';
import { definedOnly } from './defined-only';
import type { NextStep, Preview, Previewable, Standing } from './preview';
import { notesOn, spending } from './preview-words';
import { providerCalls } from './provider-calls';
import {
  callsOf,
  pivotSteps,
  stepsToDo,
  strayItems,
  undoCallsOf,
  type PlannedCall,
  type PlannedStep,
} from './story-steps';

const cancelDoes = 'Stop, and put back what was done and can be put back';

export function previewOf(standing: Standing, decision: Previewable): Preview {
  const { waiting } = standing;
  const does = decision === 'cancel' ? cancelDoes : decisionHints[decision].does;
  const next = stepsAfter(standing, decision);
  return {
    decision,
    does,
    ...(waiting ? { question: waiting.id, kind: waiting.kind } : {}),
    next,
    spends: spending(standing, next),
    notes: notesOn(standing, decision, next),
  };
}

function stepsAfter(standing: Standing, decision: Previewable): NextStep[] {
  const { workflow, mode, waiting, isEnding } = standing;
  if (decision === 'cancel' && waiting?.heedsCancel === false) return [];
  if (decision === 'markCancelled' && workflow !== 'cleanCart') {
    return workflow === 'provisionServers' && mode !== 'placed' ? [asNext(strayItems())] : [];
  }
  if (decision === 'cancel' || decision === 'reject') return undoing(standing);
  const leavesOut = leavingOut.includes(decision);
  const waits = waiting && !leavesOut ? waiting.tried : [];
  if (isEnding) return [...waits.map((one) => again(standing, one)), ...undoing(standing)];
  if (waiting?.undoing) return [...waits.map((one) => again(standing, one)), ...goingOn(standing, decision)];
  return goingOn(standing, decision);
}

/** The step that waits is not done again. */
const leavingOut: readonly Previewable[] = ['skip', 'markDone', 'provideServers', 'confirmPlaced', 'markCancelled'];

function again(standing: Standing, { step, title }: { step: string; title: string }): NextStep {
  const undone = standing.waiting?.undoing === true;
  const calls = undone ? undoCallsOf(step, true) : callsOf(standing.workflow, step);
  return { step, title, calls: calls.map(told), ...(undone ? { undoes: true } : {}) };
}

function goingOn(standing: Standing, decision: Previewable): NextStep[] {
  const { workflow, waiting, mode } = standing;
  const isPlaced = mode === 'placed' || decision === 'confirmPlaced' || decision === 'markCancelled';
  const known = withoutWaiting(standing, decision);
  const plan = stepsToDo({ ...standing, steps: known, isPlaced });
  const pivot = pivotSteps[workflow];
  const waits = leavingOut.includes(decision) || waiting?.undoing ? [] : (waiting?.tried ?? []);
  const rest = [...redone(standing, decision), ...plan];
  // Of our own bookkeeping, or of what only the run knows.
  const unplanned = waits.filter(({ step }) => !rest.some((one) => one.step === step));
  const first = unplanned.map(({ step, title }): PlannedStep => ({ step, title, calls: callsOf(workflow, step) }));
  const all = [...first, ...rest].filter(({ step }) => !(step === 'approve' && decision === 'approve'));
  const isSaid = waiting?.step === 'write-decision' && pivot !== undefined;
  let isFinal = isPlaced || workflow === 'cleanCart';
  return all.map((planned): NextStep => {
    isFinal ||= planned.pivot === true;
    const changes = planned.calls.some(({ call }) => providerCalls[call].changes);
    const unlessPlaced = isSaid && (planned.pivot || planned.step === 'quote') ? { when: whenDenied } : {};
    return {
      ...asNext(planned),
      ...unlessPlaced,
      ...(isFinal && changes ? { irreversible: true as const } : {}),
    };
  });
}

const whenDenied = 'where it was said that it was not placed';

/** The steps with what waits as if it were done, where it is not done again. */
function withoutWaiting({ steps, waiting }: Standing, decision: Previewable): Standing['steps'] {
  if (!leavingOut.includes(decision) || waiting === undefined || waiting.undoing) return steps;
  const tried = new Set([waiting.step, ...waiting.tried.map(({ step }) => step)]);
  const status = decision === 'skip' ? ('skipped' as const) : ('done' as const);
  return steps.map((step) => (tried.has(step.id) ? { ...step, status } : step));
}

/**
 * What was done before and is done once more: a quote for terms that hold, what was taken back since, what a correction
 * changes.
 */
function redone(standing: Standing, decision: Previewable): PlannedStep[] {
  const { workflow, waiting, steps, armed, mode } = standing;
  if (waiting === undefined || waiting.undoing || mode === 'placed' || decision === 'confirmPlaced') return [];
  const title = (id: string) => steps.find((step) => step.id === id)?.title ?? id;
  const of = (step: string): PlannedStep => ({ step, title: title(step), calls: callsOf(workflow, step) });
  const isQuoted = steps.some(({ id, status }) => id === 'quote' && status === 'done');
  if (isQuoted) {
    const isConcern = waiting.kind === 'duplicate' || waiting.kind === 'over-limit';
    return [{ ...of('quote'), ...(isConcern ? { when: 'where the quote is too old by then' } : {}) }];
  }
  const done = steps.filter(({ id, status }) => status === 'done' && undoCallsOf(id, true).length > 0);
  if (waiting.takenBack) return done.map(({ id }) => ({ ...of(id), when: 'where it was taken back' }));
  if (workflow !== 'provisionServers' || waiting.kind !== 'refused' || armed.flat().length === 0) return [];
  const when = 'where a correction changes an item that is in the cart';
  return [
    { step: 'add-cart-item', title: 'Delete it', calls: undoCallsOf('add-cart-item', true), each: true, when },
    { ...of('add-cart-item'), title: 'Add it again as corrected', each: true, when },
  ];
}

/** The end without success: the levels backwards, and what this run does not know of. */
function undoing(standing: Standing): NextStep[] {
  const { workflow, mode, armed, steps, waiting, isEnding } = standing;
  const look = { call: 'listFirewalls' } as const;
  if (mode === 'placed') {
    if (workflow !== 'provisionServers') return [];
    const title = 'Look which firewalls protect the new servers';
    return [{ step: 'list-firewalls', title, calls: [told(look)], each: true, when: 'where other runs assigned some' }];
  }
  const isUnknown = mode === 'suspended' || (!isEnding && waiting?.kind === 'outcome-unknown');
  const isDone = (id: string) => steps.some((step) => step.id === id && step.status === 'done');
  const levels = isUnknown ? [] : [...armed].reverse().flat();
  const undos = levels
    .filter(({ acts }) => acts)
    .map(({ step, title }): NextStep => {
      return { step, title, calls: undoCallsOf(step, isDone(step)).map(told), undoes: true };
    });
  const others: Partial<Record<typeof workflow, NextStep>> = {
    provisionServers: asNext(strayItems()),
    setFirewalls: {
      step: 'list-left',
      title: 'List what other runs have changed and not put back',
      calls: [told(look)],
      when: 'where the journal knows of any',
    },
  };
  const other = others[workflow];
  return [...undos, ...(other ? [other] : [])];
}

function asNext({ step, title, calls, when, each }: PlannedStep): NextStep {
  return { step, title, calls: calls.map(told), ...definedOnly({ when, each }) };
}

function told({ call, when }: PlannedCall): NextStep['calls'][number] {
  return { ...providerCalls[call], ...(when === undefined ? {} : { when }) };
}
