/**
 * Where the tests of one file run: once to learn which mutants each test covers, then for one mutant after another.
 *
 *   - Workflow code finds the instrumentation here; bundle-workflows.ts has its end of it.
 *   - The first failure is enough: the rest is skipped, in the files that come after it too.
 *   - A workflow task that fails (staged-run.ts) fails the test at once.
 *   - Which files cover which mutants is written down (coverage.js).
 */
const StrykerEnvironment = require('@stryker-mutator/jest-runner/jest-env/node');
const { writeCoverage } = require('./coverage');

/** It asks for a namespace. Whole files that need a server are left out in rooms.ts. */
const notOnStage = ['is not sent where earlier runs cannot be looked up'];

/** What runs between two tests is of neither. Coverage under a name that no test has is not heeded. */
const betweenTests = 'between tests';

/** The last mutant that a test noticed. A process sees one mutant after another, each in all of its files. */
let killed;

module.exports = class MutationEnvironment extends StrykerEnvironment {
  constructor(config, context) {
    super(config, context);
    this.file = context.testPath;
    this.begunMs = Date.now();
    this.testIds = [];
    this.alarm = new Promise((_, reject) => {
      this.raise = reject;
    });
    this.alarm.catch(() => undefined);
  }

  get instrumentation() {
    const instrumentation = this.global.__stryker__;
    instrumentation.activeMutant ??= process.env.__STRYKER_ACTIVE_MUTANT__;
    return instrumentation;
  }

  async setup() {
    await super.setup();
    // This file is loaded in the main realm, where the workflow sandbox looks; the tests run in another one.
    globalThis.orderSagaMutation = this;
    this.global.orderSagaMutation = {
      raise: this.raise,
      createWorkflow: (options) => require('./workflow-sandbox').createWorkflow(options),
    };
  }

  async handleTestEvent({ name, test }) {
    const { instrumentation } = this;
    if (name === 'test_start') {
      const noticed = killed !== undefined && killed === instrumentation.activeMutant;
      if (noticed || notOnStage.includes(test.name)) test.mode = 'skip';
      // A test that is given longer for a server needs no longer here.
      test.timeout = undefined;
    } else if (name === 'test_fn_start') {
      const { fn } = test;
      test.fn = () => Promise.race([fn(), this.alarm]);
    } else if (name === 'test_done') {
      if (test.errors.length > 0) killed = instrumentation.activeMutant;
      if (instrumentation.currentTestId !== undefined) this.testIds.push(instrumentation.currentTestId);
    } else if (this.testIds.length > 0) {
      instrumentation.currentTestId ??= betweenTests;
    }
  }

  async teardown() {
    const { activeMutant, mutantCoverage } = this.instrumentation;
    if (activeMutant === undefined && mutantCoverage !== undefined) {
      const { static: always, perTest } = mutantCoverage;
      const covered = new Set(this.testIds.flatMap((id) => Object.keys(perTest[id] ?? {})));
      const ms = Date.now() - this.begunMs;
      writeCoverage({ file: this.file, ms, covered: [...covered], always: Object.keys(always) });
    }
    // What the next file does while it is loaded is of no test, and decides all of them.
    this.instrumentation.currentTestId = undefined;
    await super.teardown();
  }
};
