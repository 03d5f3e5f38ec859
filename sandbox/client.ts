/**
 * A typed client of the control plane, for a sandbox in another process. Its methods are those of `Sandbox`, with
 * promises.
 */
import type { AwaitedCalls } from './call-match';
import type { FaultSpec, RandomFaults } from './faults';
import type { Call, FaultStruck, LedgerSnapshot } from './ledger';
import type { ServerSeed } from './servers';
import type { Settings, SettingsPatch } from './settings';

export class SandboxClient {
  /**
   * @param url any URL of the sandbox, with or without its base path
   * @param send another way there: the control plane answers the sandbox's own machine only
   */
  constructor(
    readonly url: string,
    private readonly send: (url: URL, init: RequestInit) => Promise<Response> = fetch,
  ) {}

  ledger(): Promise<LedgerSnapshot> {
    return this.ask('GET', 'ledger');
  }

  /** Returns the fault's id. */
  async addFault(fault: FaultSpec): Promise<string> {
    return (await this.ask<{ id: string }>('POST', 'faults', fault)).id;
  }

  async randomFaults(faults: RandomFaults): Promise<string> {
    return (await this.ask<{ id: string }>('POST', 'faults/random', faults)).id;
  }

  /** Removes all faults; calls held at gates go on. */
  async clearFaults(): Promise<void> {
    await this.ask('DELETE', 'faults');
  }

  /** Opens a gate for good. */
  async release(faultId: string): Promise<void> {
    await this.ask('POST', `faults/${encodeURIComponent(faultId)}/release`);
  }

  settings(): Promise<Settings> {
    return this.ask('GET', 'settings');
  }

  /** Response shapes that are functions cannot be sent: JSON has no functions. */
  configure(patch: SettingsPatch): Promise<Settings> {
    return this.ask('PATCH', 'settings', patch);
  }

  async addServer(server: ServerSeed): Promise<void> {
    await this.ask('POST', 'servers', server);
  }

  whenCalled({ endpoint, match, times }: AwaitedCalls = {}, signal?: AbortSignal): Promise<Call[]> {
    return this.ask('GET', `wait?${query({ endpoint, times, ...match })}`, undefined, signal);
  }

  whenStruck(faultId: string, times?: number, signal?: AbortSignal): Promise<FaultStruck[]> {
    return this.ask('GET', `wait?${query({ fault: faultId, times })}`, undefined, signal);
  }

  private async ask<T>(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
    const response = await this.send(new URL(`/_sandbox/${path}`, this.url), {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal ? { signal } : {}),
    });
    const answer = (await response.json()) as T & { error?: string };
    if (!response.ok) throw new Error(`The sandbox refused ${method} ${path}: ${answer.error ?? response.status}`);
    return answer;
  }
}

function query(fields: Record<string, string | number | undefined>): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) given.set(name, String(value));
  return given.toString();
}
