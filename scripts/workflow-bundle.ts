/** The workflow bundle, for the build, the tests and the measurements. */
import { bundleWorkflowCode, type BundleOptions } from '@temporalio/worker';
import { bundling } from '../src/operations/workflow-modules';

export interface WorkflowBundleOptions {
  /** The bundle is for a worker with keys. */
  encrypted?: boolean;
  /** Three times as large, and made in a fifth of the time. @default of a variation, which is a test's: it waits */
  quick?: boolean;
  /** Other workflows than ours. */
  workflowsPath?: string;
}

/** @returns its code */
export async function bundleWorkflows({
  encrypted = false,
  workflowsPath,
  quick = workflowsPath !== undefined,
}: WorkflowBundleOptions = {}): Promise<string> {
  const { code } = await bundleWorkflowCode({
    ...bundling({ encrypted }),
    ...(workflowsPath ? { workflowsPath } : {}),
    webpackConfigHook: (webpack) => configured(webpack, quick),
  });
  return code;
}

type Webpack = Parameters<NonNullable<BundleOptions['webpackConfigHook']>>[0];

/**
 * Leaves out of a library all that no workflow uses, and makes the rest one scope: a quarter of the bytes, and a tenth
 * less of the worker's processor time. The source map has the names for a failure's stack.
 */
function configured(webpack: Webpack, quick: boolean): Webpack {
  return {
    ...webpack,
    mode: 'production',
    optimization: { ...webpack.optimization, minimize: !quick },
  };
}
