/** How a saga that has begun, and has no ending in the journal, stands in Temporal. */

/** `failed`, `cancelled`: not by the saga itself. `gone`: Temporal has no run of it any more. */
export const waysLost = ['terminated', 'timed-out', 'failed', 'cancelled', 'gone'] as const;
export type WayLost = (typeof waysLost)[number];

/** `ended`: in order, with a report. */
export type RunStatus = 'open' | 'ended' | WayLost;

/** A saga that has ended in order is not lost, whether its ending was written down or not. */
export const isLost = (how: RunStatus | undefined): how is WayLost =>
  how !== undefined && how !== 'open' && how !== 'ended';
