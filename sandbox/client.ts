/** A typed client of the control plane, for a sandbox in another process. */
import type { AwaitedCalls } from './call-match';
import type { FaultSpec } from './faults';
import type { Call, FaultStruck, LedgerSnapshot } from './ledger';

export class SandboxClient {
  /**
   * @param url of the sandbox
   * @param send the way there: the control plane answers the sandbox's own machine only
   */
  constructor(
    readonly url: string,
    private readonly send: (url: URL, init: RequestInit) => Promise<Response>,
  ) {}

  ledger(): Promise<LedgerSnapshot> {
    return this.ask('GET', 'ledger');
  }

  /** Returns the fault's id. */
  async addFault(fault: FaultSpec): Promise<string> {
    return (await this.ask<{ id: string }>('POST', 'faults', fault)).id;
  }

  /** Removes all faults; calls held at gates go on. */
  async clearFaults(): Promise<void> {
    await this.ask('DELETE', 'faults');
  }

  whenCalled(awaited: AwaitedCalls, signal: AbortSignal): Promise<Call[]> {
    return this.ask('POST', 'wait', awaited, signal);
  }

  whenStruck(fault: string, times: number, signal: AbortSignal): Promise<FaultStruck[]> {
    return this.ask('POST', 'wait', { fault, times }, signal);
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
