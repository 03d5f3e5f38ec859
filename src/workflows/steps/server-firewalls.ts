/**
 * The firewalls of one server: they are changed, and looked at until the provider's list shows that. An answer to a
 * change is not its effect.
 */
import type { EffectContext } from '../../activities/effect';
import type { Changed, ChangeFirewalls, FirewallList, How, Listed, ListFirewalls } from '../../activities/firewalls';
import type { EffectCall, Effected, EffectKind } from '../../domain/effects';
import { describeFailure, type CallFailure } from '../../domain/failures';
import type { Leftover } from '../../domain/outcomes';
import type { SentSecrets } from '../../domain/secrets';
import { activities } from '../../saga/activities';
import { attempt, failureOf, type Act } from '../../saga/attempts';
import { countFailedCall } from '../../saga/shown/metrics';
import { Step } from '../../saga/shown/progress';
import type { Saga } from '../../saga/saga';
import type { StepSpec } from '../../saga/steps';

type Looking = Omit<ListFirewalls, 'vmObjectId' | 'retry'>;

export class ServerFirewalls {
  /** By this run, or by a person who says so. */
  isChanged = false;
  /** Nobody has declared what an answer to a change means. */
  isUndeclared = false;
  /** When it was last read, the list lacked some, or still showed some; undefined until this run has looked, or a person. */
  denied?: Pick<CallFailure, 'lacks' | 'surplus'>;
  /** As the last step that looks has seen it; undefined also where a person has looked elsewhere: that verifies nothing. */
  seen?: FirewallList | undefined;
  /** The look in the last call that changed something, and the step that made it. */
  private looked?: (Changed & { by: Step }) | undefined;

  constructor(
    readonly vmObjectId: number,
    private readonly secrets?: SentSecrets,
  ) {}

  /** A step that changes them. @param asks asked anew with each call: a person may have corrected it */
  changing(step: Step, how: How, asks: () => Omit<ChangeFirewalls, 'vmObjectId' | keyof EffectContext>) {
    const act = (asked: EffectContext) => this.change(how, step, { ...asks(), ...asked });
    return { step, act, byHand: this.byHand('mutate', how, () => asks().firewalls) } satisfies StepSpec<unknown>;
  }

  /** A person changes them in the control panel instead, and that is written down. */
  byHand(kind: EffectKind, activity: How, firewalls: () => readonly number[]) {
    const about = () => ({ vmObjectId: this.vmObjectId, firewalls: [...firewalls()] });
    return {
      counts: () => (this.isChanged = true),
      call: (step: string): EffectCall => ({ step, kind, activity, about: about() }),
    };
  }

  /** @param by the step that tells it where the look in the same call fails */
  async change(how: How, by: Step, asked: Omit<ChangeFirewalls, 'vmObjectId'>): Promise<Effected<Changed>> {
    const { vmObjectId, secrets } = this;
    const summary = `${how === 'assignFirewalls' ? 'assign firewalls to' : 'unassign firewalls of'} ${vmObjectId}`;
    const changed: Effected<Changed> = await activities(summary)[how]({ vmObjectId, secrets, ...asked });
    this.isChanged = true;
    this.looked = { ...changed.value, by };
    this.isUndeclared ||= changed.value.undeclared === true;
    return changed;
  }

  /** A step that looks until the list shows it, or a person has seen it. @param onSeen called then, without it by hand */
  looking(step: Step, asks: () => Looking, onSeen?: (list?: FirewallList) => void): StepSpec<void> {
    this.seen = undefined;
    const tell = (list?: FirewallList) => {
      this.denied = {};
      this.seen = list;
      onSeen?.(list);
    };
    const act = async ({ retry }: EffectContext) => tell(await this.look({ ...asks(), retry }));
    return { step, act, byHand: { counts: () => tell() } };
  }

  /** Goes by what the call that changed something last has seen, once; then reads the list. */
  private async look(looking: Omit<ListFirewalls, 'vmObjectId'>): Promise<FirewallList> {
    const { list: seen, failed, by } = this.looked ?? {};
    this.looked = undefined;
    // A look that has failed is made again before anybody is asked.
    const isTold = failed && failed.failure !== 'NotVisibleYet' && failed.failure !== 'NotDeclared';
    if (isTold) {
      by?.setDetail(`the look at the list failed: ${describeFailure(failed)}`);
      countFailedCall(failed);
    }
    try {
      return seen ?? (await this.list(looking));
    } catch (error) {
      const failure = failureOf(error);
      if (failure?.lacks !== undefined) this.denied = failure;
      throw error;
    }
  }

  list(looking: Omit<ListFirewalls, 'vmObjectId'>): Promise<FirewallList> {
    const { vmObjectId, secrets } = this;
    return activities(`list firewalls of ${vmObjectId}`).listFirewalls({ vmObjectId, secrets, ...looking });
  }
}

/** Asks nobody. @returns undefined where the list cannot be seen, or not be read */
export async function shownNow(saga: Saga, listing: Omit<ListFirewalls, 'retry'>): Promise<Listed | undefined> {
  const summary = `list firewalls of ${listing.vmObjectId}`;
  const act: Act<FirewallList> = ({ retry }: EffectContext) => activities(summary).listFirewalls({ ...listing, retry });
  const looked = await attempt({ step: new Step('list-firewalls', summary), act }, saga, true);
  return looked.ok ? readable(looked.value) : undefined;
}

export function readable(list: FirewallList | undefined): Listed | undefined {
  return list && 'firewalls' in list ? list : undefined;
}

/** @param firewalls that it should have, and perhaps has */
export function unverified(vmObjectId: number, firewalls: readonly number[], list?: FirewallList): Leftover {
  return { kind: 'server-unverified', vmObjectId, firewalls: [...firewalls], why: whyUnverified(list) };
}

export function whyUnverified(list?: FirewallList): string {
  if (list === undefined)
    return 'what the answer means is not declared (`assign.doneIf`, `unassign.doneIf`), and no list shows it';
  return readable(list)
    ? 'the provider’s list shows them, and which of those that it shows are active is not declared (`firewalls.activeIf` of its profile)'
    : 'the provider’s list cannot be read as a whole; how it can is not declared (`firewalls` of its profile)';
}
