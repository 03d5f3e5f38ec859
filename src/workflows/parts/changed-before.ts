/** What other runs of a saga have changed of a server's firewalls, and left. */
import type { SetFirewallsRequest } from '../../domain/requests';
import { activities } from '../../saga/activities';
import { attempt } from '../../saga/attempts';
import { Step } from '../../saga/progress';
import type { Saga } from '../../saga/saga';
import { readable } from './firewall-change';

/**
 * This run takes the changes of an earlier run for the state before, and does not undo them: others may rely on them by
 * now. It reports them where the server still shows them, or where the list cannot be read; and its own of before a
 * journal was restored. Where the journal cannot be read, it reports what the request may have changed.
 */
export async function reportOthers(
  saga: Saga,
  { vmObjectId, exactly, assign = [], unassign = [] }: SetFirewallsRequest,
): Promise<void> {
  const { progress, journal } = saga;
  if (!journal.isOwn && !journal.inDoubt) return;
  const reported = progress.leftovers.flatMap((one) => (one.kind === 'firewalls' ? one.firewalls : []));
  const unreported = (firewalls: readonly number[]) => firewalls.filter((id) => !reported.includes(id));
  const step = saga.unlistedStep('read-changed', 'Look into the journal for what other runs have changed');
  const changed = await saga.one({
    step,
    act: ({ retry }) => activities('read what was changed').readChanged({ vmObjectId, ...journal.toCompare, retry }),
  });
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
