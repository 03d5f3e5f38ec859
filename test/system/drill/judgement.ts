/**
 * What a night has come to: asked of the provider's ledger and of the journal, and of the sagas only where they must
 * own up. Each sentence is something that must not be; none is good.
 */
import { openCartItems, changeOrdersOf, firewallsOf, ordersWithLabel, switchesOf } from '../../../sandbox/sentences';
import type { LedgerSnapshot, OrderPlaced } from '../../../sandbox/ledger';
import type { Leftover } from '../../../src/domain/leftovers';
import type { SweepReport } from '../../../src/domain/reconcile';
import { brokenByAll, brokenPromises, type Asked } from '../../support/promises';
import { differences, type Row } from '../../support/rows-and-ledger';
import type { Ended } from '../../support/sagas';
import { busiestWindows } from './rate';

export interface Night {
  ledger: LedgerSnapshot;
  /** All rows of the journal. */
  rows: readonly Row[];
  sagas: readonly Lived[];
  /** The limit of calls. */
  callsPerSecond: number;
  /** Of the sweep at the end. */
  sweep: Pick<SweepReport, 'outcome' | 'counts'> | undefined;
}

export interface Lived {
  asked: Asked;
  /** Absent for one that has not ended. */
  ended?: Ended;
}

export const questions = ['doubled', 'lost', 'in the cart', 'unprotected', 'too fast', 'not as written'] as const;
export type Question = (typeof questions)[number];

/** @returns to each question what breaks it */
export function judge(night: Night): Record<Question, string[]> {
  const { ledger, rows, sagas, callsPerSecond, sweep } = night;
  const broken = sagas.flatMap(({ asked, ended }) => (ended ? brokenPromises(ledger, asked, ended) : []));
  const swept = sweep?.outcome === 'clean' ? [] : [`the sweep at the end: ${JSON.stringify(sweep ?? 'none ended')}`];
  return {
    doubled: [...brokenByAll(ledger), ...sagas.flatMap(({ asked }) => doubled(ledger, asked))],
    lost: sagas.flatMap((lived) => lost(ledger, lived)),
    'in the cart': openCartItems(ledger).map(({ cartItemId }) => `cart item ${cartItemId} is left in the cart`),
    unprotected: sagas.flatMap(({ asked }) => unprotected(ledger, asked)),
    'too fast': busiestWindows(ledger.calls, callsPerSecond)
      .filter(({ calls, allowed }) => calls > allowed)
      .map(({ seconds, calls, allowed }) => `${calls} calls within ${seconds} s, and ${allowed} are allowed`),
    'not as written': [...differences(rows, ledger), ...broken, ...swept],
  };
}

/** Of cart items that it may have added, and whose ids nobody knows: a person looks for so many in the panel. */
export function doubtfulAddsOf({ ended }: Lived): number {
  return leftoversOf(ended).filter(({ kind }) => kind === 'cart-item-unknown').length;
}

function doubled(ledger: LedgerSnapshot, asked: Asked): string[] {
  const times = timesPlaced(ledger, asked);
  return times > 1 ? [`${nameOf(asked)} was placed ${times} times`] : [];
}

/** Nobody asked for any to be reversed: each is there in the end, and its saga says so. */
function lost(ledger: LedgerSnapshot, { asked, ended }: Lived): string[] {
  const name = nameOf(asked);
  if (ended === undefined) return [`${name} has not ended`];
  if (timesPlaced(ledger, asked) === 0) return [`${name} was never placed`];
  const { outcome, skipped = [] } = (ended.result ?? {}) as { outcome?: string; skipped?: string[] };
  // What a call without an answer may have added is told, and changes nothing of what was bought.
  const isOnlyDoubt = skipped.length === 0 && leftoversOf(ended).every(({ kind }) => kind === 'cart-item-unknown');
  if (outcome === 'done' || (outcome === 'partly' && isOnlyDoubt)) return [];
  return [`${name} is not done: ${JSON.stringify(ended)}`];
}

function unprotected(ledger: LedgerSnapshot, asked: Asked): string[] {
  if (asked.workflow !== 'provisionServers') return [];
  const { firewalls: wanted = [] } = asked.request;
  return ordersOf(ledger, asked)
    .flatMap(({ vmObjectIds }) => vmObjectIds)
    .filter((id) => wanted.some((firewall) => !firewallsOf(ledger, id).includes(firewall)))
    .map((id) => `server ${id} of ${nameOf(asked)} lacks a firewall`);
}

function timesPlaced(ledger: LedgerSnapshot, asked: Asked): number {
  switch (asked.workflow) {
    case 'changeOrder':
      return changeOrdersOf(ledger, asked.request.subscription_id).length;
    case 'switchPlan':
      return switchesOf(ledger, asked.request.subscription_id).length;
    default:
      return ordersOf(ledger, asked).length;
  }
}

/** The label is the reference. */
function ordersOf(ledger: LedgerSnapshot, { request }: Asked): OrderPlaced[] {
  return ordersWithLabel(ledger, request.reference);
}

function leftoversOf(ended: Ended | undefined): Leftover[] {
  return (ended?.result as { leftovers?: Leftover[] } | undefined)?.leftovers ?? [];
}

function nameOf({ workflow, request }: Asked): string {
  return `${workflow} ${request.reference}`;
}
