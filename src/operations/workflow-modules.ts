import { DefaultLogger } from '@temporalio/worker';
import { failureConverterPathOf } from '../security/data-converter';

/** Paths of the modules that are bundled: for the build, the tests, and a worker that runs from a checkout. */
function workflowModules({ encrypted }: { encrypted: boolean }) {
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

/** Only a failure is worth a line. */
export const quiet = new DefaultLogger('ERROR', ({ message }) => process.stderr.write(`${message}\n`));

/** Without Webpack's report of a build that went well; one that fails throws. */
export const bundling = ({ encrypted }: { encrypted: boolean }) => ({
  ...workflowModules({ encrypted }),
  failureConverterPath: failureConverterPathOf(encrypted),
  ...(encrypted ? { payloadConverterPath } : {}),
  logger: quiet,
});
