/** Sends one notice to a receiver: once, within a time, with no redirect. */
import { Agent, request } from 'undici';
import type { Notice, Route } from '../domain/notifications';
import { retryAfterOf } from '../domain/retry-after';
import { createGuardedConnector, innerAddress, type Allowed } from './addresses';
import { formOf } from './forms';

export interface SenderOptions {
  /** Inner hosts and addresses that may be sent to all the same. */
  allowed: readonly Allowed[];
  /** The whole exchange, from the host's lookup to the answer's head. */
  timeoutMs: number;
}

/** Reads this much of an answer: enough for a connection to be used again. */
const answerBytesMax = 16_384;

export interface NotDelivered {
  /** Without addresses, and without a word of the answer. */
  why: string;
  /** The receiver has said that it is gone for good. */
  isGone?: true;
  /** The receiver has asked to wait so long. */
  retryAfterMs?: number;
}

const gone: NotDelivered = { why: 'its receiver is gone (410): this worker does not call it again', isGone: true };

export class Sender {
  private readonly agent: Agent;
  /** Receivers that have answered 410, by URL and secret: all routes to PagerDuty have one URL. */
  private readonly gone = new Set<string>();

  constructor(private readonly options: SenderOptions) {
    const { allowed, timeoutMs } = options;
    this.agent = new Agent({ connect: createGuardedConnector(allowed, timeoutMs) });
  }

  /** @returns undefined where it was delivered */
  async send(route: Route, notice: Notice, secret: string): Promise<NotDelivered | undefined> {
    try {
      const form = formOf(route, secret);
      if (typeof form === 'string') return { why: form };
      const { url, headers: own, body } = form(notice);
      const receiver = JSON.stringify([url, secret]);
      if (this.gone.has(receiver)) return gone;
      const headers = { 'content-type': 'application/json', 'user-agent': 'order-saga', ...own };
      const signal = AbortSignal.timeout(this.options.timeoutMs);
      const answer = await request(url, { dispatcher: this.agent, method: 'POST', headers, body, signal });
      const { statusCode } = answer;
      // The head has said all: an endless body changes nothing.
      await answer.body.dump({ limit: answerBytesMax }).catch(() => undefined);
      if (statusCode === 410) {
        this.gone.add(receiver);
        return gone;
      }
      const why = whyRefused(statusCode);
      return why === undefined ? why : { why, retryAfterMs: retryAfterOf(statusCode, answer.headers, Date.now()) };
    } catch (error) {
      return { why: whyNotAnswered(error, this.options.timeoutMs) };
    }
  }

  /** Connections that are open are closed; nothing is sent any more. */
  close(): Promise<void> {
    return this.agent.destroy();
  }
}

function whyRefused(status: number): string | undefined {
  if (status >= 200 && status < 300) return undefined;
  return status >= 300 && status < 400
    ? `its receiver redirects (${status}), and no redirect is followed`
    : `its receiver answered ${status}`;
}

/** Uses codes only: messages of undici and Node contain addresses. */
function whyNotAnswered(error: unknown, timeoutMs: number): string {
  const { name, code } = error as { name?: unknown; code?: unknown };
  if (code === innerAddress) return 'its receiver has an inner address, which NOTIFICATION_ALLOW does not name';
  if (name === 'TimeoutError' || code === 'UND_ERR_CONNECT_TIMEOUT')
    return `its receiver did not answer in ${timeoutMs} ms`;
  // Without a code it is no fault of the way there.
  if (typeof code !== 'string') throw error;
  return `its receiver could not be reached (${code})`;
}
