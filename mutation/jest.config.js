/** Jest for one mutant after another: without a server of its own. */
const { testMatch, transform } = require('../jest.config.js');

module.exports = {
  rootDir: '..',
  testMatch,
  transform,
  testEnvironment: './mutation/jest-environment.js',
  moduleNameMapper: { '^[.]{1,2}/(support/)?rig$': '<rootDir>/mutation/stage.ts' },
  runtime: require.resolve('./jest-runtime.js'),
  filter: require.resolve('./covering-files.js'),
  testSequencer: require.resolve('./fastest-first.js'),
  // Finds a mutant that makes a saga wait for ever. The slowest test takes a fraction of it.
  testTimeout: 10_000,
};
