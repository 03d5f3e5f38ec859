/**
 * What Temporal takes of one run before it ends it, as the server is shipped: `limit.historyCount.error`, and of the 50 MiB of
 * `limit.historySize.error` all but ten, which the calls under way and the report may still need.
 */
export const historyMax = { events: 51_200, bytes: 40 * 1024 * 1024 };
