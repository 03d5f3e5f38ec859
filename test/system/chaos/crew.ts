/**
 * The worker processes. There are always as many as asked for: whichever ends, by signal or by itself, is replaced.
 * Each has a token of its own towards the provider, so that the sandbox's ledger tells which of them holds a call.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Sandbox } from '../../../sandbox/server';
import { startProcess, type RunningProcess } from '../../../scripts/processes';
import { isUnderWay } from '../../support/saga-calls';

interface Member {
  token: string;
  worker: RunningProcess;
  /** Somebody has sent it a signal to end. */
  leaving: boolean;
  paused: boolean;
}

export interface WorkerEnd {
  signal: 'SIGKILL' | 'SIGTERM' | 'SIGSTOP';
  /** Calls that the provider was working on for this worker. */
  held: number;
}

/** Longer than a call is in flight, and than the lock of a transaction is waited for. */
const pauseMs = 12_000;

export class Crew {
  readonly ends: WorkerEnd[] = [];
  /**
   * Workers that Node has ended, by a fault of its own: it meets a workflow task that the SDK breaks off after five
   * seconds, as it does where the process stood still meanwhile (node 38503, sdk-typescript 939). To a saga it is a
   * worker that was killed.
   */
  endedByNode = 0;
  readonly mishaps: string[] = [];
  private readonly members = new Set<Member>();
  private readonly starting = new Set<Promise<void>>();
  private hired = 0;
  private closed = false;

  constructor(
    private readonly program: string,
    private readonly environmentOf: (nth: number) => Record<string, string>,
    private readonly sandbox: Sandbox,
  ) {}

  async hire(count: number): Promise<void> {
    await Promise.all(Array.from({ length: count }, () => this.join()));
  }

  /** @returns false where whoever held the call is gone already */
  async end(callSeq: number, signal: WorkerEnd['signal']): Promise<boolean> {
    const authorization = this.sandbox.ledger.calls.find(({ seq }) => seq === callSeq)?.headers['authorization'];
    const holder = [...this.members].find(
      ({ token, leaving, paused }) => authorization === `Bearer ${token}` && !leaving && !paused,
    );
    if (holder === undefined) return false;
    const held = this.sandbox.ledger.calls.filter(
      (call) => isUnderWay(call) && call.headers['authorization'] === authorization,
    );
    this.ends.push({ signal, held: held.length });
    if (signal === 'SIGSTOP') {
      void this.pause(holder);
      return true;
    }
    holder.leaving = true;
    const left = holder.worker.kill(signal);
    // A killed process may still send for a moment; one that is stopped needs its call to end.
    if (signal === 'SIGKILL') await left;
    return true;
  }

  /** All that there are: what they have in memory is of a server that is no more. */
  async killAll(): Promise<void> {
    const all = [...this.members].filter(({ leaving }) => !leaving);
    for (const member of all) member.leaving = true;
    await Promise.all(all.map(({ worker }) => worker.kill('SIGKILL')));
  }

  private async pause(member: Member): Promise<void> {
    member.paused = true;
    const { pid, exited } = member.worker;
    process.kill(pid, 'SIGSTOP');
    const gone = await Promise.race([exited, pause(pauseMs, undefined)]);
    if (gone === undefined) process.kill(pid, 'SIGCONT');
    member.paused = false;
  }

  async close(): Promise<void> {
    this.closed = true;
    await Promise.allSettled(this.starting);
    await Promise.all([...this.members].map(({ worker }) => worker.kill('SIGKILL')));
  }

  private join(): Promise<void> {
    const joined = this.start();
    this.starting.add(joined);
    return joined.finally(() => this.starting.delete(joined));
  }

  private async start(): Promise<void> {
    const nth = ++this.hired;
    const token = `worker-${nth}`;
    while (!this.closed) {
      try {
        const worker = await startProcess(this.program, { ...this.environmentOf(nth), PROVIDER_TOKEN: token });
        const member = { token, worker, leaving: false, paused: false };
        this.members.add(member);
        void this.replaceWhenGone(member);
        return;
      } catch (error) {
        // A server may be away just now; whoever runs a worker starts it again.
        if (!/no connection to Temporal|journal/.test(String(error)))
          this.mishaps.push(`a worker did not start: ${String(error)}`);
        await pause(500);
      }
    }
  }

  private async replaceWhenGone(member: Member): Promise<void> {
    const { worker, token } = member;
    const { status } = await worker.exited;
    this.members.delete(member);
    if (this.closed) return;
    const words = wordsOf(worker);
    if (!member.leaving && words.includes('async hook stack has become corrupted')) this.endedByNode += 1;
    else if (!member.leaving) this.mishaps.push(`${token} ended by itself (${status}): ${words}`);
    else if (status !== null && status !== 0)
      this.mishaps.push(`${token} was stopped, and ended with ${status}: ${words}`);
    await this.join();
  }
}

/** Without the native frames of a crash, which say nothing. */
function wordsOf(worker: RunningProcess): string {
  const lines = worker.errors().split('\n');
  return lines
    .filter((line) => !/^\s*\d+: 0x/.test(line))
    .join('\n')
    .slice(-1_500);
}
