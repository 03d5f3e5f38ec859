/**
 * Jest's runtime, with one copy of each large package for all test files of a process. To load the SDK, the drivers and
 * zod anew for each file takes most of a second, and some of each copy stays for good. What a file spies on is given
 * back at its end, and what it mocks is mocked for it alone.
 */
const { createRequire } = require('node:module');
const { default: Runtime } = require('jest-runtime');

const shared = /^(@temporalio\/(activity|client|common|proto|worker)|kysely|libsql|pg|zod)(\/|$)/;

/** Of the test file that runs: a process runs one after the other. */
let runtime;

class SharingRuntime extends Runtime {
  constructor(...args) {
    super(...args);
    runtime = this;
  }

  requireModule(from, name) {
    return shared.test(name ?? '') ? createRequire(from)(name) : super.requireModule(from, name);
  }
}

// The SDK loads converters by their paths: it gets the test file's own copy.
require.extensions['.ts'] = (loaded, file) => {
  delete require.cache[file];
  loaded.exports = runtime.requireModule(file, file);
};

module.exports = SharingRuntime;
