/** What is mutated, and which tests have to notice. */
export interface Room {
  /** Globs of sources. */
  sources: string[];
  /** Globs of test files, below `test/`. */
  tests: string[];
  /** Whether the tests run workflows: then the mutants go into their bundle too. */
  workflows: boolean;
}

/** Not those that need a bundle of their own. */
const workflowTests = 'workflows/!(reminders).test.ts';

export const rooms: Record<string, Room> = {
  domain: { sources: ['src/domain/*.ts'], tests: ['domain/*.test.ts'], workflows: false },
  provider: { sources: ['src/provider/*.ts'], tests: ['provider/*.test.ts'], workflows: false },
  failures: {
    sources: ['src/activities/translate-failure.ts'],
    tests: ['activities/{bounds,translate-failure}.test.ts'],
    workflows: false,
  },
  activities: {
    sources: ['src/activities/*.ts', '!src/activities/translate-failure.ts'],
    tests: ['activities/*.test.ts', workflowTests],
    workflows: true,
  },
  // Not what only a server and what listens to it can notice: counters and traces.
  workflows: {
    sources: ['src/workflows/!(preloaded|metrics|hand-on-trace).ts'],
    tests: [workflowTests],
    workflows: true,
  },
};
