/**
 * Change which firewalls protect a server.
 *
 * ```text
 *   list what is assigned (10)
 *   assign (8)            ↩ unassign what was not there before (9)
 *   look whether it is (10), where a person says that it was done by hand
 *   unassign (9)          ↩ assign again (8)
 *   look whether the list shows it (10)
 * ```
 *
 * Where the saga does not reach its end, it looks for what its other runs have left (10).
 *
 * Assigning comes first, and undoing goes backwards: the server never has fewer firewalls than before or after.
 */
import type { EffectContext } from '../activities/effect';
import type { Changed, FirewallList, ListFirewalls } from '../activities/firewalls';
import type { Effected, EffectKind } from '../domain/effects';
import type { CallFailure } from '../domain/failures';
import type { Leftover } from '../domain/leftovers';
import type { SetFirewallsRequest } from '../domain/requests';
import type { ResultOf, StoryResult } from '../domain/results';
import { attempt, failureOf } from '../saga/attempts';
import { seenByHand, type ByHand } from '../saga/by-hand';
import { Step } from '../saga/progress';
import { SagaFailed } from '../saga/ends';
import type { Saga, Undo } from '../saga/saga';
import type { StoryOf } from '../saga/story';
import { runSaga } from '../saga/run-saga';
import { activities } from '../saga/activities';
import { tellFailedLook, unverified } from './protect-servers';

export function setFirewalls(input: unknown): Promise<ResultOf['setFirewalls']> {
  return runSaga('setFirewalls', input, changing);
}

const changing: StoryOf<'setFirewalls', never> = (saga, request) => {
  const { reference, vmObjectId } = request;
  /** How to put back what was done, or perhaps; the last comes first. */
  const undos: (() => Promise<void>)[] = [];
  const finish = async (): Promise<StoryResult<'setFirewalls'>> => {
    const listing = saga.step('list-firewalls', 'List the firewalls that are assigned');
    const assigning = saga.step('assign-firewalls', 'Assign firewalls');
    const unassigning = saga.step('unassign-firewalls', 'Unassign firewalls');
    const verifying = saga.step('verify-firewalls', 'Verify the firewalls');

    const before = readable(
      await saga.must(
        {
          step: listing,
          act: ({ retry }) => activities('list firewalls').listFirewalls({ vmObjectId, after: 'changes', retry }),
        },
        { refusal: 'FirewallsRejected' },
      ),
    );
    const { assign, unassign } = difference(request, before);
    const assignment = { vmObjectId, firewalls: assign };
    const removal = { vmObjectId, firewalls: unassign };
    // A readable list counts more than what a person said earlier.
    const countsByHand = before === undefined ? { countsByHand: true } : {};

    const said = { byHand: false };
    const expect = request.exactly ?? request.assign ?? [];
    const shows = { expect, without: unassign, exactly: request.exactly !== undefined };
    /** The list, where the last change has seen in it what was wanted. */
    let shown: FirewallList | undefined;
    let tellFailed: (() => void) | undefined;
    const noting = async (step: Step, changing: Promise<Effected<Changed>>) => {
      const changed = await changing;
      const { list, failed } = changed.value;
      shown = list;
      tellFailed = () => {
        tellFailedLook(step, failed);
      };
      return changed;
    };
    if (assign.length === 0) assigning.end('skipped', 'nothing to assign');
    else {
      undos.unshift(() =>
        unassignAgain(saga, assigning, { vmObjectId, assigned: assign, before, replaced: unassign, by: unassigning }),
      );
      await saga.one(
        {
          step: assigning,
          act: (asked) => {
            const isLast = unassign.length === 0 ? { shows } : {};
            const assigned = { ...assignment, ...countsByHand, ...isLast, ...asked };
            for (const id of assign) saga.changed.assigned.add(id);
            return noting(assigning, activities('assign firewalls').assignFirewalls(assigned));
          },
          byHand: changed('mutate', 'assignFirewalls', assignment, () => (said.byHand = true)),
        },
        { refusal: 'FirewallsRejected' },
      );
    }
    if (unassign.length === 0) unassigning.end('skipped', 'nothing to unassign');
    else {
      if (said.byHand) await lookAgain(saga, assignment);
      undos.unshift(() => saga.undo([assignAgain(saga, unassigning, vmObjectId, unassign)]));
      await saga.one(
        {
          step: unassigning,
          act: (asked) => {
            const unassigned = { ...removal, ...countsByHand, shows, ...asked };
            for (const id of unassign) saga.changed.unassigned.add(id);
            return noting(unassigning, activities('unassign firewalls').unassignFirewalls(unassigned));
          },
          byHand: changed('mutate', 'unassignFirewalls', removal),
        },
        { refusal: 'FirewallsRejected' },
      );
    }

    // What follows only looks.
    saga.deadline.lift();
    /** What the list lacked, and still showed, when it was last read. */
    let denied: Denied = {};
    const outcome = await saga.one<FirewallList | typeof seenByHand>(
      {
        step: verifying,
        act: async ({ retry }) => {
          tellFailed?.();
          tellFailed = undefined;
          try {
            const looking = { vmObjectId, ...shows, after: 'undoing' as const, retry };
            const list = shown ?? (await activities('list firewalls').listFirewalls(looking));
            shown = undefined;
            return list;
          } catch (error) {
            const failure = failureOf(error);
            if (failure?.failure === 'NotVisibleYet') denied = failure;
            throw error;
          }
        },
        byHand: {
          counts: () => {
            denied = {};
            return seenByHand;
          },
        },
      },
      { refusal: 'ask', skippable: true },
    );
    const isSeen = !outcome.skipped && outcome.value === seenByHand;
    const after = outcome.skipped || outcome.value === seenByHand ? undefined : readable(outcome.value);
    const firewalls = after ?? asDenied(expected(before, assign, unassign), denied);
    if (!outcome.skipped && !isSeen && after === undefined) {
      verifying.say('unverified: the list’s format is not known');
      saga.progress.leave(unverified(vmObjectId, firewalls));
    }
    if (outcome.skipped) saga.progress.leave(...leftoversOf(vmObjectId, denied, outcome.note));
    const { leftovers } = saga.progress;
    return {
      reference,
      vmObjectId,
      assigned: assign,
      unassigned: unassign,
      firewalls,
      verified: after !== undefined,
      ...(leftovers.length > 0 ? { leftovers } : {}),
    };
  };
  return {
    finish,
    undo: async () => {
      if (undos.length > 0) saga.progress.enter('undoing');
      for (let undo = undos.shift(); undo !== undefined; undo = undos.shift()) await undo();
    },
    undoes: () => (undos.length === 0 ? undefined : 'It puts back the firewalls that it has changed.'),
    reportLeftovers: () => reportOthers(saga, request),
  };
};

/**
 * This run takes the changes of an earlier run for the state before, and does not undo them: others may rely on them by
 * now. It reports them where the server still shows them, or where the list cannot be read; and its own of before a
 * journal was put back. Where the journal cannot be read, it reports what the request may have changed.
 */
async function reportOthers(
  saga: Saga,
  { vmObjectId, exactly, assign = [], unassign = [] }: SetFirewallsRequest,
): Promise<void> {
  const { progress, journal } = saga;
  if (!journal.isOwn && !journal.inDoubt) return;
  const reported = progress.leftovers.flatMap((one) => (one.kind === 'firewalls' ? one.firewalls : []));
  const unreported = (firewalls: readonly number[]) => firewalls.filter((id) => !reported.includes(id));
  const step = saga.quietStep('read-changed', 'Look into the journal for what other runs have changed');
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
  const known = [changed.value, ...(journal.wasPutBack ? [saga.changed] : [])];
  const assigned = unreported([...new Set(known.flatMap((one) => [...one.assigned]))]);
  const unassigned = unreported([...new Set(known.flatMap((one) => [...one.unassigned]))]);
  if (assigned.length + unassigned.length === 0) return;
  const looking = new Step('list-left', 'List the firewalls that are left');
  const looked = await attempt<FirewallList>({ step: looking, journal, undoing: true }, ({ retry }) =>
    activities('list firewalls').listFirewalls({ vmObjectId, after: 'changes', retry }),
  );
  const now = looked.ok ? readable(looked.value) : undefined;
  const leave = (firewalls: number[], what: string) => {
    const by = journal.wasPutBack ? 'this saga, perhaps before the journal was put back' : 'another run of this saga';
    const why = `${now ? '' : 'perhaps '}${what} by ${by}, and not put back`;
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

type Denied = Pick<CallFailure, 'lacks' | 'surplus'>;

/**
 * A person says that they are assigned. Before others are unassigned, the list has to show them, where it can be read.
 */
async function lookAgain(
  saga: Saga,
  { vmObjectId, firewalls }: { vmObjectId: number; firewalls: number[] },
): Promise<void> {
  const step = saga.step('verify-assigned', 'Verify the firewalls that were assigned by hand');
  await saga.one<unknown>(
    {
      step,
      act: ({ retry }) => activities('list firewalls').listFirewalls({ vmObjectId, expect: firewalls, retry }),
      byHand: { counts: () => seenByHand },
    },
    { refusal: 'FirewallsRejected' },
  );
}

function asDenied(firewalls: readonly number[], { lacks = [], surplus = [] }: Denied): number[] {
  return [...firewalls.filter((id) => !lacks.includes(id) && !surplus.includes(id)), ...surplus];
}

/** Leftovers where a person skipped the last look although the list did not show what was done. */
function leftoversOf(vmObjectId: number, { lacks = [], surplus = [] }: Denied, note = ''): Leftover[] {
  const leftover = (firewalls: number[], what: string): Leftover[] =>
    firewalls.length === 0
      ? []
      : [
          {
            kind: 'firewalls',
            vmObjectId,
            firewalls,
            why: `the provider’s list ${what} them; a person left it out: ${note}`,
          },
        ];
  return [...leftover(lacks, 'does not show'), ...leftover(surplus, 'still shows')];
}

/** How a change that a person made in the control panel is written down. */
function changed(
  kind: EffectKind,
  activity: 'assignFirewalls' | 'unassignFirewalls',
  { vmObjectId, firewalls }: { vmObjectId: number; firewalls: readonly number[] },
  counts: () => unknown = () => undefined,
): ByHand<unknown> {
  return {
    counts,
    call: (step) => ({ step, kind, activity, about: { vmObjectId, firewalls: [...firewalls] } }),
  };
}

function readable(list: FirewallList): number[] | undefined {
  return 'firewalls' in list ? list.firewalls : undefined;
}

/** What must change, given what is assigned. Without a readable list, what was asked for is sent as it is. */
function difference(
  { exactly, assign = [], unassign = [] }: SetFirewallsRequest,
  before: readonly number[] | undefined,
): { assign: number[]; unassign: number[] } {
  if (before === undefined) {
    if (exactly === undefined) return { assign, unassign };
    throw new SagaFailed(
      'FirewallListUnreadable',
      'the format of the provider’s firewall list is not known, so an exact set cannot be computed; use assign and unassign',
    );
  }
  return {
    assign: (exactly ?? assign).filter((id) => !before.includes(id)),
    unassign: exactly ? before.filter((id) => !exactly.includes(id)) : unassign.filter((id) => before.includes(id)),
  };
}

interface Assigned {
  vmObjectId: number;
  assigned: readonly number[];
  before: readonly number[] | undefined;
  /** What the step `by` unassigns, or has unassigned, perhaps in another run, whose history this one does not have. */
  replaced: readonly number[];
  by: Step;
}

/**
 * Unassigns only what was not there before and is there now: a firewall that protected the server before stays. What it
 * replaced is put back first, no matter which run unassigned it, unless a person skipped that. What another saga has
 * assigned meanwhile stays and is reported. Where the first list could not be read, nobody knows what was there: all
 * stay and are reported.
 */
async function unassignAgain(
  saga: Saga,
  step: Step,
  { vmObjectId, assigned, before, replaced, by }: Assigned,
): Promise<void> {
  const leftover: Undo['leftover'] = (why) => ({
    kind: 'firewalls',
    vmObjectId,
    firewalls: [...assigned],
    why: `assigned: ${why}`,
  });
  if (before === undefined) {
    saga.leaveAlone(leftover('it cannot be put back safely'));
    return;
  }
  const undo: Omit<Undo, 'act'> = {
    step,
    title: 'Unassign the assigned firewalls again',
    byHand: changed('compensate', 'unassignFirewalls', { vmObjectId, firewalls: assigned }),
    leftover,
  };
  const look = (shown: Pick<ListFirewalls, 'expect' | 'without'>, { retry }: EffectContext) =>
    activities('list firewalls').listFirewalls({ vmObjectId, undoing: true, ...shown, retry });
  const act: Undo['act'] = async (asked) => {
    const list = await look({}, asked);
    const now = readable(list);
    const isGone = (id: number) => now?.includes(id) !== true;
    const missing = by.status === 'skipped' ? [] : replaced.filter(isGone);
    if (missing.length > 0) {
      const putBack = { vmObjectId, firewalls: missing, undoing: true, ...asked, step: by.id };
      await saga.journal.learn(await activities('assign firewalls again').assignFirewalls(putBack), null);
    }
    const there = now === undefined ? [...assigned] : assigned.filter((id) => !isGone(id));
    const kept = there.filter((id) => list.others?.includes(id));
    const firewalls = there.filter((id) => !kept.includes(id));
    const removal = { vmObjectId, firewalls, undoing: true, ...asked };
    if (firewalls.length > 0) {
      await saga.journal.learn(await activities('unassign firewalls again').unassignFirewalls(removal), null);
    }
    if (missing.length + firewalls.length > 0) await look({ expect: missing, without: firewalls }, asked);
    if (kept.length > 0) {
      const why = 'assigned: another saga has assigned them meanwhile, and relies on them';
      saga.progress.leave({ kind: 'firewalls', vmObjectId, firewalls: kept, why });
    }
    return undefined;
  };
  await saga.undo([{ ...undo, act }]);
}

function assignAgain(saga: Saga, step: Step, vmObjectId: number, unassigned: readonly number[]): Undo {
  const firewalls = [...unassigned];
  return {
    step,
    title: 'Assign the unassigned firewalls again',
    act: async (asked) => {
      const putBack = { vmObjectId, firewalls, undoing: true, countsByHand: true, ...asked };
      await saga.journal.learn(await activities('assign firewalls again').assignFirewalls(putBack), null);
      const { retry } = asked;
      await activities('list firewalls').listFirewalls({ vmObjectId, expect: firewalls, undoing: true, retry });
    },
    byHand: changed('compensate', 'assignFirewalls', { vmObjectId, firewalls }),
    leftover: (why) => ({ kind: 'firewalls', vmObjectId, firewalls, why: `unassigned: ${why}` }),
  };
}

function expected(before: readonly number[] = [], assign: readonly number[], unassign: readonly number[]): number[] {
  return [...before.filter((id) => !unassign.includes(id)), ...assign];
}
