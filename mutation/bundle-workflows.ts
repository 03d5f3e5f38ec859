/**
 * Stryker's build step, run in its copy of the project after the mutants are in: the workflow bundle of all tests.
 *
 * An instrumented file asks `__stryker__` on its global object which mutant is active, and notes there what it covered.
 * Inside the SDK's sandbox there is nothing of the outside but a few classes; any of them leads to the main realm, where
 * jest-environment.js answers. What stands on the global object itself the sandbox freezes, so this stands behind it.
 */
import { writeFileSync } from 'node:fs';
import { bundleWorkflows } from '../scripts/workflow-bundle';

const doorOutside = `
// The SDK takes the stack of every promise, for a view that nobody opens here.
Error.stackTraceLimit = 0;
Object.defineProperty(Object.prototype, '__stryker__', {
  configurable: true,
  get: () => TextEncoder.constructor('return globalThis')().orderSagaMutation.instrumentation,
});
`;

async function main(): Promise<void> {
  const path = process.env['ORDER_SAGA_TEST_BUNDLE'];
  if (path === undefined) throw new Error('ORDER_SAGA_TEST_BUNDLE names no file: run this through npm run mutate');
  writeFileSync(path, doorOutside + (await bundleWorkflows()));
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
