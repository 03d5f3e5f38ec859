/**
 * How the tests of one file are loaded: as Jest does it, but for the SDK, which is loaded once for all files and mutants,
 * and so is the workflow bundle. To load them takes longer than most mutants live.
 */
const { dirname } = require('node:path');
const { default: JestRuntime } = require('jest-runtime');

const shared = /^(@temporalio|protobufjs|undici)(\/|$)/;

module.exports = class MutationRuntime extends JestRuntime {
  requireModuleOrMock(from, name) {
    if (!shared.test(name)) return super.requireModuleOrMock(from, name);
    return require(require.resolve(name, { paths: [dirname(from)] }));
  }
};
