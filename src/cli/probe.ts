/** Asks a provider, by reads only, what its document does not show, and which settings follow. It changes nothing. */
import { isDeepStrictEqual } from 'node:util';
import { readProviderConfig, settingsGiven } from '../config';
import type { Profile } from '../domain/profile';
import { isRecord } from '../domain/values';
import { readFirewalls, type ListAnswer } from '../provider/firewall-list';
import { readId } from '../provider/ids';
import { idsAt, pointersTo, valuesAt } from '../provider/json-pointer';
import { ProviderClient } from '../provider/client';
import { ProviderFailure } from '../provider/errors';
import type { CommandResult, CommandContext } from './define';
import { exitStatus, UsageError } from './exit-status';
import { look, messageOf, ok, printFindings, wrong, type Found } from './findings';

interface Asked {
  /** A server that exists. */
  server: number;
  subscription?: number;
  /** To which that subscription could be switched. */
  plan?: number;
  /** A path of the provider's that lists servers, with `{account}` and `{label}`. */
  directory?: string;
  account?: string;
  label?: string;
}

/** Such an answer is not the interface's, or nobody knows: it tells neither of the token nor of a server. */
const saysNothing = ['UnexpectedResponse', 'UnknownOutcome', 'RateLimited'];

/** No provider is known to have so many servers. */
const noServer = 2_147_483_647;

export async function probe({ printer }: CommandContext, asked: Asked): Promise<CommandResult> {
  if (asked.plan !== undefined && asked.subscription === undefined) {
    throw new UsageError('--plan needs --subscription: a subscription that could be switched to it');
  }
  const probe = new Probe(asked);
  const found = await probe.all();
  const { settings, profile, isReached } = probe;
  // All of it is a file of settings.
  const status = printFindings(printer, found, '# ');
  printer.line('# what follows for a worker; docs/settings.md has the rest');
  printer.lines(Object.entries(settings).map(([name, value]) => `${name}=${value}`));
  printer.line('# a draft of PROVIDER_PROFILE, a file as docs/profile.md has it');
  const draft = JSON.stringify(profile, null, 2).split('\n');
  printer.lines(draft.map((line) => `# ${line}`));
  return { document: { found, settings, profile }, status: isReached ? status : exitStatus.noConnection };
}

/**
 * For `doctor`: whether address, path and token are right, by one read or two.
 *
 * @param server of which the journal knows; it may be gone by now
 */
export async function lookAtProvider(server = noServer): Promise<Found> {
  const probe = new Probe({ server });
  const answer = await probe.firewallsOf(server);
  const unreached = probe.unreached(answer);
  if (unreached) return unreached;
  if (!answer.failure) return ok('provider', `lists the firewalls of server ${server}`);
  const [{ status, body }, nowhere] = [answer.failure, (await probe.nowhere()).failure];
  if (nowhere?.status !== status || !isDeepStrictEqual(nowhere?.body, body))
    return ok('provider', `answers: ${answer.says}`);
  const then =
    'is the path of PROVIDER_BASE_URL right? `order-saga probe --server ID` asks about a server that you know';
  return wrong('provider', `answers as at a path that is not there: ${answer.says}`, then);
}

class Probe {
  readonly settings: Record<string, string> = {};
  readonly profile: Profile = {};
  isReached = true;
  private readonly provider = readProviderConfig();

  constructor(private readonly asked: Asked) {
    for (const [name, value] of Object.entries(settingsGiven()))
      if (name.startsWith('PROVIDER_')) this.settings[name] = value === '(set)' ? '…' : value;
  }

  async all(): Promise<Found[]> {
    const { server, subscription, plan, directory } = this.asked;
    const answer = await this.firewallsOf(server);
    const token = this.unreached(answer) ?? (await this.token(server, answer));
    // Then it is not worth asking for more.
    if (token.is === 'wrong') return [token];
    const unknown = await this.firewallsOf(noServer);
    return [
      token,
      // Row 10.
      ...this.firewalls(server, answer),
      (unknown.failure ? ok : look)('a server that is not there', unknown.says),
      ...(subscription === undefined ? [] : [await this.changeQuote(subscription)]),
      ...(subscription === undefined || plan === undefined ? [] : [await this.switchQuote(subscription, plan)]),
      ...(directory === undefined ? [] : [await this.directory(directory, server)]),
    ];
  }

  firewallsOf(server: number): Promise<Answer<ListAnswer>> {
    return this.ask((provider) => provider.listFirewalls(server));
  }

  nowhere(): Promise<Answer<unknown>> {
    return this.ask((provider) => provider.findServers({ path: '/order-saga/looks-where-nothing-is' }));
  }

  /** @returns undefined where the answer says something of servers */
  unreached(answer: Answer<unknown>): Found | undefined {
    if (answer.failure?.name === 'NotSent') {
      this.isReached = false;
      return wrong('provider', answer.says, 'is PROVIDER_BASE_URL right, and may this machine reach it?');
    }
    if (answer.failure && saysNothing.includes(answer.failure.name)) {
      return wrong('provider', answer.says, 'is PROVIDER_BASE_URL right? Nothing else was asked');
    }
    if (answer.failure && ['Unauthorized', 'TokenUnreadable'].includes(answer.failure.name))
      return wrong(
        'token',
        answer.says,
        'PROVIDER_TOKEN, PROVIDER_AUTH_HEADER and PROVIDER_AUTH_SCHEME say what is sent',
      );
    return undefined;
  }

  private async token(server: number, answer: Answer<unknown>): Promise<Found> {
    const what = 'token';
    if (this.provider.readToken === undefined) return look(what, 'none is set, and none was asked for');
    const without = await this.ask((provider) => provider.listFirewalls(server), { withToken: false });
    const isAsked = without.failure?.name === 'Unauthorized';
    const found = `${isAsked || !answer.failure ? 'taken' : answer.says}; without it: ${without.says}`;
    return isAsked ? ok(what, found) : look(what, found, 'ask the provider what it protects');
  }

  private firewalls(server: number, answer: Answer<ListAnswer>): Found[] {
    const what = `firewalls of server ${server}`;
    if (answer.failure) {
      const then = 'is it the object id of a server that exists, and is PROVIDER_BASE_URL right?';
      return [wrong(what, answer.says, then)];
    }
    const { firewalls, unseen } = draftFirewalls(answer.value);
    const declared = this.provider.profile?.firewalls;
    this.profile.firewalls = declared ?? firewalls;
    const read = readFirewalls(answer.value, declared);
    if (read?.active) {
      const inactive = read.ids.filter((id) => read.active?.includes(id) === false);
      const not = inactive.length > 0 ? `; not active: ${inactive.join(', ')}` : '';
      return [ok(what, `can be read: ${read.ids.join(', ') || 'none'}${not}`)];
    }
    const found = read ? `can be read: ${read.ids.join(', ') || 'none'}` : `cannot be read: ${answer.shape}`;
    const then = 'sagas cannot see whether servers are protected: they report server-unverified, and an exchange asks';
    return [look(what, found, then), look('a profile’s firewalls', `not seen: ${unseen.join('; ')}`)];
  }

  /** Row 5, in both forms that the document has. */
  private async changeQuote(subscription: number): Promise<Found> {
    const what = `quote of a change, subscription ${subscription}`;
    const resources = [{ resource_name: 'vm_backup' as const, delta_value: '1' }];
    const body = { subscription_id: subscription, resources };
    const answers: string[] = [];
    for (const method of ['PUT', 'GET'] as const) {
      const answer = await this.ask((provider) => provider.quoteChangeOrder(body), { method });
      if (!answer.failure) {
        if (method !== 'PUT') this.settings['PROVIDER_QUOTE_METHOD'] = method;
        return ok(what, `${method}: ${answer.value.total} ${answer.value.currency}`);
      }
      answers.push(`${method}: ${answer.says}`);
    }
    return wrong(what, answers.join('; '), 'is it a subscription that vm_backup fits? Changes need a quote');
  }

  /** Row 7. */
  private async switchQuote(subscription: number, plan: number): Promise<Found> {
    const what = `quote of a switch to plan ${plan}`;
    const body = { subscription_id: subscription, plan_id: plan };
    const answer = await this.ask((provider) => provider.quotePlanSwitch(body));
    if (answer.failure) return wrong(what, answer.says, 'is it a plan of the same type?');
    const { available, total, currency } = answer.value;
    return ok(what, `${total} ${currency}${available ? '' : ', not available'}`);
  }

  /** Not in the document. */
  private async directory(path: string, server: number): Promise<Found> {
    const what = 'directory of servers';
    const { account, label } = this.asked;
    const answer = await this.ask((provider) => provider.findServers({ path, account, label }));
    if (answer.failure) return wrong(what, answer.says);
    const pointers = pointersTo((value) => readId(value) === server, answer.value);
    const [pointer] = pointers;
    if (pointer === undefined) {
      const then = 'is it a server of that account and label? Without it no pointer can be found';
      return look(what, `names no server ${server}: ${answer.shape}`, then);
    }
    const [labels] = pointersTo((value) => label !== undefined && value === label, answer.value);
    this.profile.directory = { path, servers: pointer, labels, labelIsUnique: false };
    const found = `names ${idsAt(pointer, answer.value)?.length ?? 'no list of'} servers at ${pointers.join(', ')}`;
    const then = `choose the pointer that is the object id: ${answer.shape}`;
    return pointers.length === 1 ? ok(what, found) : look(what, found, then);
  }

  /** Asks once, on a connection of its own. */
  private async ask<T>(
    call: (provider: ProviderClient) => Promise<T>,
    { withToken = true, method }: { withToken?: boolean; method?: 'PUT' | 'GET' } = {},
  ): Promise<Answer<T>> {
    const { readToken, profile, ...options } = this.provider;
    const client = new ProviderClient({
      ...options,
      quoteMethod: method ?? options.quoteMethod,
      readToken: withToken ? readToken : undefined,
      // Which pointer finds servers is what is asked.
      profile: { ...profile, directory: undefined },
    });
    try {
      const value = await call(client);
      return { says: 'answered', value, shape: excerpt(client.blank(value)) };
    } catch (failure) {
      if (!(failure instanceof ProviderFailure)) throw failure;
      const { status, name, body } = failure;
      const words = body === undefined ? '' : ` (${excerpt(body)})`;
      const says = status === undefined ? `${name}: ${messageOf(failure)}` : `${status}, which means ${name}${words}`;
      return { says, failure };
    } finally {
      await client.close();
    }
  }
}

/** The part of a profile that follows from a real list of firewalls; and what such a list does not show. */
function draftFirewalls({ body, isPart }: ListAnswer): { firewalls: Profile['firewalls']; unseen: string[] } {
  const lists = Array.isArray(body) ? [''] : pointersTo(Array.isArray, body);
  const [list = ''] = lists;
  if (lists.length !== 1) return { firewalls: {}, unseen: [`where the list is: ${lists.join(' or ') || 'nowhere'}`] };
  const elements = valuesAt(`${list}/*`, body);
  const inEach = (fits: (value: unknown) => boolean) =>
    pointersTo(fits, elements[0]).filter((at) => elements.every((one) => valuesAt(at, one).some(fits)));
  const ids = inEach((value) => readId(value) !== undefined);
  const isCount = (value: unknown) => value === elements.length || value === String(elements.length);
  const counts = pointersTo(isCount, body).filter((at) => !at.startsWith(`${list}/`));
  const hasMore = isRecord(body) && (Object.keys(body).length > 1 || list.lastIndexOf('/') > 0);
  const [first] = elements;
  const states = inEach((value) => typeof value === 'boolean' || (typeof value === 'string' && value.length <= 40))
    .map((at) => ({ at, values: [...new Set(elements.map((one) => valuesAt(at, one)[0]))] }))
    .filter(({ values }) => values.length === 1)
    .map(({ at, values }) => JSON.stringify({ [at]: values[0] }));
  return {
    firewalls: {
      ...(list === '' ? {} : { list }),
      ...(ids.length === 1 && ids[0] !== '/id' ? { id: ids[0] } : {}),
      ...(hasMore && counts.length === 1 ? { whole: { [counts[0] ?? '']: 'length' } } : {}),
    },
    unseen: [
      ...(isPart ? ['more than a part, says HTTP: such a list is not read'] : []),
      ...(first === undefined ? ['any firewall: ask about a server that has some'] : []),
      ...(isRecord(first) && ids.length !== 1 ? [`which is its id (id): ${ids.join(' or ') || 'none'}`] : []),
      ...(hasMore && counts.length !== 1 ? [`what says that it is whole (whole): ${counts.join(' or ')}`] : []),
      `what says that one is active (activeIf): perhaps ${[...states, '"listed"'].join(' or ')}`,
    ],
  };
}

/** `says`: the status, what it means, and the answer's words; `shape`: the answer without what is secret. */
type Answer<T> =
  { says: string; failure?: undefined; value: T; shape: string } | { says: string; failure: ProviderFailure };

function excerpt(answer: unknown): string {
  const text = typeof answer === 'string' ? answer : JSON.stringify(answer ?? null);
  return text.length > 160 ? `${text.slice(0, 160)}…` : text;
}
