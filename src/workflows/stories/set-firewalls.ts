/**
 * Change which firewalls protect a server.
 *
 * ```text
 *   list what is assigned (10)
 *   assign what is missing (8), unassign what is too much (9)     ↩ bring it back to the set of before
 *   look whether the list shows it (10)
 * ```
 *
 * Where the saga does not reach its end, it looks for what its other runs have left (10).
 */
import type { SetFirewallsRequest } from '../../domain/requests';
import type { ResultOf } from '../../domain/results';
import { activities } from '../../saga/activities';
import { attempt } from '../../saga/attempts';
import { Step } from '../../saga/progress';
import { runSaga } from '../../saga/run-saga';
import type { Saga } from '../../saga/saga';
import type { StoryOf } from '../../saga/story';
import { FirewallChange, readable } from '../parts/firewall-change';

export function setFirewalls(input: unknown): Promise<ResultOf['setFirewalls']> {
  return runSaga('setFirewalls', input, changing);
}

const changing: StoryOf<'setFirewalls', never> = (saga, request) => {
  const { reference, vmObjectId } = request;
  let change: FirewallChange | undefined;
  return {
    finish: async () => {
      const listing = saga.step('list-firewalls', 'List the firewalls that are assigned');
      const list = await saga.must(
        {
          step: listing,
          act: ({ retry }) => activities('list firewalls').listFirewalls({ vmObjectId, after: 'changes', retry }),
        },
        { refusal: 'FirewallsRejected' },
      );
      change = new FirewallChange(saga, request, readable(list), list.doubtful);
      await change.make();
      // What follows only looks.
      saga.deadline.lift();
      const seen = await change.verify();
      const { assign, unassign } = change;
      const { leftovers } = saga.progress;
      const told = { reference, vmObjectId, assigned: assign, unassigned: unassign, ...seen };
      return leftovers.length > 0 ? { ...told, leftovers } : told;
    },
    undo: async () => change?.undo(),
    undoes: () => (change?.isBegun ? 'It restores the firewalls that it has changed.' : undefined),
    reportLeftovers: () => reportOthers(saga, request),
  };
};

/**
 * This run takes the changes of an earlier run for the state before, and does not undo them: others may rely on them by
 * now. It reports them where the server still shows them, or where the list cannot be read; and its own of before a
 * journal was restored. Where the journal cannot be read, it reports what the request may have changed.
 */
async function reportOthers(
  saga: Saga,
  { vmObjectId, exactly, assign = [], unassign = [] }: SetFirewallsRequest,
): Promise<void> {
  const { progress, journal } = saga;
  if (!journal.isOwn && !journal.inDoubt) return;
  const reported = progress.leftovers.flatMap((one) => (one.kind === 'firewalls' ? one.firewalls : []));
  const unreported = (firewalls: readonly number[]) => firewalls.filter((id) => !reported.includes(id));
  const step = saga.unlistedStep('read-changed', 'Look into the journal for what other runs have changed');
  const changed = await saga.one(
    {
      step,
      act: ({ retry }) => activities('read what was changed').readChanged({ vmObjectId, ...journal.toCompare, retry }),
    },
    { refusal: 'ask', skippable: true },
  );
  if (changed.skipped) {
    const firewalls = unreported(exactly ?? [...assign, ...unassign]);
    if (firewalls.length === 0 && exactly === undefined) return;
    const others = exactly === undefined ? '' : ', and others perhaps unassigned';
    const why = `perhaps changed by another run of this saga${others}: the journal could not be read, and a person went on without it`;
    progress.leave({ kind: 'firewalls', vmObjectId, firewalls, why });
    return;
  }
  journal.heard(changed.value);
  // The journal may have lost what this run did before it began again.
  const known = [changed.value, ...(journal.wasRestored ? [saga.changed] : [])];
  const assigned = unreported([...new Set(known.flatMap((one) => [...one.assigned]))]);
  const unassigned = unreported([...new Set(known.flatMap((one) => [...one.unassigned]))]);
  if (assigned.length + unassigned.length === 0) return;
  const looking = new Step('list-left', 'List the firewalls that are left');
  const looked = await attempt({ step: looking, journal, undoing: true }, ({ retry }) =>
    activities('list firewalls').listFirewalls({ vmObjectId, after: 'changes', retry }),
  );
  const now = looked.ok ? readable(looked.value) : undefined;
  const leave = (firewalls: number[], what: string) => {
    const by = journal.wasRestored ? 'this saga, perhaps before the journal was restored' : 'another run of this saga';
    const why = `${now ? '' : 'perhaps '}${what} by ${by}, and not undone`;
    if (firewalls.length > 0) progress.leave({ kind: 'firewalls', vmObjectId, firewalls, why });
  };
  leave(
    assigned.filter((id) => now?.includes(id) !== false),
    'assigned',
  );
  leave(
    unassigned.filter((id) => now?.includes(id) !== true),
    'unassigned',
  );
}
