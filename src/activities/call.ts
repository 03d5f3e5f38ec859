/** What every activity does around its call: name the failure, and say whether to try again. */
import type { ActivitySettings, CallKind } from './settings';
import { translateFailure, type RetryState } from './translate-failure';

/** What the workflow says beside the call's own arguments. */
export interface CallContext {
  retry?: RetryState | undefined;
}

export type Call = <T>(kind: CallKind, asked: CallContext, act: () => Promise<T>) => Promise<T>;

export function createCall(settings: ActivitySettings): Call {
  return async (kind, asked, act) => {
    try {
      return await act();
    } catch (error) {
      throw translateFailure(error, kind, asked.retry, settings);
    }
  };
}

/** Characters of a provider's answer that are kept in an outcome. */
const keptCharsMax = 16_384;

/**
 * An answer of undocumented format, unchanged, with its secrets; one that is too long for a history is cut to an
 * excerpt.
 */
export function rawResponse(response: unknown): unknown {
  const json = JSON.stringify(response ?? null);
  return json.length <= keptCharsMax
    ? response
    : { truncated: true, excerpt: json.slice(0, keptCharsMax).replace(/[\uD800-\uDBFF]$/, '') };
}
