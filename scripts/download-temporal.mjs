/**
 * Has the SDK download the Temporal CLI: `node download-temporal.mjs VERSION FOLDER`. The SDK does so only on the way to
 * starting a server, which is therefore started, and stopped at once.
 */
import { TestWorkflowEnvironment } from '@temporalio/testing';

const [version, downloadDir] = process.argv.slice(2);
try {
  const environment = await TestWorkflowEnvironment.createLocal({
    server: {
      executable: { type: 'cached-download', version, downloadDir },
      log: { format: 'pretty', level: 'error' },
    },
  });
  await environment.teardown();
} catch (error) {
  // On one line: the message repeats its causes, the stack says nothing more.
  console.error(error instanceof Error ? error.message.replaceAll('\n', ' ') : error);
  process.exitCode = 1;
}
// The SDK's runtime would keep the process.
process.exit();
