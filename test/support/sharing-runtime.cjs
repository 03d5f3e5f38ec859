/**
 * Jest's runtime, with one copy of each large package for all test files of a process. To load the SDK, the drivers and
 * zod anew for each file takes a second, and some of each copy stays for good. What a file spies on is given back at its
 * end, and what it mocks is mocked for it alone.
 */
const { createRequire } = require('node:module');
const { default: Runtime } = require('jest-runtime');

const shared = /^(@temporalio\/(activity|client|common|proto|worker)|kysely|libsql|pg|zod)(\/|$)/;

module.exports = class SharingRuntime extends Runtime {
  requireModule(from, name) {
    return shared.test(name ?? '') ? createRequire(from)(name) : super.requireModule(from, name);
  }
};
