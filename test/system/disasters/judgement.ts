/**
 * What a disaster has come to: asked of the provider's ledger, and of the sagas only where they must own up. Each
 * sentence must not be.
 */
import type { LedgerSnapshot } from '../../../sandbox/ledger';
import { firewallsOf, openCartItems, ordersWithLabel } from '../../../sandbox/sentences';
import type { Leftover } from '../../../src/domain/leftovers';
import { isPlaced } from '../../support/operator';
import { brokenByAll, brokenPromises, type Asked } from '../../support/promises';
import { differences, type Row } from '../../support/rows-and-ledger';
import type { Ended } from '../../support/sagas';

export interface Lived {
  role: string;
  asked: Asked;
  /** Absent for one that has not ended. */
  ended?: Ended;
  /** It may have bought nothing, and says so. */
  mayEndEarly?: true;
}

export interface Aftermath {
  ledger: LedgerSnapshot;
  sagas: readonly Lived[];
  /** All rows of the journal; undefined where it has lost some, so that it cannot tell of all. */
  rows: readonly Row[] | undefined;
}

export function judge({ ledger, sagas, rows }: Aftermath): string[] {
  const told = sagas.flatMap(({ ended }) => leftoversOf(ended));
  const doubtful = told.filter(({ kind }) => kind === 'cart-item-unknown').length;
  const listed = told.flatMap((one) => (one.kind === 'cart-item' ? [one.cartItemId] : []));
  const open = openCartItems(ledger).filter(({ cartItemId }) => !listed.includes(cartItemId));
  return [
    ...brokenByAll(ledger),
    ...sagas.flatMap((lived) => forgotten(ledger, lived)),
    ...sagas.flatMap(({ asked, ended }) =>
      ended ? brokenPromises(ledger, asked, ended, firewallsOfOthers(sagas, asked)) : [],
    ),
    ...sagas.flatMap((lived) => unprotected(ledger, lived)),
    ...(open.length > doubtful ? [`${open.length} items are in the cart, and ${doubtful} are told of`] : []),
    ...(rows === undefined ? [] : differences(rows, ledger)),
  ];
}

/**
 * Nobody asked for any to be reversed, but by a deadline or an expiry: each has ended, and what it was to buy is there.
 */
function forgotten(ledger: LedgerSnapshot, { role, asked, ended, mayEndEarly }: Lived): string[] {
  const name = `${asked.workflow} ${asked.request.reference} (${role})`;
  if (ended === undefined) return [`${name} has not ended`];
  if (mayEndEarly && ended.result === undefined) return [];
  const buys = asked.workflow !== 'setFirewalls' && asked.workflow !== 'cleanCart';
  if (buys && !isPlaced(ledger, asked)) return [`${name} was never placed`];
  const { outcome } = (ended.result ?? {}) as { outcome?: string };
  const isOnlyDoubt = leftoversOf(ended).every(({ kind }) => kind === 'cart-item-unknown');
  return outcome === 'done' || (outcome === 'partly' && isOnlyDoubt)
    ? []
    : [`${name} is not done: ${JSON.stringify(ended)}`];
}

function unprotected(ledger: LedgerSnapshot, { asked }: Lived): string[] {
  if (asked.workflow !== 'provisionServers') return [];
  const { firewalls: wanted = [], reference } = asked.request;
  return ordersWithLabel(ledger, reference)
    .flatMap(({ vmObjectIds }) => vmObjectIds)
    .filter((id) => wanted.some((firewall) => !firewallsOf(ledger, id).includes(firewall)))
    .map((id) => `server ${id} of ${reference} lacks a firewall`);
}

/** Those that other sagas assign to the same server. */
function firewallsOfOthers(sagas: readonly Lived[], asked: Asked): number[] {
  if (asked.workflow !== 'setFirewalls') return [];
  return sagas.flatMap(({ asked: other }) =>
    other.workflow === 'setFirewalls' && other !== asked && other.request.vmObjectId === asked.request.vmObjectId
      ? (other.request.assign ?? [])
      : [],
  );
}

function leftoversOf(ended: Ended | undefined): Leftover[] {
  const { leftovers } = (ended?.result ?? ended?.failure?.report ?? ended?.cancelled ?? {}) as {
    leftovers?: Leftover[];
  };
  return leftovers ?? [];
}
