/**
 * A saga as a person reads it, a line for each thing that happened:
 *
 * ```text
 * provisionServers <reference>: failed
 *   undone    add-cart-item-1 “Add cart item 1”, 2 attempts
 *   failed    place-order “Place the order”: 422 no such plan
 * decided   stuck at place-order: retry, by op
 * waits     approval at quote: “Approve 31 usd?” approve or reject
 * left      {"kind":"cart-item","cartItemId":17}
 * ended     OrderRefused
 *   skipped ["assign-firewalls-9001"]
 * called    addCartItem: add cart item 1
 * ```
 */
import type { DecisionRecord, ProgressView, StepView, Waiting } from '../../src/domain/progress';
import type { Ended } from './sagas';

export function transcriptOf(
  progress: ProgressView,
  outcome: Ended | undefined,
  activities: readonly string[],
): string {
  const { workflow, reference, state, steps, waiting, queued, leftovers, ignored, decisions } = progress;
  return [
    `${workflow} ${reference}: ${state}`,
    ...steps.map(stepLine),
    ...decisions.map(decisionLine),
    ...ignored.map((one) => `ignored   ${JSON.stringify(one)}`),
    ...(waiting ? waitingLines(waiting) : []),
    ...(queued ? [`queued    ${JSON.stringify(queued)}`] : []),
    ...leftovers.map((one) => `left      ${JSON.stringify(one)}`),
    ...(outcome ? outcomeLines(outcome, progress) : []),
    ...activities.map((one) => `called    ${one}`),
  ].join('\n');
}

function stepLine({ status, id, title, attempts, detail }: StepView): string {
  const often = attempts > 1 ? `, ${attempts} attempts` : '';
  return `  ${status.padEnd(8)}${id} “${title}”${often}${detail === undefined ? '' : `: ${detail}`}`;
}

function decisionLine({ kind, step, decision, by, at, question, ...rest }: DecisionRecord): string {
  const more = Object.keys(rest).length > 0 ? ` ${JSON.stringify(rest)}` : '';
  return `decided   ${kind} at ${step}: ${decision}, by ${by ?? 'nobody'}, ${at}${question ? '' : ', of no question'}${more}`;
}

function waitingLines({ kind, step, question, choices, id, since, ...rest }: Waiting): string[] {
  const more = Object.entries(rest).map(([key, value]) => `  ${key} ${JSON.stringify(value)}`);
  return [`waits     ${kind} at ${step} since ${since}, ${id}: “${question}” ${choices.join(' or ')}`, ...more];
}

/** Of what an outcome says, what the progress has not said already. */
function outcomeLines({ result, failure, cancelled }: Ended, progress: ProgressView): string[] {
  const said = new Set(Object.entries(progress).map(([key, value]) => `${key} ${JSON.stringify(value)}`));
  const parts = Object.entries({ ...(result as object | undefined), ...(failure?.report ?? cancelled) })
    .map(([key, value]) => `${key} ${JSON.stringify(value)}`)
    .filter((line) => !said.has(line));
  return [
    `ended     ${failure?.type ?? (cancelled ? 'cancelled' : 'with a result')}`,
    ...parts.map((line) => `  ${line}`),
  ];
}
