/** The workflows as whoever bundles them has to name them: the build, the tests, and a worker that runs from a checkout. */
export const workflowSources = {
  workflowsPath: require.resolve('../workflows/index'),
  workflowInterceptorModules: [require.resolve('../workflows/hand-on-trace')],
  preloadModules: [require.resolve('../workflows/preloaded')],
};
