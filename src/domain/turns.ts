/**
 * What only one saga at a time may work on: a server's firewalls, a subscription. A second saga waits for its turn.
 *
 * `provisionServers` takes no turn: the servers that it protects are those that it bought, and all that it does to them is to assign.
 */
import type { WorkflowName } from './identity';

/** @returns `server 7` or `subscription 5`; undefined for a saga that needs no turn */
export function resourceOf(
  workflow: WorkflowName,
  request: { reference: string; vmObjectId?: number; subscription_id?: number; quoteOnly?: boolean | undefined },
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

/** Says that it may be a saga's turn: it looks at once. Anybody may send it. */
export const turnSignal = 'turn';

/** How a saga stands in the queue of what it works on. */
export type TurnAnswer =
  /** It may work; `turn` goes along with each of its calls that change something. */
  | { how: 'begun'; turn: string }
  /** Another one works on it, or is before it. */
  | QueuedTurn
  /** What it is about was placed before: it only tells the recorded answer. */
  | { how: 'needless' };

export interface QueuedTurn {
  how: 'queued';
  resource: string;
  /** Sagas before it, with the one that works. */
  before: number;
  since: string;
  /** The workflow id of the one that works, or is to work next; and its namespace, where that is another one. */
  holder: string;
  /** Where nobody says that it is its turn, it looks again after so long, in milliseconds. */
  lookInMs: number;
}
