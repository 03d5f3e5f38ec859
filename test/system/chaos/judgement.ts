/** Every promise, asked of every saga that it is made to. */
import type { LedgerSnapshot } from '../../../sandbox/ledger';
import type { SetFirewallsRequest } from '../../../src/domain/requests';
import { brokenByAll, brokenPromises, hiddenByWords } from '../../support/promises';
import type { Ended } from '../../support/sagas';
import type { Lived } from './life';
import { isUntouched, toldByBoth } from './told-by-both';

export interface Judgement {
  /** How often each promise was asked for. */
  checks: Record<string, number>;
  violations: string[];
  /** Those of whom something is said. */
  suspects: Lived[];
}

export function judge(ledger: LedgerSnapshot, lives: readonly Lived[], forgotten: readonly string[]): Judgement {
  const named = firewallsNamed(lives);
  const accused = lives.map((lived) => ({ lived, sentences: accusations(ledger, lived, named) }));
  const violations = [
    ...brokenByAll(ledger),
    ...accused.flatMap(({ sentences }) => sentences),
    ...forgotten.map((reference) => `${reference}: was forgotten: it neither ended nor waits where the list shows it`),
  ];
  const of = (...workflows: string[]) => lives.filter(({ asked }) => workflows.includes(asked.workflow)).length;
  const checks = {
    'at most one order': of('provisionServers', 'changeOrder', 'switchPlan'),
    'nothing forgotten': lives.length + forgotten.length,
    'no silent leftovers': of('provisionServers', 'setFirewalls', 'cleanCart'),
    'never less protected': of('provisionServers', 'setFirewalls'),
    'one run for a reference': lives.filter(({ planned }) => planned.duplicate !== undefined).length,
  };
  const suspects = accused.filter(({ sentences }) => sentences.length > 0).map(({ lived }) => lived);
  return { checks, violations, suspects };
}

/** By the server, and by the saga that names them. */
type FirewallsNamed = Map<number, { lived: Lived; firewalls: number[] }[]>;

function firewallsNamed(lives: readonly Lived[]): FirewallsNamed {
  const named: FirewallsNamed = new Map();
  for (const lived of lives) {
    for (const request of [lived.planned.asked.request, otherRequest(lived)]) {
      const { vmObjectId, assign = [], unassign = [] } = request as Partial<SetFirewallsRequest>;
      if (vmObjectId === undefined) continue;
      named.set(vmObjectId, [...(named.get(vmObjectId) ?? []), { lived, firewalls: [...assign, ...unassign] }]);
    }
  }
  return named;
}

function otherRequest({ planned: { duplicate } }: Lived): object {
  return typeof duplicate === 'object' ? duplicate.other : {};
}

function accusations(ledger: LedgerSnapshot, lived: Lived, named: FirewallsNamed): string[] {
  const { asked, surprises } = lived;
  const sharing = asked.workflow === 'setFirewalls' ? (named.get(asked.request.vmObjectId) ?? []) : [];
  const ofOthers = sharing.flatMap((one) => (one.lived === lived ? [] : one.firewalls));
  const [first = [], ...others] = endings(lived).map((ended) => brokenPromises(ledger, asked, ended, ofOthers));
  const broken = others.some((sentences) => sentences.length === 0) ? [] : first;
  const ofItsOwn = lived.before ? hiddenByWords(lived.ended) : [];
  return [
    ...broken.filter((sentence) => !isOfForgottenRun(sentence, lived)),
    ...[...ofItsOwn, ...surprises].map((one) => `${asked.workflow} ${asked.request.reference}: ${one}`),
  ];
}

/**
 * What its runs say together; one of these is true. Firewalls that an earlier run has changed, one that was made after
 * it and then cancelled may have undone: it depends on whether it began before the change or after it.
 */
function endings({ asked, ended, before }: Lived): Ended[] {
  if (before === undefined) return [ended];
  const together = toldByBoth(before, ended);
  if (asked.workflow !== 'setFirewalls' || ended.result !== undefined || isUntouched(ended)) return [together];
  return [together, toldByBoth({ ...before, result: undefined }, ended)];
}

/**
 * A run that finds firewalls on a server takes them for what was there before it, also where it was a forgotten run
 * that assigned them: it does not take them away. docs/reliability.md says so.
 */
function isOfForgottenRun(sentence: string, { asked, forgotten, startedAnew }: Lived): boolean {
  if (asked.workflow !== 'setFirewalls' || (forgotten !== true && startedAnew === 0)) return false;
  return sentence.endsWith('neither undone nor told');
}
