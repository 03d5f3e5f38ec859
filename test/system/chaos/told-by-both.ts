/** Of two runs of one saga, what their outcomes say together. */
import type { Report } from '../../../src/domain/results';
import { leftoversOf, reportOf, type Ended } from '../../support/sagas';

/**
 * The outcome of a run stands, also when somebody made another one after it: what either says is told. No word says it
 * all: `partly`.
 */
export function toldByBoth(before: Ended, last: Ended): Ended {
  if (isUntouched(last)) return before;
  const leftovers = [...leftoversOf(before), ...leftoversOf(last)];
  const result = last.result ?? before.result;
  if (result !== undefined) return { result: { ...result, outcome: 'partly', leftovers } };
  const together = (report: Report): Report => {
    const steps = doneInEither(report, reportOf(before));
    return { ...report, outcome: 'partly', leftovers, steps };
  };
  if (last.failure) return { failure: { ...last.failure, report: together(last.failure.report) } };
  return last.cancelled ? { cancelled: together(last.cancelled) } : last;
}

/** It says nothing of what other runs did. */
export function isUntouched(ended: Ended): boolean {
  return reportOf(ended)?.outcome === 'untouched';
}

function doneInEither({ steps }: Report, before: Report | undefined): Report['steps'] {
  const done = new Map(before?.steps.filter(({ status }) => status === 'done').map((step) => [step.id, step]));
  return steps.map((step) => done.get(step.id) ?? step);
}
