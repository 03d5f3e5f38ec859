/** Paths of the modules that are bundled: for the build, the tests, and a worker that runs from a checkout. */
export const workflowModules = {
  workflowsPath: require.resolve('../workflows/index'),
  workflowInterceptorModules: [require.resolve('../workflows/trace-propagation')],
  preloadModules: [require.resolve('../workflows/preloaded')],
};

/** Replaces Temporal's own payload converter in a worker with keys. */
export const payloadConverterPath = require.resolve('../saga/plaintext-input');
