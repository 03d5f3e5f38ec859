/** The sweep takes as long as half of the others together: begun last, it would be waited for alone. */
const { default: Sequencer } = require('@jest/test-sequencer');

module.exports = class SweepFirst extends Sequencer {
  sort(tests) {
    const isSweep = ({ path }) => path.endsWith('sweep.test.ts');
    const sorted = super.sort(tests);
    return [...sorted.filter(isSweep), ...sorted.filter((test) => !isSweep(test))];
  }
};
