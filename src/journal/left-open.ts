/**
 * What the calls of a saga without an ending have made, and not undone. If the saga still runs, it will use or undo
 * this; if it is lost, these are its leftovers, and no other report has them.
 */
import { correctedBy } from '../domain/corrections';
import type { Leftover } from '../domain/leftovers';
import type { SagaRecord } from '../domain/record';
import { serversOrdered } from '../domain/plan-types';
import type { ProvisionServersRequest } from '../domain/requests';
import type { Made, State, StateRow } from './state';

type Open = Pick<SagaRecord, 'workflow' | 'placement' | 'request' | 'corrections' | 'servers'>;

export function leftOpen(
  { workflow, placement, request, corrections, servers = [] }: Open,
  state: State<StateRow>,
): Leftover[] {
  const perhaps = ({ isSure }: { isSure: boolean }) => (isSure ? '' : 'perhaps ');
  const item = ({ cartItemId }: Made, why: string): Leftover => ({ kind: 'cart-item', cartItemId, why });
  const doubtful = 'it may belong to an order, and nobody knows whether that order was placed';
  const unknown = 'the journal does not say whether it was placed';
  const placed = placement === 'placed' ? unprotectedBy({ request, corrections, servers }, state) : [];
  return [
    ...state.items.map((made) => item(made, `it was ${perhaps(made)}added, and not deleted`)),
    ...(placement === 'unknown' ? state.perhapsOrdered.map((made) => item(made, doubtful)) : []),
    ...state.doubtfulAdds.map((number): Leftover => {
      return { kind: 'cart-item-unknown', item: number, why: 'a call to add it ended without an answer' };
    }),
    ...(workflow === 'provisionServers'
      ? placed
      : state.firewalls.map((changed): Leftover => {
          const { activity, vmObjectId, firewalls } = changed;
          const what = activity === 'assignFirewalls' ? 'assigned' : 'unassigned';
          return {
            kind: 'firewalls',
            vmObjectId,
            firewalls,
            why: `${perhaps(changed)}${what}, and the saga has not ended`,
          };
        })),
    ...(placement === 'unknown'
      ? [{ kind: 'placement-unknown' as const, step: state.pivot?.step ?? 'unknown', why: unknown }]
      : []),
  ];
}

function unprotectedBy(
  { request, corrections, servers = [] }: Pick<Open, 'request' | 'corrections' | 'servers'>,
  state: State<StateRow>,
): Leftover[] {
  if (request === undefined) return [];
  const said = corrections.map(({ correction }) => correction);
  const { firewalls = [], items } = correctedBy(said, 'provisionServers', request) as ProvisionServersRequest;
  if (firewalls.length === 0) return [];
  const ids = servers.map(({ vmObjectId }) => vmObjectId);
  return lacking(firewalls, { servers: ids, ordered: serversOrdered(items).least }, state);
}

/** @param ordered servers at least, so far as it is known */
function lacking(
  wanted: readonly number[],
  { servers, ordered }: { servers: readonly number[]; ordered: number },
  state: State<StateRow>,
): Leftover[] {
  const why = 'they were not assigned, and the saga has not ended';
  const known = new Set([...servers, ...state.servers]);
  const bare = [...known].flatMap((vmObjectId): Leftover[] => {
    const assigned = state.firewalls.flatMap((one) =>
      one.isSure && one.activity === 'assignFirewalls' && one.vmObjectId === vmObjectId ? one.firewalls : [],
    );
    const firewalls = wanted.filter((id) => !assigned.includes(id));
    return firewalls.length > 0 ? [{ kind: 'server-unprotected', vmObjectId, firewalls, why }] : [];
  });
  // An order whose servers the journal does not all know.
  const unnamed: Leftover[] =
    known.size < Math.max(ordered, 1) ? [{ kind: 'server-unprotected', firewalls: [...wanted], why }] : [];
  return [...bare, ...unnamed];
}
