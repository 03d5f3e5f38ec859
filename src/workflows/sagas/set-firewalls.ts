/**
 * Change which firewalls protect a server.
 *
 * ```text
 *   list what is assigned (10)
 *   assign what is missing (8), unassign what is too much (9)     ↩ bring it back to the set of before
 *   look whether the list shows it (10)
 * ```
 *
 * If the saga does not reach its end, it looks for what its other runs have left (10).
 */
import type { ResultOf } from '../../domain/results';
import { activities } from '../../saga/activities';
import { runSaga } from '../../saga/run-saga';
import type { DefineSaga } from '../../saga/definition';
import { FirewallChange, reportOthers, type Changes } from '../steps/firewall-change';

export function setFirewalls(input: unknown): Promise<ResultOf['setFirewalls']> {
  return runSaga('setFirewalls', input, changing);
}

const changing: DefineSaga<'setFirewalls', never> = (saga, request) => {
  const { reference, vmObjectId } = request;
  let change: FirewallChange | undefined;
  const changed: Changes = { assigned: new Set(), unassigned: new Set() };
  return {
    begin: () => {
      change = undefined;
    },
    finish: async () => {
      const listing = saga.step('list-firewalls', 'List the firewalls that are assigned');
      const list = await saga.must(
        {
          step: listing,
          act: ({ retry }) => activities('list firewalls').listFirewalls({ vmObjectId, after: 'changes', retry }),
        },
        { refusal: 'FirewallsRejected' },
      );
      change = new FirewallChange(saga, request, list, changed);
      await change.make();
      // The rest only looks.
      saga.deadline.lift();
      const seen = await change.verify();
      const { assign, unassign } = change;
      const { leftovers } = saga.progress;
      const told = { reference, vmObjectId, assigned: assign, unassigned: unassign, ...seen };
      return leftovers.length > 0 ? { ...told, leftovers } : told;
    },
    undo: async (standing) => change?.undo(standing),
    describeUndo: () => (change?.isBegun ? 'It restores the firewalls that it has changed.' : undefined),
    reportLeftovers: (standing) => reportOthers(saga, request, standing, { change, changed }),
  };
};
