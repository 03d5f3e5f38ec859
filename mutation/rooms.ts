/** The files that are mutated, and the tests that must notice. None of them needs a Temporal server. */
export interface Room {
  /** Globs of sources. */
  sources: string[];
  /** Globs of test files, below `test/`. */
  tests: string[];
}

export const rooms: Record<string, Room> = {
  domain: { sources: ['src/domain/*.ts'], tests: ['unit/domain/*.test.ts'] },
  provider: { sources: ['src/provider/*.ts'], tests: ['unit/provider/*.test.ts'] },
  failures: {
    sources: ['src/activities/translate-failure.ts'],
    tests: ['unit/activities/translate-failure.test.ts'],
  },
  effect: { sources: ['src/activities/effect.ts'], tests: ['unit/activities/*.test.ts'] },
  journal: {
    sources: ['src/journal/{journal,acquire,decide,intend,state,rows,read-state}.ts', 'src/journal/restore/*.ts'],
    tests: ['integration/journal/contract.test.ts'],
  },
};
