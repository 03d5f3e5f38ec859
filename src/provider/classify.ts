/** The table: what an answer means. Everything else in this room, and outside it, decides from these names. */
import type { ProviderFailureName } from './errors';

/**
 * | status             | means              | because                                                               |
 * | ------------------ | ------------------ | --------------------------------------------------------------------- |
 * | 2xx                | success            | unless the body says otherwise, see {@link readBody}                  |
 * | 3xx                | UnexpectedResponse | the interface has no redirects: a wrong base URL                      |
 * | 401 Unauthorized   | Unauthorized       | the credentials are refused                                           |
 * | 403 Forbidden      | Unauthorized       | they may not do this                                                  |
 * | 408 Timeout        | UnknownOutcome     | a proxy may send it while the provider is still at work               |
 * | 429 Too Many       | RateLimited        |                                                                       |
 * | any other 4xx      | Rejected           |                                                                       |
 * | 5xx                | UnknownOutcome     | it may have failed after it took effect                               |
 * | anything else      | UnknownOutcome     | not HTTP's language; nothing is sure                                  |
 */
export function classifyStatus(status: number): 'success' | Exclude<ProviderFailureName, 'NotSent'> {
  if (status === 401 || status === 403) return 'Unauthorized';
  if (status === 408) return 'UnknownOutcome';
  if (status === 429) return 'RateLimited';
  if (status >= 200 && status < 300) return 'success';
  if (status >= 300 && status < 400) return 'UnexpectedResponse';
  if (status >= 400 && status < 500) return 'Rejected';
  return 'UnknownOutcome';
}

/** Levels of arrays and objects. Real answers have a handful; thousands would overflow whoever prints or copies them. */
const depthMax = 64;

/**
 * A success's body. The document shows that a body may carry a code of its own (row 2), so one of 400 or more, at the top
 * or under `data`, counts as a refusal whatever the status said. Only numbers count: a string `code` may be anything.
 */
export function readBody(text: string): { json: unknown; refusedWith?: number } | { unreadable: string } {
  if (text.trim() === '') return { json: null };
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return { unreadable: 'its body is not JSON' };
  }
  if (isDeeperThan(depthMax, json)) return { unreadable: `its body is nested deeper than ${String(depthMax)} levels` };
  const refusedWith = [json, property(json, 'data')]
    .map((place) => property(place, 'code'))
    .find((code) => typeof code === 'number' && code >= 400);
  return typeof refusedWith === 'number' ? { json, refusedWith } : { json };
}

function property(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

function isDeeperThan(levels: number, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeperThan(levels - 1, inner));
}
