/** What every activity does around its call: name the failure, and say whether to try again. */
import type { ActivitySettings, Mood } from './settings';
import { translateFailure, type Again } from './translate-failure';

/** What the workflow says beside the call's own arguments. */
export interface Asked {
  again?: Again | undefined;
}

export type Call = <T>(mood: Mood, asked: Asked, act: () => Promise<T>) => Promise<T>;

export function createCall(settings: ActivitySettings): Call {
  return async (mood, asked, act) => {
    try {
      return await act();
    } catch (error) {
      throw translateFailure(error, mood, asked.again, settings);
    }
  };
}

/** Characters of a provider's answer that are kept in an outcome. */
const keptCharsMax = 16_384;

/** An answer of undocumented shape, as it came, secrets and all; one that is too long for a history is cut to an excerpt. */
export function asItCame(response: unknown): unknown {
  const json = JSON.stringify(response ?? null);
  return json.length <= keptCharsMax ? response : { truncated: true, excerpt: json.slice(0, keptCharsMax) };
}
