/** Settings for workflows, which read none themselves: the answer stays in the history. */
import type { ActivitySettings } from './settings';

export function createInstallationActivities(settings: ActivitySettings) {
  return {
    /** Values of `plan_type` beyond the document's four that this installation knows, as the setting has them. */
    supportedPlanTypes(): Promise<string[]> {
      return Promise.resolve([...settings.planTypesMore]);
    },

    /** Whether a worker that has keys accepts a request that was not encrypted. */
    takesClearRequests(): Promise<boolean> {
      return Promise.resolve(settings.takesClearRequests);
    },
  };
}
