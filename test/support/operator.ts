/**
 * The person in front of the Web UI, who looks into the provider's control panel before saying what is there. The ledger is
 * that panel: what is told here is true.
 */
import { changeOrdersOf, ordersWithLabel, switchesOf } from '../../sandbox/sentences';
import type { LedgerSnapshot } from '../../sandbox/ledger';
import type { DecisionName } from '../../src/domain/decisions';
import type { Waiting } from '../../src/domain/progress';
import type { Asked } from './promises';

/** `cancel` is no decision of the contract, but fits every wait. */
export interface Fitting {
  decision: DecisionName | 'cancel';
  body: Record<string, unknown>;
}

/** Every decision that fits the wait and is true; first the one that brings the saga on. */
export function fittingDecisions({ choices }: Waiting, ledger: LedgerSnapshot, asked: Asked): Fitting[] {
  const seen = { by: 'op', note: 'as the control panel shows' };
  const placed = isPlaced(ledger, asked);
  const vmObjectIds = ordersWithLabel(ledger, asked.request.reference)[0]?.vmObjectIds;
  const bodies: Record<DecisionName, Record<string, unknown>[]> = {
    retry: [{ by: 'op' }],
    approve: [{ by: 'op' }],
    confirmPlaced: placed ? [seen, ...(asked.workflow === 'provisionServers' ? [{ ...seen, vmObjectIds }] : [])] : [],
    confirmNotPlaced: placed ? [] : [seen],
    provideServers: [{ by: 'op', vmObjectIds }],
    skip: [seen],
    reject: [{ by: 'op', reason: 'too dear' }],
  };
  const decisions = choices.flatMap((decision) => bodies[decision].map((body) => ({ decision, body })));
  return [...decisions, { decision: 'cancel', body: {} }];
}

export function isPlaced(ledger: LedgerSnapshot, { workflow, request }: Asked): boolean {
  switch (workflow) {
    case 'changeOrder':
      return changeOrdersOf(ledger, request.subscription_id).length > 0;
    case 'switchPlan':
      return switchesOf(ledger, request.subscription_id).length > 0;
    default:
      return ordersWithLabel(ledger, request.reference).length > 0;
  }
}
