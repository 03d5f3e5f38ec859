/**
 * Firewalls of one server: assigned (row 8), unassigned (row 9), listed (row 10). Each of the first two undoes the
 * other.
 */
import type { Effected } from '../domain/effects';
import type { CallFailure } from '../domain/failures';
import type { SentSecrets } from '../domain/secrets';
import { changedLately, lookAtServer } from '../journal/views/firewalls';
import { isNewServer } from '../journal/servers';
import type { CallOptions } from '../provider/client';
import { isFailure, ProviderFailure } from '../provider/errors';
import { readFirewalls } from '../provider/firewall-list';
import { type CallContext, rawResponse, sagaOf } from './call';
import { lookWithinMs, underWay, type EffectContext, type SendOptions, type Tools } from './effect';
import { callFailureOf, OwnFailure } from './translate-failure';

export type How = 'assignFirewalls' | 'unassignFirewalls';

export interface ChangeFirewalls extends EffectContext {
  vmObjectId: number;
  firewalls: number[];
  /** True where it undoes an earlier step: it is retried for longer then. */
  undoing?: boolean;
  /** True: what a person has done by hand is not sent again. Not where a list has contradicted that person since. */
  countsByHand?: boolean;
  /** The list should show it then: it is looked at once, in the same call. */
  shows?: Shown;
}

/** The list must show all of `expect` and none of `without`; where it is to be exact, no others. */
type Shown = Pick<ListFirewalls, 'expect' | 'without' | 'exactly' | 'surely'>;

/** The provider took the change. */
export interface Changed {
  /** Present if it already shows what it should, or cannot be read. */
  list?: FirewallList;
  /** Why the look failed, or what the list does not show. */
  failed?: CallFailure;
  /** Nobody has declared what the answer means: only the list says whether it took effect. */
  undeclared?: true;
}

export interface ListFirewalls extends CallContext {
  vmObjectId: number;
  /**
   * Fails with `NotVisibleYet`, so that the saga looks again, until the list shows all of these and none of
   * {@link without}.
   */
  expect?: number[];
  without?: number[];
  /** True: the list must show no others. */
  exactly?: boolean;
  /** Others are unassigned next: fails with `NotDeclared` where the list cannot say that those it must show are active. */
  surely?: boolean;
  /**
   * Fails with `UnderWay` while such a call of the saga may still take effect: any change, or only an undo. For the look
   * before an undo: any change, and what others rely on is returned.
   */
  after?: 'changes' | 'undoing' | 'changes and others';
  /** The secrets with which the server was ordered. */
  secrets?: SentSecrets | undefined;
}

/** Firewalls that are listed, and those of them that are active, where the profile declares which are. */
export interface Listed {
  firewalls: number[];
  active?: number[] | undefined;
}

/**
 * The list's format is undocumented; where it cannot be read as a whole, it is kept unchanged and nothing is concluded.
 */
export type FirewallList = (Listed | { unreadable: unknown }) & {
  /** Only before an undo: what other references have assigned meanwhile. */
  others?: number[] | undefined;
  /**
   * Ids that the list shows, but not as active; and those that a call of unknown outcome has changed lately: the list
   * may not show it yet.
   */
  doubtful?: number[];
};

/** An activity has 50 s; a look takes the journal's time, too. */
const lookWithinCallMs = 25_000;

export function createFirewallActivities({ provider, journal, activity, effect, readSecrets, settings }: Tools) {
  const { newServerWithinMs, listLagMs } = settings;
  const declared = settings.profile?.firewalls;

  const list = async (input: ListFirewalls, within: Pick<CallOptions, 'withinMs'> = {}): Promise<FirewallList> => {
    const { vmObjectId, expect = [], without = [], exactly, surely, after } = input;
    const secrets = await readSecrets(input.secrets);
    // Asked before the list, so that the list shows everything that the journal has settled.
    const kind = after === 'undoing' ? ('compensate' as const) : undefined;
    const asked = { kind, withOthers: after === 'changes and others', lagMs: listLagMs };
    const { leftMs = 0, others } = after ? await lookAtServer(journal, sagaOf().saga, vmObjectId, asked) : {};
    if (leftMs > 0)
      throw underWay('a call that was sent before may still be in flight, so the list may change', leftMs);
    // Who only wants to know what is there now does not wait for a new server, nor for a list that lags.
    const waits = after !== undefined || input.expect !== undefined;
    const lately = waits ? await changedLately(journal, vmObjectId, listLagMs) : new Map<number, undefined>();
    const serverIsNew = waits && (await isNew(vmObjectId));
    const answer = await provider.listFirewalls(vmObjectId, { secrets, serverIsNew, ...within });
    const read = readFirewalls(answer, declared);
    const undeclared = (what: string) =>
      new OwnFailure('NotDeclared', `the list of server ${vmObjectId} ${what} of the provider’s profile says`);
    if (read === undefined) {
      if (surely) throw undeclared('cannot be read as a whole: how it can, `firewalls`');
      return { unreadable: provider.blank(rawResponse(answer.body), secrets), others };
    }
    const { ids: firewalls, active } = read;
    const pending = firewalls.filter((id) => active?.includes(id) === false);
    const isShown = (id: number) => firewalls.includes(id);
    // A change of a moment ago counts more than a list, which may lag.
    const changed = (to: boolean | undefined) => [...lately].flatMap(([id, assigned]) => (assigned === to ? [id] : []));
    const unseen = expect.filter((id) => !isShown(id) || pending.includes(id));
    const missing = [...new Set([...unseen, ...changed(true).filter((id) => !isShown(id))])];
    const unwanted = [...without, ...changed(false)];
    const surplus = firewalls.filter((id) => unwanted.includes(id) || (exactly && !expect.includes(id)));
    const doubtful = [...pending, ...changed(undefined)];
    if (missing.length + surplus.length === 0) {
      if (surely && active === undefined)
        throw undeclared('shows it, and perhaps not as active: which are, `firewalls.activeIf`');
      return { firewalls, active, others, ...(doubtful.length > 0 ? { doubtful } : {}) };
    }
    const asActive = missing.some((id) => pending.includes(id)) ? ' as active' : '';
    const said = [
      ...(missing.length > 0 ? [`does not show ${missing.join(', ')}${asActive}`] : []),
      ...(surplus.length > 0 ? [`still shows ${surplus.join(', ')}`] : []),
    ];
    const why = `the provider's firewall list of server ${vmObjectId} ${said.join(' and ')}`;
    throw new OwnFailure('NotVisibleYet', why, { lacks: missing, surplus });
  };
  /** A look that fails, or comes too early, is repeated in a call of its own; so it is if time is short. */
  const changeAndLook = async (how: How, { shows, undoing, ...input }: ChangeFirewalls): Promise<Effected<Changed>> => {
    const { vmObjectId, firewalls, countsByHand, secrets } = input;
    const startedMs = performance.now();
    const spec = { kind: undoing ? 'compensate' : 'mutate', about: { vmObjectId, firewalls }, countsByHand } as const;
    const isSure = (value: Changed) => !value.undeclared;
    const changed = await effect<Changed>({ ...spec, isSure }, input, (options) => change(how, input, options));
    const hasTime = performance.now() - startedMs < lookWithinCallMs;
    if (shows === undefined || !hasTime) return changed;
    const saw = (seen: Changed) => ({ ...changed, value: { ...changed.value, ...seen } });
    try {
      return saw({ list: await list({ vmObjectId, secrets, ...shows }, { withinMs: lookWithinMs }) });
    } catch (error) {
      const failed = callFailureOf(error, 'read', settings);
      if (failed === undefined) throw error;
      return saw({ failed });
    }
  };

  const isNew = (vmObjectId: number) => isNewServer(journal, vmObjectId, newServerWithinMs);
  /**
   * If it was sent before, and may have taken effect, “it is assigned already” is no refusal, even if the list does
   * not show it. It is sent again all the same: a list may lag, and a repeat does no harm.
   */
  const change = async (
    how: How,
    { vmObjectId, firewalls }: ChangeFirewalls,
    { repeats, ...options }: SendOptions,
  ): Promise<Changed> => {
    const assigns = how === 'assignFirewalls';
    /** @returns undefined where the list does not show it */
    const asWanted = async (): Promise<Changed | undefined> => {
      const looking = { secrets: options.secrets, withinMs: lookWithinMs };
      try {
        const list = readFirewalls(await provider.listFirewalls(vmObjectId, looking), declared);
        const shown = (assigns ? list?.active : undefined) ?? list?.ids;
        if (shown === undefined || firewalls.some((id) => shown.includes(id) !== assigns)) return undefined;
        return assigns && list?.active === undefined ? { undeclared: true } : {};
      } catch (error) {
        if (error instanceof ProviderFailure) return undefined;
        throw error;
      }
    };
    const serverIsNew = await isNew(vmObjectId);
    try {
      const isDeclared = await provider[how](vmObjectId, firewalls, { ...options, serverIsNew });
      return isDeclared ? {} : { undeclared: true };
    } catch (error) {
      if (!repeats || !isFailure(error, 'Rejected')) throw error;
      const shown = await asWanted();
      if (shown) return shown;
      const { message, endpoint } = error;
      const why = `${message}; but it was sent before, and may have taken effect, and the list does not show it`;
      throw new OwnFailure('NotVisibleYet', why, { endpoint });
    }
  };

  return {
    /** Row 8. A second call assigns what is assigned already. */
    assignFirewalls: (input: ChangeFirewalls) => changeAndLook('assignFirewalls', input),

    /** Row 9. A second call finds them unassigned. */
    unassignFirewalls: (input: ChangeFirewalls) => changeAndLook('unassignFirewalls', input),

    listFirewalls: activity('read', (input: ListFirewalls) => list(input)),
  };
}
