const commonJs = { type: 'commonjs' };

/** Jest runs the TypeScript sources through swc; types are checked by `npm run types`. */
module.exports = {
  testEnvironment: 'node',
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  transform: {
    '^.+\\.ts$': ['@swc/jest', { jsc: { target: 'es2022', parser: { syntax: 'typescript' } }, module: commonJs }],
    // It loads HTTP by `import()`, which Jest has only in modules.
    'otlp-exporter-base/.+\\.js$': ['@swc/jest', { jsc: { target: 'es2022' }, module: commonJs }],
  },
  transformIgnorePatterns: ['/node_modules/(?!@opentelemetry/otlp-exporter-base/)'],
  // Mutants stand there, which come and go.
  modulePathIgnorePatterns: ['<rootDir>/reports/'],
  // Loaded on demand, by the name that it has when it is built.
  moduleNameMapper: { '^(\\./((\\w+-)?commands|doctor|probe|check|check-profile|purchases))\\.js$': '$1' },
  // Each test file is in a context of its own, where a look at a global takes fifty times as long. Not those that tests
  // replace (`Date`), nor those that packages declare anew (`Buffer`, `process`).
  sandboxInjectedGlobals: `
    Array ArrayBuffer BigInt Error JSON Map Math Number Object Promise RangeError Reflect RegExp Set String Symbol TypeError Uint8Array WeakMap WeakSet
  `
    .split(/\s+/)
    .filter(Boolean),
  // Of each worker that a test file has had, something stays; a process that has become large spends its time on it.
  workerIdleMemoryLimit: '600MB',
  globalSetup: '<rootDir>/test/support/global-setup.ts',
  globalTeardown: '<rootDir>/test/support/global-teardown.ts',
  testSequencer: '<rootDir>/test/support/long-first.cjs',
  reporters: ['default', '<rootDir>/test/support/left-out-reporter.cjs'],
  // Four fifths of a test are waiting: for a timer, or for Temporal. Five at once keep two cores busy.
  maxWorkers: 5,
  // Tests wait for conditions, not for a time. This one only makes a wait that never ends speak up.
  testTimeout: 300_000,
};
