/**
 * Once per run: a Temporal server for all test files (each makes a namespace of its own on it) and the workflow bundle.
 * The environment carries both to the tests:
 *
 *   ORDER_SAGA_TEST_TEMPORAL_ADDRESS   host:port
 *   ORDER_SAGA_TEST_TEMPORAL_UI        URL of its Web UI; missing when TEMPORAL_ADDRESS named a server
 *   ORDER_SAGA_TEST_TEMPORAL_CLI       path of the CLI; missing likewise
 *   ORDER_SAGA_TEST_BUNDLE             path of the bundle
 *
 * ORDER_SAGA_NO_TEMPORAL=1 leaves it all out, for tests of rooms that need none of it.
 */
import { existsSync } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { provideTemporal } from '../../scripts/dev-server';
import { bundleWorkflows } from '../../scripts/workflow-bundle';
import { provided } from './global-teardown';

const workflowsPath = join(__dirname, '..', '..', 'src', 'workflows', 'index.ts');

export default async function setUp(): Promise<void> {
  if (process.env['ORDER_SAGA_NO_TEMPORAL'] === '1') return;
  process.stderr.write('waiting for a Temporal server and the workflow bundle…\n');
  const [temporal] = await Promise.all([provideTemporal(), bundle()]);
  provided.temporal = temporal;
  process.env['ORDER_SAGA_TEST_TEMPORAL_ADDRESS'] = temporal.address;
  if (temporal.uiUrl !== undefined) process.env['ORDER_SAGA_TEST_TEMPORAL_UI'] = temporal.uiUrl;
  if (temporal.cli !== undefined) process.env['ORDER_SAGA_TEST_TEMPORAL_CLI'] = temporal.cli;
}

async function bundle(): Promise<void> {
  if (!existsSync(workflowsPath)) return;
  provided.folder = await mkdtemp(join(tmpdir(), 'order-saga-test-'));
  const path = join(provided.folder, 'workflow-bundle.js');
  await writeFile(path, await bundleWorkflows());
  process.env['ORDER_SAGA_TEST_BUNDLE'] = path;
}
