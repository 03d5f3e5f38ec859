/** One saga at a time works on a resource. `provisionServers` takes no turn: it changes its own servers only. */
import type { WorkflowName } from './identity';
import type { Queued } from './progress';

/** @returns `server 7` or `subscription 5`; undefined for a saga that needs no turn */
export function resourceOf(
  workflow: WorkflowName,
  request: { reference: string; vmObjectId?: number; subscription_id?: number; quoteOnly?: boolean },
): string | undefined {
  switch (workflow) {
    case 'setFirewalls':
      return `server ${request.vmObjectId}`;
    case 'changeOrder':
    case 'switchPlan':
      return request.quoteOnly ? undefined : `subscription ${request.subscription_id}`;
    case 'provisionServers':
    case 'cleanCart':
      return undefined;
  }
}

/** Says that it may be a saga's turn, so that the saga looks at once. Any sender is allowed. */
export const turnSignal = 'turn';

/** How a saga stands in the queue of what it works on. */
export type TurnAnswer =
  /** It may work; `turn` goes along with each of its calls that change something. */
  | { how: 'begun'; turn: string }
  /** Another one works on it, or is before it. */
  | QueuedTurn
  /** It was placed before, or has ended: the saga only returns what is recorded. */
  | { how: 'already-placed' };

export interface QueuedTurn extends Omit<Queued, 'lookedAt'> {
  how: 'queued';
  /** When it looks again where no signal comes, in milliseconds. */
  lookInMs: number;
}
