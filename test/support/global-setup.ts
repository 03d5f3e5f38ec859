/**
 * Once per run: a Temporal server for all test files (each makes a namespace of its own on it) and our programs,
 * compiled, with the workflow bundles. The environment carries both to the tests:
 *
 *   ORDER_SAGA_TEST_TEMPORAL_ADDRESS   host:port
 *   ORDER_SAGA_TEST_TEMPORAL_UI        URL of its Web UI; missing when TEMPORAL_ADDRESS named a server
 *   ORDER_SAGA_TEST_TEMPORAL_CLI       path of the CLI; missing likewise
 *   ORDER_SAGA_TEST_PROGRAMS           folder of the programs
 *   ORDER_SAGA_TEST_REPLAYER           URL of the process that replays histories
 *
 * ORDER_SAGA_NO_TEMPORAL=1 leaves the server and the replays out, for tests of rooms that need none.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { provideTemporal } from '../../scripts/dev-server';
import { provided } from './global-teardown';
import { buildPrograms } from './programs';

export default async function setUp(): Promise<void> {
  const needsTemporal = process.env['ORDER_SAGA_NO_TEMPORAL'] !== '1';
  process.stderr.write(`waiting for ${needsTemporal ? 'a Temporal server and ' : ''}the workflow bundle…\n`);
  const [temporal, programs] = await Promise.all([needsTemporal ? provideTemporal() : undefined, buildPrograms()]);
  process.env['ORDER_SAGA_TEST_PROGRAMS'] = programs;
  if (temporal === undefined) return;
  provided.temporal = temporal;
  provided.replayer = fork(join(__dirname, 'replayer.ts'), [], { execArgv: ['--import', 'tsx'], stdio: 'inherit' });
  const [url] = (await once(provided.replayer, 'message')) as [string];
  process.env['ORDER_SAGA_TEST_REPLAYER'] = url;
  process.env['ORDER_SAGA_TEST_TEMPORAL_ADDRESS'] = temporal.address;
  if (temporal.uiUrl !== undefined) process.env['ORDER_SAGA_TEST_TEMPORAL_UI'] = temporal.uiUrl;
  if (temporal.cli !== undefined) process.env['ORDER_SAGA_TEST_TEMPORAL_CLI'] = temporal.cli;
}
