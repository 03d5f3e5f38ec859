/**
 * Records the histories that every later version has to replay: once for each release, by whoever makes it.
 *
 *   npm run histories    into test/system/histories/<version>/, on a dev server, against the sandbox
 *
 * Who recorded them, and where, is taken out.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { historyToJSON } from '@temporalio/common/lib/proto-utils';
import { version } from '../../../package.json';
import setUp from '../../support/global-setup';
import tearDown from '../../support/global-teardown';
import { Rig } from '../../support/rig';
import { stories } from './sagas';

async function main(): Promise<void> {
  const folder = join(__dirname, version);
  await setUp();
  // In one story, firewalls are changed in the control panel, which no journal knows.
  const rig = await Rig.start({ compares: false });
  try {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    for (const [name, story] of Object.entries(stories)) {
      const { workflowId, runId } = await story(rig);
      const history = await rig.temporal.workflow.getHandle(workflowId, runId).fetchHistory();
      writeFileSync(join(folder, `${name}.json`), `${anonymous(historyToJSON(history))}\n`);
      console.log(`recorded: ${name}`);
    }
  } finally {
    await rig.close();
    await tearDown();
  }
}

/** A replay reads neither who did something, nor on which machine, nor where in the code it failed. */
function anonymous(history: string): string {
  const parsed: unknown = JSON.parse(history);
  const here = new RegExp(`\\d+@${hostname().replaceAll('.', '\\.')}[^"]*`, 'g');
  return JSON.stringify(parsed, (key, value: unknown) => (key === 'stackTrace' ? '' : value)).replaceAll(
    here,
    'recorded',
  );
}

main().then(
  // Temporal's runtime would keep the process.
  () => process.exit(0),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
