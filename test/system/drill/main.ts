/**
 * The drill: a bad night of the provider, rehearsed. Sagas come at a steady rate; in the middle the provider takes
 * orders without an answer, then answers nothing, and a worker holds new sagas; it comes back, and probes release the
 * hold. One person sends one job for what is stuck, one evidence file for what is in doubt, and has the rest
 * reconciled, all with the command line. docs/operating.md tells what that person does.
 *
 *   npm run drill -- --sagas 1000
 *
 *     --sagas N     how many                                              (1000)
 *     --rate N      how many come in one second                           (2)
 *     --limit N     calls per second that are allowed, for all workers    (20)
 *     --workers N   worker processes                                      (2)
 *     --patience N  seconds until what does not come about is given up    (600)
 *     --json FILE   the figures
 *
 * Status 0: nothing was bought twice or lost, nothing is left, the rate was kept, and the night was as bad as it should
 * be. 1: not so. 2: wrong arguments.
 */
import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { printed, tooSeldom } from '../chaos/table';
import { NightRun } from './night';
import { closeWhenEnded, exitAs, whole } from '../chaos/program';

async function main(): Promise<number> {
  const options = readArguments();
  if (options === undefined) return 2;
  const { sagas, perSecond, json, ...rest } = options;
  console.log(
    `drill: ${sagas} sagas, ${perSecond} a second: the provider goes down in the middle; this waits until it is back and all have ended`,
  );
  const run = new NightRun({ sagas, perSecond, ...rest });
  closeWhenEnded(() => run.close());
  try {
    const { sections, violations } = await run.result();
    const seldom = tooSeldom(sections, 1);
    console.log(`\n${printed(sections)}\n`);
    for (const sentence of violations) console.log(`VIOLATION  ${sentence}`);
    for (const sentence of seldom) console.log(`TOO SELDOM  ${sentence}`);
    const good = violations.length === 0 && seldom.length === 0;
    console.log(good ? 'the night went well' : `the night went wrong: ${violations.length} violations`);
    if (json) await writeFile(json, JSON.stringify({ sagas, good, sections, violations, seldom }, null, 2));
    return good ? 0 : 1;
  } finally {
    await run.close();
  }
}

function readArguments() {
  try {
    const { values } = parseArgs({
      options: {
        sagas: { type: 'string', default: '1000' },
        rate: { type: 'string', default: '2' },
        limit: { type: 'string', default: '20' },
        workers: { type: 'string', default: '2' },
        patience: { type: 'string', default: '600' },
        json: { type: 'string' },
      },
    });
    return {
      // Fewer cannot show all that has to be seen.
      sagas: whole('sagas', values.sagas, 40),
      perSecond: whole('rate', values.rate),
      callsPerSecond: whole('limit', values.limit),
      workers: whole('workers', values.workers),
      patienceMs: whole('patience', values.patience) * 1_000,
      json: values.json,
    };
  } catch (error) {
    console.error((error as Error).message);
    return undefined;
  }
}

exitAs(main);
