/** Jest for one mutant after another: without a server. */
const { testMatch, transform } = require('../jest.config.js');

module.exports = {
  rootDir: '..',
  testMatch,
  transform,
  testEnvironment: '@stryker-mutator/jest-runner/jest-env/node',
  testTimeout: 20_000,
};
