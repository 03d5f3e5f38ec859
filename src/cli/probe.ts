/**
 * Asks a provider, by reads only, what it answers where its document shows nothing, and which settings follow. It
 * orders nothing and changes nothing.
 */
import { readProviderConfig, settingsGiven } from '../config';
import { pointersTo, readPointers } from '../provider/json-pointer';
import { ProviderClient } from '../provider/client';
import { ProviderFailure } from '../provider/errors';
import { credentialsOf } from '../provider/options';
import { readFirewallIds } from '../provider/schemas';
import type { Came, CommandContext } from './define';
import { exitStatus } from './exit-status';
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

/** No provider is known to have counted so far. */
const noServer = 2_147_483_647;

export async function probe({ printer }: CommandContext, asked: Asked): Promise<Came> {
  const looking = new Probe(asked);
  try {
    await looking.all();
  } finally {
    await looking.close();
  }
  const { found, settings, isReached } = looking;
  const status = printFindings(printer, found);
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}`);
  printer.line('# what follows for a worker; docs/settings.md has the rest');
  printer.lines(lines);
  return { document: { found, settings }, status: isReached ? status : exitStatus.noConnection };
}

class Probe {
  readonly found: Found[] = [];
  readonly settings: Record<string, string> = {};
  isReached = true;
  private readonly config = readProviderConfig();
  private readonly clients: ProviderClient[] = [];
  private readonly provider = this.client();

  constructor(private readonly asked: Asked) {
    for (const [name, value] of Object.entries(settingsGiven(this.config.given)))
      if (name.startsWith('PROVIDER_')) this.settings[name] = value === '(set)' ? '…' : value;
  }

  async all(): Promise<void> {
    const { server, subscription, plan, directory } = this.asked;
    if (!(await this.token(server))) return;
    await this.listOf(server);
    if (subscription !== undefined) await this.changeQuote(subscription);
    if (subscription !== undefined && plan !== undefined) await this.switchQuote(subscription, plan);
    if (directory !== undefined) await this.directory(directory, server);
  }

  async close(): Promise<void> {
    await Promise.all(this.clients.map((client) => client.close()));
  }

  /** @returns whether it is worth asking for more */
  private async token(server: number): Promise<boolean> {
    const what = 'token';
    const answer = await answerOf(() => this.provider.listFirewalls(server));
    if (answer.failure?.name === 'NotSent') {
      this.isReached = false;
      const then = 'is PROVIDER_BASE_URL right, and may this machine reach it?';
      this.found.push(wrong('provider', answer.says, then));
      return false;
    }
    if (answer.failure && ['Unauthorized', 'TokenUnreadable'].includes(answer.failure.name)) {
      const then = 'PROVIDER_TOKEN, PROVIDER_AUTH_HEADER and PROVIDER_AUTH_SCHEME say what is sent';
      this.found.push(wrong(what, answer.says, then));
      return false;
    }
    if (this.config.provider.readToken === undefined) {
      this.found.push(look(what, 'none is set, and none was asked for'));
      return true;
    }
    const without = await answerOf(() => this.client({ withToken: false }).listFirewalls(server));
    const found = `taken; without it: ${without.says}`;
    const isAsked = without.failure?.name === 'Unauthorized';
    this.found.push(isAsked ? ok(what, found) : look(what, found, 'ask the provider what it protects'));
    return true;
  }

  /** Row 10. */
  private async listOf(server: number): Promise<void> {
    const what = `firewalls of server ${server}`;
    const answer = await answerOf(() => this.provider.listFirewalls(server));
    if (answer.failure) {
      this.found.push(wrong(what, answer.says, 'is it the object id of a server that exists?'));
    } else {
      const read = readFirewallIds(answer.value);
      const shape = excerpt(this.provider.blank(answer.value));
      const then = 'sagas cannot see whether servers are protected: they report server-unverified';
      this.found.push(
        read ? ok(what, `can be read: ${read.ids.join(', ') || 'none'}`) : look(what, `cannot be read: ${shape}`, then),
      );
    }
    const unknown = await answerOf(() => this.provider.listFirewalls(noServer));
    this.found.push((unknown.failure ? ok : look)('a server that is not there', unknown.says));
  }

  /** Row 5, in both forms that the document has. */
  private async changeQuote(subscription: number): Promise<void> {
    const what = `quote of a change, subscription ${subscription}`;
    const body = { subscription_id: subscription, resources: [{ resource_name: 'vm_backup', delta_value: '1' }] };
    const answers: string[] = [];
    for (const method of ['PUT', 'GET'] as const) {
      const answer = await answerOf(() => this.client({ method }).quoteChangeOrder(body));
      if (!answer.failure) {
        const { total, currency } = answer.value;
        this.found.push(ok(what, `${method}: ${total} ${currency}`));
        if (method !== 'PUT') this.settings['PROVIDER_QUOTE_METHOD'] = method;
        return;
      }
      answers.push(`${method}: ${answer.says}`);
    }
    const then = 'is it a subscription that vm_backup fits? Changes need a quote';
    this.found.push(wrong(what, answers.join('; '), then));
  }

  /** Row 7. */
  private async switchQuote(subscription: number, plan: number): Promise<void> {
    const what = `quote of a switch to plan ${plan}`;
    const answer = await answerOf(() =>
      this.provider.quotePlanSwitch({ subscription_id: subscription, plan_id: plan }),
    );
    if (answer.failure) {
      this.found.push(wrong(what, answer.says, 'is it a plan of the same type?'));
    } else {
      const { available, total, currency } = answer.value;
      this.found.push(ok(what, `${total} ${currency}${available ? '' : ', not available'}`));
    }
  }

  /** Not in the document. */
  private async directory(path: string, server: number): Promise<void> {
    const what = 'directory of servers';
    const { account, label } = this.asked;
    const answer = await answerOf(() => this.provider.findServers({ path, account, label }));
    if (answer.failure) {
      this.found.push(wrong(what, answer.says));
      return;
    }
    const pointers = pointersTo(server, answer.value);
    const shape = excerpt(this.provider.blank(answer.value));
    if (pointers.length === 0) {
      const then = 'is it a server of that account and label? Without it no pointer can be found';
      this.found.push(look(what, `names no server ${server}: ${shape}`, then));
      return;
    }
    const [pointer = ''] = pointers;
    const found = `names ${readPointers([pointer], answer.value).length} servers at ${pointers.join(', ')}`;
    const then = `choose the pointer that is the object id: ${shape}`;
    this.found.push(pointers.length === 1 ? ok(what, found) : look(what, found, then));
    this.settings['SERVER_DIRECTORY_PATH'] = path;
    this.settings['SERVER_DIRECTORY_POINTERS'] = pointer;
  }

  private client({ withToken = true, method }: { withToken?: boolean; method?: 'PUT' | 'GET' } = {}): ProviderClient {
    const { readToken, ...options } = this.config.provider;
    const client = new ProviderClient({
      ...options,
      ...(method ? { quoteMethod: method } : {}),
      ...(withToken && readToken ? { credentials: credentialsOf(readToken) } : {}),
    });
    this.clients.push(client);
    return client;
  }
}

type Answer<T> = { says: string; failure?: undefined; value: T } | { says: string; failure: ProviderFailure };

/** `says`: the status, what it means by docs/failures.md, and the answer's words. */
async function answerOf<T>(call: () => Promise<T>): Promise<Answer<T>> {
  try {
    return { says: 'answered', value: await call() };
  } catch (failure) {
    if (!(failure instanceof ProviderFailure)) throw failure;
    const { status, name, body } = failure;
    const words = body === undefined ? '' : ` (${excerpt(body)})`;
    const says = status === undefined ? `${name}: ${messageOf(failure)}` : `${status}, which means ${name}${words}`;
    return { says, failure };
  }
}

function excerpt(answer: unknown): string {
  const text = typeof answer === 'string' ? answer : JSON.stringify(answer);
  return text.length > 160 ? `${text.slice(0, 160)}…` : text;
}
