/**
 * The SDK's workflow sandbox, which the package does not export: one for all test files and mutants of a process, because to
 * load the bundle takes longer than to run a saga.
 */
const { readFileSync } = require('node:fs');
const { TypedSearchAttributes } = require('@temporalio/common');
const { ReusableVMWorkflowCreator } = require('@temporalio/worker/lib/workflow/reusable-vm');
const { parseWorkflowCode } = require('@temporalio/worker/lib/worker');

/** None: a mutant that runs in circles is ended by Stryker, with its process. To be stopped in the middle breaks Node. */
const activationMaxMs = 2 ** 31 - 1;

let creator;

module.exports.createWorkflow = async ({ runId, firstRunId, workflowId, type, activities }) => {
  const bundle = () => parseWorkflowCode(readFileSync(process.env.ORDER_SAGA_TEST_BUNDLE, 'utf8'));
  creator ??= ReusableVMWorkflowCreator.create(bundle(), activationMaxMs, new Set(activities));
  const now = Date.now();
  return (await creator).createWorkflow({
    info: {
      workflowId,
      runId,
      firstExecutionRunId: firstRunId,
      originalExecutionRunId: runId,
      workflowType: type,
      namespace: 'stage',
      taskQueue: 'order-saga',
      attempt: 1,
      searchAttributes: {},
      typedSearchAttributes: new TypedSearchAttributes(),
      startTime: new Date(now),
      runStartTime: new Date(now),
      taskTimeoutMs: 10_000,
      historyLength: 0,
      historySize: 0,
      continueAsNewSuggested: false,
      unsafe: { now: Date.now, isReplaying: false, isReplayingHistoryEvents: false },
    },
    randomnessSeed: Array.from(runId, (char) => char.charCodeAt(0)),
    now,
    showStackTraceSources: false,
  });
};
