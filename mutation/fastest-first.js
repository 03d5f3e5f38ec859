/** Jest's order of test files. The slowest would come first, which is right where all of them run; here one failure is enough. */
const { default: Sequencer } = require('@jest/test-sequencer');
const { readCoverage } = require('./coverage');

module.exports = class FastestFirst extends Sequencer {
  sort(tests) {
    const msOf = new Map(readCoverage().map(({ file, ms }) => [file, ms]));
    return [...tests].sort((one, other) => (msOf.get(one.path) ?? 0) - (msOf.get(other.path) ?? 0));
  }
};
