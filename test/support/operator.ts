/**
 * The person in front of the Web UI, who looks into the provider's control panel before saying what is there. The
 * ledger is that panel: what is told here is true.
 */
import { firewallsOf, openCartItems, ordersWithLabel } from '../../sandbox/sentences';
import type { LedgerSnapshot } from '../../sandbox/ledger';
import type { Sandbox } from '../../sandbox/server';
import type { SagaHandle } from '../../src/client/handle';
import type { DecisionName } from '../../src/domain/decisions';
import type { Waiting } from '../../src/domain/progress';
import { placementsOf, type Asked } from './promises';
import { answer, outcomeOf, untilWaitingOrEnded, type Ended } from './sagas';

/** What goes with a word of a person that stays in the journal. */
export const said = { by: 'op', note: 'a test' };
export const saidThere = ['--by', said.by, '--note', said.note];

/** `cancel` is no decision of the contract, but fits every wait. */
export interface Fitting {
  decision: DecisionName | 'cancel';
  body: Record<string, unknown>;
}

/** Every decision that fits the wait and is true; first the one that brings the saga on. */
export function fittingDecisions(waiting: Waiting, ledger: LedgerSnapshot, asked: Asked): Fitting[] {
  const { choices } = waiting;
  const seen = { by: 'op', note: 'as the control panel shows' };
  const placed = placementsOf(ledger, asked).length > 0;
  const vmObjectIds = ordersWithLabel(ledger, asked.request.reference)[0]?.vmObjectIds;
  const steps = stepsDone(waiting, ledger, asked);
  const bodies: Record<DecisionName, Record<string, unknown>[]> = {
    retry: [{ by: 'op' }],
    approve: [{ by: 'op' }],
    // The sandbox cancels no order.
    markCancelled: [],
    confirmPlaced: placed ? [seen, ...(asked.workflow === 'provisionServers' ? [{ ...seen, vmObjectIds }] : [])] : [],
    confirmNotPlaced: placed ? [] : [seen],
    provideServers: [{ by: 'op', vmObjectIds }],
    skip: [seen],
    markDone: steps.length > 0 ? [{ ...seen, steps }] : [],
    reject: [{ by: 'op', reason: 'too dear' }],
  };
  const decisions = choices.flatMap((decision) => bodies[decision].map((body) => ({ decision, body })));
  return [...decisions, { decision: 'cancel', body: {} }];
}

/** Says whatever it asks for, as the first decision that fits, until it has ended. */
export async function toItsEnd(saga: SagaHandle, asked: Asked, { ledger }: Pick<Sandbox, 'ledger'>): Promise<Ended> {
  for (;;) {
    const waiting = await untilWaitingOrEnded(saga);
    if (waiting === undefined) return outcomeOf(saga);
    const [first] = fittingDecisions(waiting, ledger, asked);
    if (first === undefined || first.decision === 'cancel') throw new Error(`nothing fits ${waiting.question}`);
    await answer(saga, first.decision, first.body);
  }
}

/** Of the steps that wait, those that the control panel shows as done. */
function stepsDone({ step, steps = [step], question }: Waiting, ledger: LedgerSnapshot, asked: Asked): string[] {
  if (asked.workflow !== 'provisionServers' && asked.workflow !== 'cleanCart') return [];
  const { firewalls: wanted = [] } = asked.request as { firewalls?: number[] };
  const isOpen = (item: number) => openCartItems(ledger).some(({ cartItemId }) => cartItemId === item);
  // The step of an undo is the one that added the item: which one that was, only the question says.
  const [, undone] = /^Undoing: “Delete cart item (\d+)”/.exec(question) ?? [];
  if (undone !== undefined) return isOpen(Number(undone)) ? [] : [step];
  return steps.filter((one) => {
    const [, what, id = ''] = /^(assign-firewalls|verify-firewalls|delete-cart-item)-(\d+)$/.exec(one) ?? [];
    if (what === 'delete-cart-item') return !isOpen(Number(id));
    return what !== undefined && wanted.every((firewall) => firewallsOf(ledger, Number(id)).includes(firewall));
  });
}
