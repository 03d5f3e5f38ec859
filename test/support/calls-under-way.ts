/** Calls of which the provider has not finished yet. */
import { fits } from '../../sandbox/faults';
import type { CallMatch } from '../../sandbox/call-match';
import type { Call, LedgerSnapshot } from '../../sandbox/ledger';

/** Not answered, and no fault has decided what becomes of it: it may take effect yet. */
export function isUnderWay({ status, faults }: Call): boolean {
  return status === null && faults.every(({ kind }) => kind === 'gate');
}

export function anyUnderWay({ calls }: LedgerSnapshot, match: CallMatch): boolean {
  return calls.some((call) => isUnderWay(call) && fits(call, { endpoint: '*', match }));
}
