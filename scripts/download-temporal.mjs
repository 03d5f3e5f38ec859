/**
 * Lets the SDK download the Temporal CLI: `node download-temporal.mjs VERSION FOLDER`. The SDK downloads it only to
 * start a server, so a server is started, and stopped at once.
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
  // One line: the message contains its causes, and the stack adds nothing.
  console.error(error instanceof Error ? error.message.replaceAll('\n', ' ') : error);
  process.exitCode = 1;
}
// The SDK's runtime would keep the process alive.
process.exit();
