/**
 * Those that take the longest, most of it in waiting: begun first, they run beside all others, and nobody waits for
 * them alone.
 */
const { default: Sequencer } = require('@jest/test-sequencer');

const long = new RegExp(
  [
    '/test/system/(sweep|second-orders|canaries|upgrade|interop|first-hour|operators-hour|web-ui|client-package)',
    '/test/integration/operations/(metrics|own-server|temporal-server)',
    '/test/integration/cli/decide-many|/test/integration/workflows/(find-servers|reconcile-firewalls|set-firewalls)',
    '/test/integration/(journal/(contract|concurrency)|worker)',
  ].join('|'),
);

module.exports = class LongFirst extends Sequencer {
  sort(tests) {
    const sorted = super.sort(tests);
    return [...sorted.filter(({ path }) => long.test(path)), ...sorted.filter(({ path }) => !long.test(path))];
  }
};
