/** The settings of activities as most tests want them. */
import { join } from 'node:path';
import type { ActivitySettings, RetryBudget } from '../../src/activities/settings';
import { readProfile } from '../../src/config/parsers';

/** Few and quick: a test wants to see the end of them. */
const quickRetries: RetryBudget = { attemptsMax: 3, backoffMs: 10, backoffMaxMs: 50, totalMs: 60_000 };

export function activitySettings(budget: RetryBudget, changes: Partial<ActivitySettings> = {}): ActivitySettings {
  return {
    retries: { read: budget, mutate: budget, compensate: budget, pivot: budget, poll: budget },
    ownTriesMs: [],
    pivotRetryStatuses: [429],
    takesClearRequests: false,
    onRefusal: 'fail',
    listLagMs: 60_000,
    newServerWithinMs: 1_800_000,
    sendWithinMs: 5_000,
    inFlightMs: 1_000,
    approvalMaxAgeMs: 0,
    quoteMaxAgeMs: 300_000,
    duplicateWithinMs: 0,
    requireFirewalls: 'off',
    spendLimits: [],
    ...changes,
  };
}

/** How the sandbox is to be read. */
export const sandboxProfileFile = join(__dirname, '../../sandbox/profile.json');
export const sandboxProfile = readProfile(sandboxProfileFile);

/** As the rig's worker has them. */
export const rigSettings: ActivitySettings = activitySettings(quickRetries, {
  retries: {
    ...activitySettings(quickRetries).retries,
    // Servers of an order take a moment to show.
    poll: { ...quickRetries, attemptsMax: 6 },
  },
  profile: sandboxProfile,
  approvalMaxAgeMs: 3_600_000,
});

/** As Temporal hands it on: a field that is undefined is not there. */
export const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
