/** The table of what an answer means. All other code, in this room and outside it, decides by these names. */
import type { ProviderFailureName } from './errors';

/**
 * | status             | means              | because                                                               |
 * | ------------------ | ------------------ | --------------------------------------------------------------------- |
 * | 2xx                | success            | unless the body says otherwise, see {@link readBody}                  |
 * | 3xx                | UnexpectedResponse | the interface has no redirects: a wrong base URL                      |
 * | 401 Unauthorized   | Unauthorized       | the credentials are refused                                           |
 * | 403 Forbidden      | Unauthorized       | the credentials do not allow this                                     |
 * | 408 Timeout        | UnknownOutcome     | a proxy may send it while the provider is still at work               |
 * | 429 Too Many       | RateLimited        |                                                                       |
 * | any other 4xx      | Rejected           |                                                                       |
 * | 5xx                | UnknownOutcome     | it may have failed after it took effect                               |
 * | anything else      | UnknownOutcome     | not an HTTP status; nothing is sure                                   |
 */
export function classifyStatus(
  status: number,
): 'success' | Exclude<ProviderFailureName, 'NotSent' | 'TokenUnreadable'> {
  if (status === 401 || status === 403) return 'Unauthorized';
  if (status === 408) return 'UnknownOutcome';
  if (status === 429) return 'RateLimited';
  if (status >= 200 && status < 300) return 'success';
  if (status >= 300 && status < 400) return 'UnexpectedResponse';
  if (status >= 400 && status < 500) return 'Rejected';
  return 'UnknownOutcome';
}

/**
 * Levels of arrays and objects. Real answers have a handful; printing or copying thousands would overflow the stack.
 */
const depthMax = 64;

/**
 * Reads the body of a success. The document shows that a body may have a code of its own (row 2), with the meaning of
 * an HTTP status (200 is success). So a code of 400 to 599, at the top or under `data`, counts as a refusal whatever
 * the status was. A larger number, or one with a fraction, is not an HTTP status: it may be an error's code or an
 * order's, so nothing is sure. Only numbers count: a string `code` may be anything.
 */
export function readBody(text: string): { json: unknown; refusedWith?: number } | { unreadable: string } {
  if (text.trim() === '') return { json: null };
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return { unreadable: 'its body is not JSON' };
  }
  if (isDeeperThan(depthMax, json)) return { unreadable: `its body is nested deeper than ${depthMax} levels` };
  const codes = [json, property(json, 'data')]
    .map((place) => property(place, 'code'))
    .filter((code): code is number => typeof code === 'number' && code >= 400);
  const [code] = codes;
  if (code === undefined) return { json };
  if (!codes.every(isErrorStatus)) return { unreadable: `its body says code ${codes.join(' and ')}` };
  return { json, refusedWith: code };
}

function isErrorStatus(code: number): boolean {
  return Number.isInteger(code) && code < 600;
}

function property(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

function isDeeperThan(levels: number, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeperThan(levels - 1, inner));
}
