/**
 * One call from its arrival to its end on the wire: held at a gate, executed or not, answered correctly or with a
 * fault. The effect happens in one turn of the event loop, so concurrent calls take effect one after the other.
 *
 * If the client closes the connection, the call still takes effect, as with a real server.
 */
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { deflateSync, gzipSync } from 'node:zlib';
import { faultMoments, honestOddities, type Oddity } from './fault-kinds';
import type { Faults, Strike } from './faults';
import type { Call } from './ledger';
import { accepted, type Answer, inTexts, noes, refusal, unsureStatuses } from './responses';
import type { Settings } from './settings';

export interface Exchange {
  call: Call;
  response: ServerResponse;
  faults: Faults;
  settings: Pick<Settings, 'latencyMs' | 'echoRequests' | 'oddities'>;
  /** Checks the call and, if it is valid, lets it take effect. */
  act: (oddity: Oddity | undefined) => Answer;
  /** The default target of a redirect. */
  elsewhere: string;
  /** Aborted when the sandbox closes: calls that are held then have no effect. */
  closing: AbortSignal;
}

export async function exchange({ call, response, faults, settings, act, elsewhere, closing }: Exchange): Promise<void> {
  const { latencyMs, echoRequests } = settings;
  const { gate, fault } = call.endpoint === null ? {} : faults.strikesOn(call);
  const heldAt = gate?.spec.hold ?? 'before';
  const oddity = fault?.spec.kind === 'odd' ? (fault.spec.oddity ?? inTurn(honestOddities)) : inTurn(settings.oddities);

  if (gate && heldAt === 'before') await hold(gate);
  if (latencyMs > 0) await sleep(latencyMs, undefined, { signal: closing }).catch(() => undefined);
  if (closing.aborted) return;

  const answer = fault && faultMoments[fault.spec.kind] === 'before' ? undefined : act(oddity);

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
        return send(failing(spec.status ?? 422, 'Refused on demand'));
      case 'refuse-after':
        return send(failing(spec.status ?? inTurn(unsureStatuses) ?? 409, 'Refused on demand'));
      case 'error-before':
      case 'error-after':
        return send(failing(spec.status ?? 500, 'Failed on demand'));
      case 'rate-limit': {
        const { retryAfter } = spec;
        const headers: Record<string, string> = retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) };
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
      case 'says-no-before':
      case 'says-no-after':
        return send({ status: 200, body: spec.body === undefined ? inTurn(noes) : spec.body });
      case 'other-body':
        return send({ status: usual.status, body: spec.body === undefined ? accepted : spec.body });
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
        return sendText(usual.status, '<html><body>It works!</body>');
      case 'empty':
        return sendText(usual.status, '');
      case 'oversized':
        return sendText(usual.status, padded(usual.body, 5 * 1024 * 1024));
      case 'truncated':
        return cutShort(JSON.stringify(usual.body ?? {}));
      case 'odd':
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
    if (body === undefined) return sendText(status, '', headers);
    const shown = echoRequests && status >= 400 ? { ...fieldsOf(body), request: call.body } : body;
    sendText(status, JSON.stringify(oddity === 'texts' ? inTexts(shown) : shown), headers);
  }

  function sendText(status: number, text: string, headers: Record<string, string> = {}): void {
    call.status = status;
    if (oddity === 'continue') response.writeContinue();
    if (text === '') return void response.writeHead(status, { 'content-length': 0, ...headers }).end();
    const packed = oddity === 'gzip' ? gzipSync(text) : oddity === 'deflate' ? deflateSync(text) : undefined;
    const bytes = packed ?? Buffer.from(oddity === 'mark' ? `\uFEFF${text}` : text);
    const encoding = packed ? { 'content-encoding': String(oddity) } : {};
    const type = { 'content-type': 'application/json', 'content-length': bytes.length };
    response.writeHead(status, { ...type, ...encoding, ...headers }).end(bytes);
  }

  /** By the call's number, so that the same run meets the same. */
  function inTurn<T>(choices: readonly T[]): T | undefined {
    return choices[call.seq % choices.length];
  }

  /** Announces the whole length, sends half of the text, and closes the connection properly. */
  function cutShort(text: string): void {
    call.status = 200;
    const bytes = Buffer.from(text);
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': bytes.length });
    response.write(bytes.subarray(0, Math.floor(bytes.length / 2)), () => response.socket?.end());
  }
}

/** A body that is no object becomes one field. */
function fieldsOf(body: unknown): object {
  return typeof body === 'object' && body !== null && !Array.isArray(body) ? body : { answer: body };
}

/** Valid JSON with the usual answer, but far too long: a client without a limit would read it. */
function padded(body: unknown, sizeBytes: number): string {
  const usual = fieldsOf(body);
  const bare = JSON.stringify({ ...usual, padding: '' });
  return JSON.stringify({ ...usual, padding: 'x'.repeat(Math.max(0, sizeBytes - Buffer.byteLength(bare))) });
}
