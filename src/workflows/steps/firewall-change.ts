/**
 * The firewalls of one server, brought from the set that is assigned to the one that is wanted, and back.
 *
 * ```text
 *   forward    assign what is missing ── look until it is active ── unassign what is too much ── look again
 *   back       the same, of the set of before
 * ```
 *
 * In both directions nothing is unassigned before the provider's list shows what is to be there as active: an answer to
 * an assignment is not its effect. Where the list cannot show that, a person is asked, and both sets stay until then.
 * What other runs of the saga have changed of it, and left, is reported.
 */
import type { EffectContext } from '../../activities/effect';
import type { FirewallList, How } from '../../activities/firewalls';
import type { ReferenceState } from '../../activities/journal';
import type { Leftover } from '../../domain/outcomes';
import type { SetFirewallsRequest } from '../../domain/requests';
import { learn } from '../../saga/attempts';
import { SagaFailed } from '../../saga/control-flow';
import type { Step } from '../../saga/shown/progress';
import type { Saga } from '../../saga/saga';
import { readable, ServerFirewalls, shownNow, unverified, whyUnverified } from './server-firewalls';

const refused = { refusal: 'FirewallsRejected' } as const;

/** Each look of an undo. */
const after = 'changes and others' as const;

/** Firewalls that a run has changed, or tried to, in all its begins: a journal that was restored lacks them. */
export type Changes = Record<'assigned' | 'unassigned', Set<number>>;

export class FirewallChange {
  readonly assign: number[];
  readonly unassign: number[];
  private readonly assigning: Step;
  private readonly unassigning: Step;
  private readonly verifying: Step;
  /** Those that the request wants to be there. */
  private readonly wanted: number[];
  /** In the first list; undefined where it could not be read. */
  private readonly before: readonly number[] | undefined;
  /** Only where others are unassigned: all that is wanted has to be active first. */
  private readonly awaiting?: Step;
  private readonly server: ServerFirewalls;
  /** A person has seen that all that is wanted is active. */
  private isSeen = false;

  constructor(
    private readonly saga: Saga,
    private readonly request: SetFirewallsRequest,
    first: FirewallList,
    private readonly changed: Changes,
  ) {
    this.server = new ServerFirewalls(request.vmObjectId);
    this.assigning = saga.step('assign-firewalls', 'Assign firewalls');
    const seen = readable(first);
    this.before = seen?.firewalls;
    const { assign, unassign } = difference(request, this.before, first.doubtful);
    this.assign = assign;
    this.unassign = unassign;
    this.wanted = request.exactly ?? request.assign ?? [];
    // Also of those that are listed already, nobody may know whether they are active.
    const isWaiting = assign.length > 0 || (this.wanted.length > 0 && seen?.active === undefined);
    if (unassign.length > 0 && isWaiting)
      this.awaiting = saga.step('await-assigned', 'Look whether what is assigned is active');
    this.unassigning = saga.step('unassign-firewalls', 'Unassign firewalls');
    this.verifying = saga.step('verify-firewalls', 'Verify the firewalls');
    if (assign.length === 0) this.assigning.end('skipped', 'nothing to assign');
    if (unassign.length === 0) this.unassigning.end('skipped', 'nothing to unassign');
  }

  async make(): Promise<void> {
    await this.send('assignFirewalls', this.assigning, this.assign);
    if (this.awaiting) {
      const shown = { expect: this.wanted, surely: true };
      const hear = (list?: FirewallList) => (this.isSeen = list === undefined);
      await this.saga.one(
        this.server.looking(this.awaiting, () => shown, hear),
        refused,
      );
    }
    await this.send('unassignFirewalls', this.unassigning, this.unassign);
  }

  private async send(how: How, step: Step, firewalls: number[]): Promise<void> {
    if (firewalls.length === 0) return;
    const { saga, server, changed } = this;
    const asks = () => {
      for (const id of firewalls) changed[how === 'assignFirewalls' ? 'assigned' : 'unassigned'].add(id);
      // A readable list counts more than what a person said earlier.
      const counts = this.before === undefined ? { countsByHand: true } : {};
      return { firewalls, ...counts, shows: this.shownAfter(how) };
    };
    await saga.one<unknown>(server.changing(step, how, asks), refused);
  }

  private shownAfter(how: How) {
    const { wanted: expect, unassign: without, request } = this;
    if (how === 'assignFirewalls' && this.awaiting) return { expect, surely: true };
    return { expect, without, exactly: request.exactly !== undefined };
  }

  /** @returns what is assigned then, as far as anybody knows */
  async verify(): Promise<{ firewalls: number[]; verified: boolean }> {
    const { saga, server, verifying, before = [], assign, unassign, wanted } = this;
    const { vmObjectId } = server;
    server.denied = {};
    const shown = { ...this.shownAfter('unassignFirewalls'), after: 'undoing' } as const;
    const outcome = await saga.one(server.looking(verifying, () => shown));
    const { seen: list } = server;
    const { lacks = [], surplus = [] } = server.denied;
    const after = readable(list);
    if (after && (after.active || wanted.length === 0)) return { firewalls: after.firewalls, verified: true };
    const supposed = [...before.filter((id) => !unassign.includes(id)), ...assign];
    const there = supposed.filter((id) => !lacks.includes(id) && !surplus.includes(id));
    const firewalls = after?.firewalls ?? [...there, ...surplus];
    if (outcome.skipped) {
      // Although the list did not show what was done.
      const why = (what: string) => `the provider’s list ${what} them; a person left it out: ${outcome.note ?? ''}`;
      const left = [
        ...firewallsLeft(vmObjectId, lacks, why('does not show')),
        ...firewallsLeft(vmObjectId, surplus, why('still shows')),
      ];
      saga.progress.addLeftovers(
        ...(left.length === 0 && server.isUndeclared ? [unverified(vmObjectId, firewalls)] : left),
      );
    }
    if (list !== undefined && !this.isSeen) {
      verifying.setDetail(`unverified: ${whyUnverified(list)}`);
      saga.progress.addLeftovers(unverified(vmObjectId, firewalls, list));
    }
    return { firewalls, verified: false };
  }

  /** Something was sent, or a person was asked about it. */
  get isBegun(): boolean {
    return wasTried(this.assigning) || wasTried(this.unassigning);
  }

  /**
   * Backwards: what it replaced is there again before anything is unassigned. Not where another run may rely on it by now:
   * then {@link reportOthers} reports it.
   */
  async undo(standing: ReferenceState | undefined): Promise<void> {
    if (!this.isBegun || standing === undefined || standing.isAfterAnother) return;
    this.saga.progress.enter('undoing');
    if (wasTried(this.unassigning)) await this.assignAgain();
    if (wasTried(this.assigning)) await this.unassignAgain();
  }

  /** Whatever a list shows: an own row counts more than one that may lag. */
  private async assignAgain(): Promise<void> {
    const { unassign, unassigning, assigning, before } = this;
    const surely = before !== undefined && wasTried(assigning);
    const act = async (asked: EffectContext) => {
      await this.undoCall('assignFirewalls', unassign, { countsByHand: true, ...asked });
      this.tellUnseen(unassign, await this.server.list({ expect: unassign, after, surely, retry: asked.retry }));
    };
    const title = 'Assign the unassigned firewalls again';
    await this.saga.undo([
      { step: unassigning, title, act, ...this.leaving('assignFirewalls', unassign, 'unassigned') },
    ]);
  }

  /**
   * Only what was not there before and is there now: a firewall that protected the server before stays. What it replaced
   * is undone first, no matter which run unassigned it. What another saga has assigned meanwhile stays and is reported.
   * Where the first list could not be read, nobody knows what was there, and where what it replaced was left out,
   * perhaps nothing else protects the server: all stay and are reported.
   */
  private async unassignAgain(): Promise<void> {
    const { saga, server, before, assign, assigning, unassign, unassigning } = this;
    const leaving = this.leaving('unassignFirewalls', assign, 'assigned');
    if (before === undefined || (unassign.length > 0 && unassigning.status === 'skipped')) {
      saga.keepInOrder(leaving.leftover('it cannot be undone safely'));
      return;
    }
    const act = async (asked: EffectContext) => {
      const { retry } = asked;
      const list = await server.list({ after, retry });
      const now = readable(list)?.firewalls;
      const isGone = (id: number) => now?.includes(id) !== true;
      // Sent whatever the list shows: neither call does harm where it was not needed.
      const isDoubtful = (id: number) => list.doubtful?.includes(id) === true;
      const missing = unassign.filter((id) => isGone(id) || isDoubtful(id));
      await this.undoCall('assignFirewalls', missing, asked);
      if (missing.length > 0) await server.list({ expect: missing, after, surely: true, retry });
      // Firewalls of the first list stay, also if that was doubtful.
      const own = assign.filter((id) => !before.includes(id));
      const there = now === undefined ? own : own.filter((id) => !isGone(id) || isDoubtful(id));
      const kept = there.filter((id) => list.others?.includes(id));
      const surplus = there.filter((id) => !kept.includes(id));
      await this.undoCall('unassignFirewalls', surplus, asked);
      if (surplus.length > 0) {
        const look = { expect: missing, without: surplus, after, retry };
        this.tellUnseen(surplus, await server.list(look));
      }
      const why = 'assigned: another saga has assigned them too, or may have, and relies on them';
      saga.progress.addLeftovers(...firewallsLeft(server.vmObjectId, kept, why));
    };
    await saga.undo([{ step: assigning, title: 'Unassign the assigned firewalls again', act, ...leaving }]);
  }

  /** How a person may do an undo instead, and what it is where it is left out. */
  private leaving(activity: How, firewalls: number[], what: string) {
    const { server } = this;
    const { vmObjectId } = server;
    return {
      byHand: server.byHand('compensate', activity, () => firewalls),
      leftover: (why: string): Leftover => ({ kind: 'firewalls', vmObjectId, firewalls, why: `${what}: ${why}` }),
    };
  }

  private tellUnseen(firewalls: readonly number[], list: FirewallList): void {
    if (this.server.isUndeclared && !readable(list))
      this.saga.progress.addLeftovers(unverified(this.server.vmObjectId, firewalls));
  }

  private async undoCall(how: How, firewalls: number[], asked: EffectContext & { countsByHand?: true }): Promise<void> {
    if (firewalls.length === 0) return;
    const step = how === 'assignFirewalls' ? this.unassigning : this.assigning;
    const undone = await this.server.change(how, step, { firewalls, undoing: true, ...asked, step: step.id });
    await learn(this.saga.journal, undone, null);
  }
}

function wasTried({ status }: Step): boolean {
  return status !== 'pending' && status !== 'skipped';
}

/** Compares the request with what is assigned. Without a readable list, the request is sent as it is. */
function difference(
  { exactly, assign = [], unassign = [] }: SetFirewallsRequest,
  before: readonly number[] | undefined,
  doubtful: readonly number[] = [],
): { assign: number[]; unassign: number[] } {
  if (before === undefined) {
    if (exactly === undefined) return { assign, unassign };
    throw new SagaFailed(
      'FirewallListUnreadable',
      'the provider’s firewall list cannot be read as a whole, so an exact set cannot be computed; use assign and unassign, or declare how it can (`firewalls` of the provider’s profile)',
    );
  }
  const perhaps = [...new Set([...before, ...doubtful])];
  return {
    assign: (exactly ?? assign).filter((id) => !before.includes(id) || doubtful.includes(id)),
    unassign: exactly ? perhaps.filter((id) => !exactly.includes(id)) : unassign.filter((id) => perhaps.includes(id)),
  };
}

function firewallsLeft(vmObjectId: number, firewalls: number[], why: string): Leftover[] {
  return firewalls.length === 0 ? [] : [{ kind: 'firewalls', vmObjectId, firewalls, why }];
}

/**
 * This run takes the changes of an earlier run for the state before, and does not undo them: others may rely on them by
 * now. It reports them where the server still shows them, or where the list cannot be read; and its own of before a
 * journal was restored. Where the journal cannot be read, it reports what the request may have changed.
 */
export async function reportOthers(
  saga: Saga,
  { vmObjectId, exactly, assign = [], unassign = [] }: SetFirewallsRequest,
  standing: ReferenceState | undefined,
  { change, changed }: { change: FirewallChange | undefined; changed: Changes },
): Promise<void> {
  const { progress, journal } = saga;
  if (!journal.isReferenceOurs && !journal.mayHaveLeftovers) return;
  const reported = progress.leftovers.flatMap((one) => (one.kind === 'firewalls' ? one.firewalls : []));
  const unreported = (firewalls: readonly number[]) => firewalls.filter((id) => !reported.includes(id));
  if (standing === undefined) {
    const firewalls = unreported(exactly ?? [...assign, ...unassign]);
    if (firewalls.length === 0 && exactly === undefined) return;
    const others = exactly === undefined ? '' : ', and others perhaps unassigned';
    const why = `perhaps changed by this saga${others}: the journal could not be read, and a person went on without it`;
    progress.addLeftovers({ kind: 'firewalls', vmObjectId, firewalls, why });
    return;
  }
  // What this run has changed it has undone since the look, or reported.
  const own = standing.isAfterAnother ? undefined : change;
  const left = (what: keyof Changes, undone: readonly number[] = []) => {
    const others = standing.changed?.[what].filter((id) => !undone.includes(id)) ?? [];
    // The journal may have lost what this run did before it began again.
    return unreported([...new Set([...others, ...(journal.wasRestored ? changed[what] : [])])]);
  };
  const [assigned, unassigned] = [left('assigned', own?.assign), left('unassigned', own?.unassign)];
  if (assigned.length + unassigned.length === 0) return;
  const now = (await shownNow(saga, { vmObjectId, after: 'changes' }))?.firewalls;
  const there = assigned.filter((id) => now?.includes(id) !== false);
  const gone = unassigned.filter((id) => now?.includes(id) !== true);
  const why = (what: keyof Changes) => `${now ? '' : 'perhaps '}${what} by this saga, and not undone`;
  progress.addLeftovers(...firewallsLeft(vmObjectId, there, why('assigned')));
  progress.addLeftovers(...firewallsLeft(vmObjectId, gone, why('unassigned')));
}
