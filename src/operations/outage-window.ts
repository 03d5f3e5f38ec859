/**
 * The latest calls of the provider, as one worker saw them, and whether they look like an outage. Pure: the caller has
 * the clock.
 */
import type { CallEvent } from '../provider/client';

export interface OutageRule {
  /** The share of calls without a readable answer, 0 to 1. */
  share: number;
  /** Calls that are older do not count, in milliseconds. */
  windowMs: number;
  /** Fewer calls are no sign of anything. */
  callsMin: number;
}

export interface SeenCall {
  /** Of a clock that never goes back, in milliseconds. */
  atMs: number;
  /** "503", "not sent", "no answer"; absent where the provider answered. */
  unanswered?: string | undefined;
  /** The workflow id of the saga that made it. */
  saga?: string | undefined;
}

export interface Outage {
  calls: number;
  unanswered: number;
  /** How often each way of not answering was seen. */
  ways: Map<string, number>;
  /** From the first call of the window to the last, in milliseconds. */
  spanMs: number;
  /** Those that were not answered: their workflow ids. */
  sagas: string[];
}

/**
 * What a call says of the provider: it has answered, it has not (and how), or nothing, because our side has kept the
 * call back.
 */
export function readCall({ status, failure, heldBack }: CallEvent): Pick<SeenCall, 'unanswered'> | undefined {
  if (heldBack) return undefined;
  switch (failure) {
    case 'NotSent':
      return { unanswered: 'not sent' };
    case 'UnknownOutcome':
      return { unanswered: status === undefined ? 'no answer' : String(status) };
    case 'UnexpectedResponse':
      return { unanswered: String(status) };
    case 'TokenUnreadable':
      return undefined;
    case undefined:
    case 'RateLimited':
    case 'Unauthorized':
    case 'NotYet':
    case 'Rejected':
      // Without a status our side has refused to send it.
      return status === undefined ? undefined : {};
  }
}

/** One saga that the provider cannot serve, and that is tried again and again, is no outage. */
const sagasMin = 3;

/** Of a very busy worker the newest calls count: a share of so many says enough. */
const callsMax = 10_000;

export class OutageWindow {
  private calls: SeenCall[] = [];
  /** Before it, calls are forgotten. */
  private first = 0;
  private unanswered = 0;

  constructor(private readonly rule: OutageRule) {}

  /** @returns the outage where this call, which was not answered, makes it one */
  see(call: SeenCall): Outage | undefined {
    this.calls.push(call);
    if (call.unanswered !== undefined) this.unanswered += 1;
    this.forget(call.atMs - this.rule.windowMs);
    const count = this.calls.length - this.first;
    const { share, callsMin } = this.rule;
    if (call.unanswered === undefined || count < callsMin || this.unanswered / count < share) return undefined;
    const outage = this.read();
    return outage.sagas.length < sagasMin ? undefined : outage;
  }

  clear(): void {
    [this.calls, this.first, this.unanswered] = [[], 0, 0];
  }

  /** Calls that are kept; at most twice as many as count. */
  get kept(): number {
    return this.calls.length;
  }

  private forget(beforeMs: number): void {
    for (;;) {
      const oldest = this.calls[this.first];
      if (oldest === undefined) break;
      if (oldest.atMs > beforeMs && this.calls.length - this.first <= callsMax) break;
      if (oldest.unanswered !== undefined) this.unanswered -= 1;
      this.first += 1;
    }
    if (this.first * 2 <= this.calls.length) return;
    this.calls = this.calls.slice(this.first);
    this.first = 0;
  }

  private read(): Outage {
    const calls = this.calls.slice(this.first);
    const ways = new Map<string, number>();
    const sagas = new Set<string>();
    for (const { unanswered, saga } of calls) {
      if (unanswered === undefined) continue;
      ways.set(unanswered, (ways.get(unanswered) ?? 0) + 1);
      if (saga !== undefined) sagas.add(saga);
    }
    const spanMs = (calls.at(-1)?.atMs ?? 0) - (calls[0]?.atMs ?? 0);
    return { calls: calls.length, unanswered: this.unanswered, ways, spanMs, sagas: [...sagas] };
  }
}

const accountsNamed = 3;

/**
 * "38 of 40 calls within 52 s got no answer (36 × 503, 2 × not sent), of 12 sagas, of account AB-1"
 *
 * @param accounts whose sagas they are, as far as known
 */
export function describeOutage(
  { calls, unanswered, ways, spanMs, sagas }: Outage,
  accounts: readonly string[],
): string {
  const often = [...ways].sort(([, a], [, b]) => b - a).map(([way, times]) => `${times} × ${way}`);
  const named = accounts.slice(0, accountsNamed).join(', ');
  const more = accounts.length > accountsNamed ? ' and others' : '';
  const whose = accounts.length === 0 ? '' : `, of account${accounts.length === 1 ? '' : 's'} ${named}${more}`;
  return `${unanswered} of ${calls} calls within ${Math.ceil(spanMs / 1_000)} s got no answer (${often.join(', ')}), of ${sagas.length} sagas${whose}`;
}
