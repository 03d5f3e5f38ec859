/** What every activity does around its one provider call: heed the hold switch before a saga's first, and name the failure. */
import { existsSync } from 'node:fs';
import { Context } from '@temporalio/activity';
import type { ActivitySettings, Mood } from './settings';
import { OwnFailure, translateFailure, type Again } from './translate-failure';

/** What the workflow says beside the call's own arguments. */
export interface Asked {
  again?: Again | undefined;
  /** True for a saga's first provider call: nothing was done yet, so it may be held. */
  opening?: boolean;
}

export type Call = <T>(mood: Mood, asked: Asked, act: () => Promise<T>) => Promise<T>;

export function createCall(settings: ActivitySettings): Call {
  return async (mood, asked, act) => {
    try {
      refuseRepeat(mood);
      if (asked.opening && settings.holdFile !== undefined && existsSync(settings.holdFile)) {
        throw new OwnFailure('Held', 'new sagas are held by the hold switch; nothing was sent');
      }
      return await act();
    } catch (error) {
      throw translateFailure(error, mood, asked.again, settings);
    }
  };
}

/**
 * A step with an effect is sent once per activity; a repeat is the workflow's to decide. Temporal repeats it all the same
 * when an operator raises the attempts of an activity in flight: what the earlier attempt did is then unknown.
 */
function refuseRepeat(mood: Mood): void {
  const { attempt } = Context.current().info;
  if (attempt === 1 || (mood !== 'acting' && mood !== 'daring')) return;
  throw new OwnFailure(
    'UnknownOutcome',
    'an earlier attempt of this call may have reached the provider; nothing was sent now',
  );
}

/** Characters of a provider's answer that are kept in an outcome. */
const keptCharsMax = 16_384;

/** An answer of undocumented shape, as it came; one that is too long for a history is cut to an excerpt. */
export function asItCame(response: unknown): unknown {
  const json = JSON.stringify(response ?? null);
  return json.length <= keptCharsMax ? response : { truncated: true, excerpt: json.slice(0, keptCharsMax) };
}
