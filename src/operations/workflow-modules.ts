/** Paths of the modules that are bundled: for the build, the tests, and a worker that runs from a checkout. */
export function workflowModules({ encrypted }: { encrypted: boolean }) {
  return {
    workflowsPath: require.resolve('../workflows/index'),
    workflowInterceptorModules: [
      require.resolve('../workflows/trace-propagation'),
      require.resolve('../saga/people/human-decisions'),
      ...(encrypted ? [require.resolve('../workflows/sealed-answers')] : []),
    ],
    preloadModules: [require.resolve('../workflows/preloaded')],
  };
}

/** Replaces Temporal's own payload converter in a worker with keys. */
export const payloadConverterPath = require.resolve('../saga/payload-converter');
