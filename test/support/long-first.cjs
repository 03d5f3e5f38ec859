/**
 * Those that take the longest, most of it in waiting: begun first, they run beside all others, and nobody waits for
 * them alone.
 */
const { default: Sequencer } = require('@jest/test-sequencer');

const long =
  /\/test\/(system\/(sweep|second-orders|canaries|stack|upgrade|interop|first-hour)|integration\/(provider\/connections|worker\/killed|workflows\/decide-many))/;

module.exports = class LongFirst extends Sequencer {
  sort(tests) {
    const sorted = super.sort(tests);
    return [...sorted.filter(({ path }) => long.test(path)), ...sorted.filter(({ path }) => !long.test(path))];
  }
};
