/**
 * The verdict on a story: asked of the provider's ledger and of the journal, and of the sagas only where they must own
 * up. Each sentence is something that must not be; none is good.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { LedgerSnapshot } from '../../../sandbox/ledger';
import { openCartItems } from '../../../sandbox/sentences';
import type { SagaHandle } from '../../../src/client/handle';
import type { SetFirewallsRequest } from '../../../src/domain/requests';
import type { Report } from '../../../src/domain/results';
import { brokenByAll, brokenPromises, hiddenByWords, placementsOf, type Asked } from '../../support/promises';
import { differences, type Row } from '../../support/rows-and-ledger';
import { leftoversOf, outcomeOf, reportOf, type Ended } from '../../support/sagas';
import type { PlannedSaga } from './storm/plan';

export interface Lived {
  /** The saga that ended last: after a termination, the clean-up. */
  asked: Asked;
  ended?: Ended;
  role?: string;
  /** It may have bought nothing, and says so. */
  mayEndEarly?: true;
  /** By a plan that meddles with it. */
  planned?: PlannedSaga;
  /** How the run before it ended, where somebody made another one afterwards. */
  before?: Ended;
  /** How often it was started anew, because Temporal knew nothing of it any more. */
  startedAnew?: number;
  /** Temporal has forgotten some of what its runs did. */
  forgotten?: true;
  surprises?: string[];
}

/** Those that have ended say so at once; of one that is open nothing is heard. */
export async function endOf(saga: SagaHandle): Promise<Pick<Lived, 'ended'>> {
  const ended = await Promise.race([outcomeOf(saga).catch(() => undefined), pause(5_000, undefined)]);
  return ended === undefined ? {} : { ended };
}

/** @param rows all of the journal's; undefined where it has lost some, so that it cannot tell of all */
export function judge<L extends Lived>(ledger: LedgerSnapshot, sagas: readonly L[], rows: readonly Row[] | undefined) {
  const named = firewallsNamed(sagas);
  const accused = sagas.map((lived) => ({ lived, sentences: accusations(ledger, lived, named) }));
  return {
    doubled: brokenByAll(ledger),
    broken: accused.flatMap(({ sentences }) => sentences),
    differing: rows === undefined ? [] : differences(rows, ledger),
    suspects: accused.filter(({ sentences }) => sentences.length > 0).map(({ lived }) => lived),
  };
}

/** All that is wrong where nobody asks for any saga to be reversed, but by a deadline or an expiry. */
export function violationsOf(ledger: LedgerSnapshot, sagas: readonly Lived[], rows: readonly Row[] | undefined) {
  const { doubled, broken, differing } = judge(ledger, sagas, rows);
  return [...doubled, ...lost(ledger, sagas), ...broken, ...differing];
}

/** Each has ended, and what it was to buy is there. */
function lost(ledger: LedgerSnapshot, sagas: readonly Lived[]): string[] {
  return sagas.flatMap(({ role, asked, ended, mayEndEarly }) => {
    const name = `${asked.workflow} ${asked.request.reference}${role === undefined ? '' : ` (${role})`}`;
    if (ended === undefined) return [`${name} has not ended`];
    if (mayEndEarly && ended.result === undefined) return [];
    const buys = asked.workflow !== 'setFirewalls' && asked.workflow !== 'cleanCart';
    if (buys && placementsOf(ledger, asked).length === 0) return [`${name} was never placed`];
    const { outcome, skipped = [] } = (ended.result ?? {}) as { outcome?: string; skipped?: string[] };
    // Items that a call without an answer may have added, or that a restored journal cannot know to be ordered, are
    // told, and change nothing of what was bought.
    const isOrdered = (id: number) => !openCartItems(ledger).some(({ cartItemId }) => cartItemId === id);
    const isOnlyDoubt =
      skipped.length === 0 &&
      leftoversOf(ended).every(
        (one) => one.kind === 'cart-item-unknown' || (one.kind === 'cart-item' && isOrdered(one.cartItemId)),
      );
    if (outcome === 'done' || (outcome === 'partly' && isOnlyDoubt)) return [];
    return [`${name} is not done: ${JSON.stringify(ended)}`];
  });
}

/** Counts cart items that it may have added without knowing their ids: a person looks for so many in the panel. */
export function doubtfulAddsOf({ ended }: Lived): number {
  return leftoversOf(ended).filter(({ kind }) => kind === 'cart-item-unknown').length;
}

type FirewallsNamed = Map<number, { lived: Lived; firewalls: number[] }[]>;

function firewallsNamed(sagas: readonly Lived[]): FirewallsNamed {
  const named: FirewallsNamed = new Map();
  for (const lived of sagas) {
    const { asked, planned } = lived;
    const { request } = planned?.asked ?? asked;
    const { vmObjectId, assign = [], unassign = [] } = request as Partial<SetFirewallsRequest>;
    if (vmObjectId === undefined) continue;
    named.set(vmObjectId, [...(named.get(vmObjectId) ?? []), { lived, firewalls: [...assign, ...unassign] }]);
  }
  return named;
}

function accusations(ledger: LedgerSnapshot, lived: Lived, named: FirewallsNamed): string[] {
  const { asked, ended, surprises = [] } = lived;
  if (ended === undefined) return [];
  const sharing = asked.workflow === 'setFirewalls' ? (named.get(asked.request.vmObjectId) ?? []) : [];
  const ofOthers = sharing.flatMap((one) => (one.lived === lived ? [] : one.firewalls));
  const [first = [], ...others] = endings(lived, ended).map((one) => brokenPromises(ledger, asked, one, ofOthers));
  const broken = others.some((sentences) => sentences.length === 0) ? [] : first;
  const ofItsOwn = lived.before ? hiddenByWords(ended) : [];
  return [
    ...broken.filter((sentence) => !isOfForgottenRun(sentence, lived)),
    ...[...ofItsOwn, ...surprises].map((one) => `${asked.workflow} ${asked.request.reference}: ${one}`),
  ];
}

/**
 * The endings of its runs; one of them is true. Firewalls that an earlier run has changed, one that was made after
 * it and then cancelled may have undone: it depends on whether it began before the change or after it.
 */
function endings({ asked, before }: Lived, ended: Ended): Ended[] {
  if (before === undefined) return [ended];
  const together = toldByBoth(before, ended);
  if (asked.workflow !== 'setFirewalls' || ended.result !== undefined || isUntouched(ended)) return [together];
  return [together, toldByBoth({ ...before, result: undefined }, ended)];
}

/**
 * A run that finds firewalls on a server takes them for what was there before it, also where it was a forgotten run
 * that assigned them: it does not take them away. docs/internals/reliability.md says so.
 */
function isOfForgottenRun(sentence: string, { asked, forgotten, startedAnew = 0 }: Lived): boolean {
  if (asked.workflow !== 'setFirewalls' || (forgotten !== true && startedAnew === 0)) return false;
  return sentence.endsWith('neither undone nor told');
}

/**
 * The outcome of a run stands, also when somebody made another one after it: what either says is told. No word says it
 * all: `partly`.
 */
export function toldByBoth(before: Ended, last: Ended): Ended {
  if (isUntouched(last)) return before;
  const leftovers = [...leftoversOf(before), ...leftoversOf(last)];
  const result = last.result ?? before.result;
  if (result !== undefined) return { result: { ...result, outcome: 'partly', leftovers } };
  const together = (report: Report): Report => {
    const steps = doneInEither(report, reportOf(before));
    return { ...report, outcome: 'partly', leftovers, steps };
  };
  if (last.failure) return { failure: { ...last.failure, report: together(last.failure.report) } };
  return last.cancelled ? { cancelled: together(last.cancelled) } : last;
}

/** It says nothing of what other runs did. */
function isUntouched(ended: Ended): boolean {
  return reportOf(ended)?.outcome === 'untouched';
}

function doneInEither({ steps }: Report, before: Report | undefined): Report['steps'] {
  const done = new Map(before?.steps.filter(({ status }) => status === 'done').map((step) => [step.id, step]));
  return steps.map((step) => done.get(step.id) ?? step);
}
