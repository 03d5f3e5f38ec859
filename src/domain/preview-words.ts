/** What a preview says in sentences: what is spent, and what to keep in mind. */
import { countOf, serversOrdered } from './plan-types';
import type { NextStep, Preview, Previewable, Standing } from './preview';
import type { ProvisionServersRequest } from './requests';
import { pivotSteps } from './story-steps';

export function spending({ workflow, request, quote }: Standing, next: readonly NextStep[]): string {
  const pivot = pivotSteps[workflow];
  if (pivot === undefined || !next.some(({ step }) => step === pivot)) return 'nothing more';
  if (workflow === 'provisionServers') {
    const { items } = request as ProvisionServersRequest;
    const servers = serversOrdered(items);
    return `${countOf(servers)} ${servers.most === 1 ? 'server' : 'servers'}; the provider names no price in advance`;
  }
  const isQuotedAgain = next.some(({ step }) => step === 'quote');
  if (quote === undefined) return 'what the quote will say; there is none yet';
  const last = `${quote.total} ${quote.currency}`;
  return isQuotedAgain ? `${last} by the last quote; it is quoted again first` : last;
}

const onDecision: Partial<Record<Previewable, string>> = {
  skip: 'What is skipped is not done later by this saga; its outcome tells it.',
  markDone: 'Your word is written into the journal: no later run makes the call.',
  confirmPlaced: 'Your word is written into the journal: nothing is placed under this reference again.',
  markCancelled:
    'Your word is written into the journal: it counts for no limit any more, and nothing is placed under this reference again.',
  confirmNotPlaced: 'If it was placed after all, it is there twice then, and both cost money.',
};

export function notesOn(standing: Standing, decision: Previewable, next: readonly NextStep[]): string[] {
  const { workflow, mode, armed, waiting, request, isEnding } = standing;
  const ends = decision === 'cancel' || decision === 'reject';
  const said = onDecision[decision];
  const notes = said === undefined ? [] : [said];
  if (decision === 'cancel' && waiting?.heedsCancel === false) {
    return ['The question stays open: what is being undone or written down is brought to its end first.'];
  }
  const pivot = pivotSteps[workflow];
  if (ends && mode === 'placed' && pivot !== undefined) notes.push('What was placed stays, and is paid for.');
  if (ends && !isEnding && waiting?.kind === 'outcome-unknown') {
    notes.push('All stays as it is, and the report says that nobody knows whether it was placed.');
  }
  if (ends && mode === 'undoable') {
    for (const { step, title, acts } of armed.flat()) if (!acts) notes.push(`Left behind: ${title} (${step}).`);
    if (pivot !== undefined && waiting?.kind !== 'outcome-unknown') {
      notes.push('The journal is asked first: where another run has placed it, it stays.');
    }
    if (waiting === undefined && !isEnding) notes.push('It goes on until then: what it does meanwhile counts, too.');
  }
  const { approval } = (request ?? {}) as { approval?: unknown };
  const places = next.some(({ step }) => step === pivot);
  if (places && next.some(({ step }) => step === 'quote') && approval !== undefined && approval !== 'never') {
    notes.push('Where the new quote has other terms than were approved, you are asked again.');
  }
  if (places && waiting?.kind !== 'duplicate' && waiting?.kind !== 'over-limit') {
    notes.push('Where a likely duplicate or a spend limit stands against it, you are asked before it is sent.');
  }
  if (next.some(({ each, step }) => each && step === 'assign-firewalls')) {
    notes.push('Where nothing names the new servers, you are asked for their object ids.');
  }
  if (standing.inDoubt && !ends) notes.push('What the journal knows to be done is not sent again.');
  if (waiting?.kind === 'held') notes.push('While the hold is on, it is held again.');
  return notes;
}

const titlesMax = 2;
const callsMax = 3;

/**
 * In a sentence or two, for a person who reads many of them: only what is sure, and what cannot be undone is always
 * among it. The preview itself has the rest.
 */
export function inShort({ decision, next, notes }: Preview): string {
  const sure = next.filter(({ when }) => when === undefined);
  const final = sure.find(({ irreversible }) => irreversible);
  const shown = sure.filter((step, index) => index < titlesMax || step === final);
  const more = sure.length - shown.length;
  const titles = shown.map(({ title, irreversible }) => (irreversible ? `${title} (cannot be undone)` : title));
  const changing = sure.flatMap(({ calls }) => calls.filter(({ changes, when }) => changes && when === undefined));
  const distinct = [...new Set(changing.map(({ call }) => call))];
  const calls = distinct.slice(0, callsMax).join(', ') + (distinct.length > callsMax ? ', …' : '');
  const [note] = decision === 'cancel' || decision === 'reject' || onDecision[decision] ? notes : [];
  const none = next.length === 0 ? 'Then: no call.' : 'Then: no call that is sure.';
  return [
    sure.length === 0 ? none : `Then: ${titles.join('; ')}${more > 0 ? `; ${more} more` : ''}.`,
    ...(calls === '' ? [] : [`It sends ${calls}.`]),
    ...(note === undefined ? [] : [note]),
  ].join(' ');
}
