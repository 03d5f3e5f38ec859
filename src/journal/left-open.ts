/**
 * What the calls of a saga without an ending have made, and not put back. If the saga still runs, it will use or undo
 * this; if it is lost, these are its leftovers, and no other report has them.
 */
import { correctedBy } from '../domain/corrections';
import type { Leftover } from '../domain/leftovers';
import type { RecordedEffect, SagaRecord } from '../domain/record';
import { serversOrdered } from '../domain/plan-types';
import type { ProvisionServersRequest } from '../domain/requests';
import { notPutBack } from './put-back-firewalls';

type Open = Pick<SagaRecord, 'workflow' | 'placement' | 'request' | 'corrections' | 'servers'>;

export function leftOpen(
  { workflow, placement, request, corrections, servers = [] }: Open,
  effects: readonly RecordedEffect[],
): Leftover[] {
  const pivot = effects.find(({ kind, outcome }) => kind === 'pivot' && outcome !== 'not-done' && outcome !== 'denied');
  const named = pivot?.about.cartItems ?? [];
  const made = effects
    .filter(({ kind }) => kind === 'mutate')
    .flatMap((effect) => madeBy(effect, effects, named, placement));
  if (workflow !== 'provisionServers') return [...made, ...unknownPlacement(pivot, placement)];
  const items = made.filter(({ kind }) => kind !== 'firewalls');
  const unprotected = placement === 'placed' ? unprotectedBy({ request, corrections, servers }, effects) : [];
  return [...items, ...unknownPlacement(pivot, placement), ...unprotected];
}

/** @param named the items of an order that was placed, or may have been */
function madeBy(
  effect: RecordedEffect,
  effects: readonly RecordedEffect[],
  named: readonly number[],
  placement: SagaRecord['placement'],
): Leftover[] {
  const { activity, outcome, about } = effect;
  const { item, cartItemId, vmObjectId } = about;
  if (cartItemId !== undefined && outcome !== 'undone') {
    const perhaps = outcome === 'done' ? '' : 'perhaps ';
    if (!named.includes(cartItemId)) {
      return [{ kind: 'cart-item', cartItemId, why: `it was ${perhaps}added, and not deleted` }];
    }
    const why = 'it may belong to an order, and nobody knows whether that order was placed';
    return placement === 'unknown' ? [{ kind: 'cart-item', cartItemId, why }] : [];
  }
  if (outcome !== 'done' && mayBeThere(outcome) && item !== undefined) {
    return [{ kind: 'cart-item-unknown', item, why: 'a call to add it ended without an answer' }];
  }
  const firewalls = notPutBack(effect, effects);
  if (!mayBeThere(outcome) || vmObjectId === undefined || firewalls.length === 0) return [];
  const changed = activity === 'assignFirewalls' ? 'assigned' : 'unassigned';
  const why = `${outcome === 'done' ? '' : 'perhaps '}${changed}, and the saga has not ended`;
  return [{ kind: 'firewalls', vmObjectId, firewalls, why }];
}

const mayBeThere = (outcome: RecordedEffect['outcome']) =>
  outcome === 'done' || outcome === 'meant' || outcome === 'unknown';

function unknownPlacement(pivot: RecordedEffect | undefined, placement: SagaRecord['placement']): Leftover[] {
  if (placement !== 'unknown') return [];
  const why = 'the journal does not say whether it was placed';
  return [{ kind: 'placement-unknown', step: pivot?.step ?? 'unknown', why }];
}

function unprotectedBy(
  { request, corrections, servers = [] }: Pick<Open, 'request' | 'corrections' | 'servers'>,
  effects: readonly RecordedEffect[],
): Leftover[] {
  if (request === undefined) return [];
  const said = corrections.map(({ correction }) => correction);
  const { firewalls = [], items } = correctedBy(said, 'provisionServers', request) as ProvisionServersRequest;
  if (firewalls.length === 0) return [];
  const ids = servers.map(({ vmObjectId }) => vmObjectId);
  return lacking(firewalls, { servers: ids, ordered: serversOrdered(items).least }, effects);
}

/** @param ordered servers at least, so far as it is known */
function lacking(
  wanted: readonly number[],
  { servers, ordered }: { servers: readonly number[]; ordered: number },
  effects: readonly RecordedEffect[],
): Leftover[] {
  const why = 'they were not assigned, and the saga has not ended';
  const calls = effects.filter(({ kind, activity }) => kind === 'mutate' && activity === 'assignFirewalls');
  const known = new Set([...servers, ...calls.flatMap(({ about }) => about.vmObjectId ?? [])]);
  const bare = [...known].flatMap((vmObjectId): Leftover[] => {
    const done = calls.filter(({ outcome, about }) => outcome === 'done' && about.vmObjectId === vmObjectId);
    const assigned = done.flatMap(({ about }) => about.firewalls ?? []);
    const firewalls = wanted.filter((id) => !assigned.includes(id));
    return firewalls.length > 0 ? [{ kind: 'server-unprotected', vmObjectId, firewalls, why }] : [];
  });
  // Of an order whose servers the journal does not all know.
  const unnamed: Leftover[] =
    known.size < Math.max(ordered, 1) ? [{ kind: 'server-unprotected', firewalls: [...wanted], why }] : [];
  return [...bare, ...unnamed];
}
