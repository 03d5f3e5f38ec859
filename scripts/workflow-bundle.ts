/** The workflow bundle, for the build, the tests and the measurements. */
import { bundleWorkflowCode, type BundleOptions } from '@temporalio/worker';
import { failureConverterPathOf } from '../src/security/data-converter';
import { payloadConverterPath, workflowModules } from '../src/temporal/workflow-modules';

/** Drops Webpack's report of a successful build; a failed build throws. */
export const quiet = { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error: console.error };

export interface WorkflowBundleOptions {
  /** The bundle is for a worker with keys. */
  encrypted?: boolean;
  /** Other workflows than ours. */
  workflowsPath?: string;
  /** Paths of modules, and of their replacements. */
  instead?: Record<string, string>;
}

/** @returns its code */
export async function bundleWorkflows({
  encrypted = false,
  workflowsPath,
  instead,
}: WorkflowBundleOptions = {}): Promise<string> {
  const { code } = await bundleWorkflowCode({
    ...workflowModules,
    ...(workflowsPath ? { workflowsPath } : {}),
    failureConverterPath: failureConverterPathOf(encrypted),
    ...(encrypted ? { payloadConverterPath } : {}),
    ...(instead ? { webpackConfigHook: withAliases(instead) } : {}),
    logger: quiet,
  });
  return code;
}

function withAliases(aliases: Record<string, string>): NonNullable<BundleOptions['webpackConfigHook']> {
  return (webpack) => {
    const given = webpack.resolve?.alias as Record<string, string> | undefined;
    return { ...webpack, resolve: { ...webpack.resolve, alias: { ...given, ...aliases } } };
  };
}
