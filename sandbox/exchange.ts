/**
 * One call from its arrival to its end on the wire: held at a gate, executed or not, answered correctly or with a
 * fault. The effect happens in one turn of the event loop, so concurrent calls take effect one after the other.
 *
 * If the client closes the connection, the call still takes effect, as with a real server.
 */
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { faultMoments } from './fault-kinds';
import type { Faults, Strike } from './faults';
import type { Call } from './ledger';
import { type Answer, refusal } from './responses';
import type { Settings } from './settings';

export interface Exchange {
  call: Call;
  response: ServerResponse;
  faults: Faults;
  settings: Pick<Settings, 'latencyMs' | 'echoRequests'>;
  /** Checks the call and, if it is valid, lets it take effect. */
  act: () => Answer;
  /** The default target of a redirect. */
  elsewhere: string;
  /** Aborted when the sandbox closes: calls that are held then have no effect. */
  closing: AbortSignal;
}

export async function exchange({ call, response, faults, settings, act, elsewhere, closing }: Exchange): Promise<void> {
  const { latencyMs, echoRequests } = settings;
  const { gate, fault } = call.endpoint === null ? {} : faults.strikesOn(call);
  const heldAt = gate?.spec.hold ?? 'before';

  if (gate && heldAt === 'before') await hold(gate);
  if (latencyMs > 0) await sleep(latencyMs, undefined, { signal: closing }).catch(() => undefined);
  if (closing.aborted) return;

  const answer = fault && faultMoments[fault.spec.kind] === 'before' ? undefined : act();

  if (gate && heldAt === 'after') await hold(gate);
  // The value may have changed while the call was held.
  // eslint-disable-next-line @typescript-eslint/no-unnecessary-condition
  if (closing.aborted) return;

  if (fault) await spoil(fault, answer ?? refusal(500, 'Not worked on'));
  else if (answer) send(answer);

  async function hold(at: Strike): Promise<void> {
    faults.struck(at, call);
    await at.opened;
  }

  async function spoil(strike: Strike, usual: Answer): Promise<void> {
    const { spec } = strike;
    faults.struck(strike, call);
    switch (spec.kind) {
      case 'refuse-before':
      case 'refuse-after':
        return send(failing(spec.status ?? 422, 'Refused on demand'));
      case 'error-before':
      case 'error-after':
        return send(failing(spec.status ?? 500, 'Failed on demand'));
      case 'rate-limit': {
        const { retryAfter } = spec;
        const headers = retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) };
        return send({ ...refusal(429, 'Too many requests'), headers });
      }
      case 'unauthorized':
        return send(refusal(401, 'The credentials are not accepted'));
      case 'forbidden':
        return send(refusal(403, 'The credentials do not allow this'));
      case 'redirect':
        return send(redirecting(spec.status ?? 302));
      case 'redirect-after':
        // 303 See Other is HTTP's redirect to the result of a POST.
        return send(redirecting(spec.status ?? 303));
      case 'error-code': {
        const failure = { code: spec.code ?? 500, message: 'Failed on demand, with a status of success' };
        return send({ status: 200, body: spec.codeAt === 'top' ? failure : { data: failure } });
      }
      case 'other-body':
        return send({ status: 200, body: spec.body === undefined ? {} : spec.body });
      case 'reset-before':
      case 'reset-after':
        // With RST instead of FIN: the client sees a connection reset, not an incomplete answer.
        response.socket?.resetAndDestroy();
        return;
      case 'hang-before':
      case 'hang-after':
        return;
      case 'slow':
        await sleep(spec.delayMs ?? 100, undefined, { signal: closing }).catch(() => undefined);
        return send(usual);
      case 'garbage':
        return sendText(200, '<html><body>It works!</body>');
      case 'empty':
        return sendText(200, '');
      case 'oversized':
        return sendText(200, padded(usual.body, spec.sizeBytes ?? 5 * 1024 * 1024));
      case 'truncated':
        return cutShort(JSON.stringify(usual.body ?? {}));
      case 'gate':
        return send(usual);
    }

    function failing(status: number, message: string): Answer {
      return spec.body === undefined ? refusal(status, message) : { status, body: spec.body };
    }

    function redirecting(status: number): Answer {
      return { status, headers: { location: spec.location ?? elsewhere } };
    }
  }

  function send({ status, body, headers }: Answer): void {
    const shown = echoRequests && status >= 400 ? echoing(body, call.body) : body;
    sendText(status, shown === undefined ? '' : JSON.stringify(shown), headers);
  }

  function sendText(status: number, text: string, headers: Record<string, string> = {}): void {
    call.status = status;
    const length = status === 204 ? {} : { 'content-length': Buffer.byteLength(text) };
    const type = text === '' ? {} : { 'content-type': 'application/json' };
    response.writeHead(status, { ...type, ...length, ...headers });
    response.end(text);
  }

  /** Announces the whole length, sends half of the text, and closes the connection properly. */
  function cutShort(text: string): void {
    call.status = 200;
    const bytes = Buffer.from(text);
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': bytes.length });
    response.write(bytes.subarray(0, Math.floor(bytes.length / 2)), () => response.socket?.end());
  }
}

function echoing(body: unknown, request: unknown): unknown {
  return typeof body === 'object' && body !== null && !Array.isArray(body) ? { ...body, request } : body;
}

/** Valid JSON with the usual answer, but far too long: a client without a limit would read it. */
function padded(body: unknown, sizeBytes: number): string {
  const usual = typeof body === 'object' && body !== null && !Array.isArray(body) ? body : { answer: body };
  const bare = JSON.stringify({ ...usual, padding: '' });
  return JSON.stringify({ ...usual, padding: 'x'.repeat(Math.max(0, sizeBytes - Buffer.byteLength(bare))) });
}
