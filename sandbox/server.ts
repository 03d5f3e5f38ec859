/**
 * The sandbox: a stand-in for the provider, over real HTTP. It follows the document's rules, records everything that
 * takes effect, and fails on demand.
 *
 * Nothing in this folder imports the service: this is a second reading of the document, so that a misreading in one
 * place shows against the other. Where the document is silent, a setting decides (`settings.ts`).
 */
import { setMaxListeners } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { AwaitedCalls } from './call-match';
import { controlPrefix, handleControl } from './control';
import { destinationOf } from './endpoints';
import { exchange } from './exchange';
import { Faults, fits } from './faults';
import { Happenings } from './happenings';
import { type Call, type FaultStruck, Ledger } from './ledger';
import { Provider, type ProviderRequest } from './provider';
import { bodyIn, Provenance, whatItNames } from './request';
import type { ServerSeed } from './servers';
import { changed, type Settings, type SettingsPatch } from './settings';

export interface SandboxOptions extends SettingsPatch {
  /** Default 0: any free port. */
  port?: number;
  /** Default 127.0.0.1. */
  host?: string;
  /** Servers that exist before any order. */
  servers?: ServerSeed[];
  /** Called with one line per call: method, path, status. Never a body. */
  log?: (line: string) => void;
}

export class Sandbox {
  readonly ledger = new Ledger();
  readonly faults = new Faults(this.ledger);
  private readonly calls = new Happenings<Call>(this.ledger.calls);
  private readonly provider = new Provider(this.ledger, () => this.current);
  private readonly provenance = new Provenance();
  /** Plans of which an item is being added. */
  private readonly adding = new Set<string>();
  private readonly closing = new AbortController();
  private readonly log: (line: string) => void;
  private readonly http: Server;
  private current: Settings;
  /** The base URL of the interface, without a slash at the end. */
  url = '';

  /** Resolves when it listens. Rejects for invalid options, and for a port that is in use. */
  static async start(options: SandboxOptions = {}): Promise<Sandbox> {
    const { port = 0, host = '127.0.0.1', ...rest } = options;
    const sandbox = new Sandbox(rest);
    await sandbox.listen(port, host);
    return sandbox;
  }

  private constructor(options: Omit<SandboxOptions, 'port' | 'host'>) {
    const { servers = [], log, ...settings } = options;
    this.current = changed(settings);
    // Each waiting call adds a listener; under load there are many, and that is not a leak.
    setMaxListeners(0, this.closing.signal);
    this.log = log ?? (() => undefined);
    for (const server of servers) this.addServer(server);
    this.http = createServer((request, response) => {
      // An error here is a bug of the sandbox: it must be visible, and not look like a fault on demand.
      this.receive(request, response).catch((error: unknown) => {
        this.log(`the sandbox itself failed: ${String(error)}`);
        if (!response.headersSent) response.writeHead(500, { 'content-type': 'text/plain' });
        response.end('The sandbox itself failed');
      });
    });
    // Idle connections stay open: closing one just when it is used again would be a fault that no test asked for.
    this.http.keepAliveTimeout = 0;
  }

  /** Changes settings for calls from now on. @throws ZodError for an unknown setting */
  configure(patch: SettingsPatch): void {
    this.current = changed(patch, this.current);
  }

  /** Adds a server without an order. Throws if its id is taken. */
  addServer(server: ServerSeed): void {
    this.provider.servers.seed(server);
  }

  /**
   * Does what a person does in the provider's control panel: no fault strikes it, and it is not recorded as a received
   * call.
   *
   * @throws Error where it is refused
   */
  byHand(method: string, path: string, body?: unknown): void {
    const { token } = this.current;
    const { status } = this.work({
      to: destinationOf(method, path),
      authorization: token === null ? undefined : `Bearer ${token}`,
      query: new URLSearchParams(),
      byHand: true,
      body,
    }).answer;
    if (status >= 400) throw new Error(`the panel shows ${status} for ${method} ${path}`);
  }

  /** Resolves when so many matching calls have arrived; they may not have taken effect yet. */
  whenCalled({ endpoint = '*', match, times }: AwaitedCalls = {}): Promise<Call[]> {
    return this.calls.when((call) => fits(call, { endpoint, match }), times);
  }

  /** Resolves when the fault has struck so often. The effect, if the kind has one, is then in the ledger. */
  whenStruck(faultId: string, times?: number): Promise<FaultStruck[]> {
    return this.faults.whenStruck(faultId, times);
  }

  /** Breaks every connection. Calls that are held or hang have no effect; pending waits reject. */
  async close(): Promise<void> {
    this.closing.abort();
    const reason = new Error('The sandbox was closed');
    this.faults.abandon(reason);
    this.calls.abandon(reason);
    const closed = new Promise<void>((resolve) => this.http.close(() => resolve()));
    this.http.closeAllConnections();
    await closed;
  }

  private async listen(port: number, host: string): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.http.once('error', reject);
      this.http.listen(port, host, resolve);
    });
    const { port: bound } = this.http.address() as AddressInfo;
    this.url = `http://${host.includes(':') ? `[${host}]` : host}:${bound}`;
  }

  private async receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // The client may close the connection before the request is complete.
    const body = await text(request).then(bodyIn, () => undefined);
    if (body === undefined) return;
    const url = new URL(request.url ?? '/', 'http://sandbox');
    if (url.pathname.startsWith(controlPrefix)) return handleControl(this, request, response, url.pathname, body);
    return this.serve(request, response, url, body);
  }

  private async serve(request: IncomingMessage, response: ServerResponse, url: URL, body: unknown): Promise<void> {
    const { method = '', headers } = request;
    const to = destinationOf(method, url.pathname);
    const call = this.ledger.called({
      receivedMs: Date.now(),
      endpoint: to?.name ?? null,
      row: to?.row ?? null,
      method,
      path: request.url ?? '',
      headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
      body,
      names: this.provenance.of(whatItNames(to, url.searchParams, body)),
      status: null,
      faults: [],
      effects: [],
    });
    response.once('close', () => {
      const faults = call.faults.map((fault) => ` (${fault.kind})`).join('');
      this.log(`${method} ${url.pathname} ${call.status ?? 'no answer'}${faults}`);
    });
    const cart = to?.name === 'add-cart-item' ? String(call.names.planId?.[0]) : undefined;
    const overlaps = cart !== undefined && this.adding.has(cart);
    if (cart !== undefined && !overlaps) {
      this.adding.add(cart);
      response.once('close', () => this.adding.delete(cart));
    }
    this.calls.happened(call);
    await exchange({
      call,
      response,
      faults: this.faults,
      settings: this.current,
      elsewhere: `${this.url}/elsewhere`,
      closing: this.closing.signal,
      act: (oddity) => {
        const { authorization } = headers;
        const { answer, effects } = this.work({ to, authorization, query: url.searchParams, body, oddity, overlaps });
        call.effects = effects;
        return answer;
      },
    });
  }

  /** @returns the answer, and `seq` of each effect */
  private work(request: ProviderRequest) {
    const known = this.ledger.entries.length;
    const answer = this.provider.workOn(request);
    const effects = this.ledger.entries.slice(known);
    for (const effect of effects) this.provenance.learn(effect);
    return { answer, effects: effects.map(({ seq }) => seq) };
  }
}
