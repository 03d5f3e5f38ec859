/** The provider calls of a saga, by what it was asked for alone. */
import type { CallMatch } from '../../sandbox/call-match';
import type { EndpointName } from '../../sandbox/endpoints';
import { fits } from '../../sandbox/faults';
import type { Call, LedgerSnapshot } from '../../sandbox/ledger';
import { pivotOfEach, type Asked } from './promises';
import { planIdOf } from './requests';

/** By what the sandbox recognises them, and those of others that share its server or subscription. */
export function callsOf({ workflow, request }: Asked): CallMatch {
  switch (workflow) {
    case 'changeOrder':
    case 'switchPlan':
      return { subscriptionId: request.subscription_id };
    case 'setFirewalls':
      return { vmObjectId: request.vmObjectId };
    case 'provisionServers':
    case 'cleanCart':
      return { planId: planIdOf(request.reference) };
  }
}

export function pivotOf({ workflow, request }: Asked): EndpointName | undefined {
  return 'quoteOnly' in request && request.quoteOnly ? undefined : pivotOfEach[workflow];
}

/** Not answered, and no fault has decided what becomes of it: it may take effect yet. */
export function isUnderWay({ status, faults }: Call): boolean {
  return status === null && faults.every(({ kind }) => kind === 'gate');
}

export function anyUnderWay({ calls }: LedgerSnapshot, match: CallMatch): boolean {
  return calls.some((call) => isUnderWay(call) && fits(call, { endpoint: '*', match }));
}
