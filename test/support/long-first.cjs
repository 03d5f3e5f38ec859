/** The sweeps take the longest: begun first, they run beside all others, and nobody waits for them alone at the end. */
const { default: Sequencer } = require('@jest/test-sequencer');

const isLong = ({ path }) => path.includes('/test/system/sweep/');

module.exports = class LongFirst extends Sequencer {
  sort(tests) {
    const sorted = super.sort(tests);
    return [...sorted.filter(isLong), ...sorted.filter((test) => !isLong(test))];
  }
};
