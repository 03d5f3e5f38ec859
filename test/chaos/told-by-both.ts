/** Of two runs of one saga, what their outcomes say together. */
import type { Leftover } from '../../src/domain/leftovers';
import type { Ended } from '../support/sagas';

/** The outcome of a run stands, also when somebody made another one after it: what either says is told. */
export function toldByBoth(before: Ended, last: Ended): Ended {
  const leftovers = [...leftoversOf(before), ...leftoversOf(last)];
  const result = last.result ?? before.result;
  if (result !== undefined) return { result: { ...result, leftovers } };
  if (last.failure) return { failure: { ...last.failure, report: { ...last.failure.report, leftovers } } };
  return last.cancelled ? { cancelled: { ...last.cancelled, leftovers } } : last;
}

function leftoversOf({ result, failure, cancelled }: Ended): Leftover[] {
  return (
    (result as { leftovers?: Leftover[] } | undefined)?.leftovers ?? (failure?.report ?? cancelled)?.leftovers ?? []
  );
}
