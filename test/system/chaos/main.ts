/**
 * Chaos: a mix of all sagas under load, while provider calls fail in every way there is, workers are killed and
 * replaced, the Temporal server is killed and comes back, and people decide, cancel, reset, terminate and start again
 * at random.
 *
 *   npm run chaos -- --sagas 2000 --seed 7
 *
 *     --sagas N     how many                                              (150)
 *     --seed TEXT   repeats the plan of an earlier run                    (a new one)
 *     --at-once N   sagas in flight at most                               (60)
 *     --workers N   worker processes                                      (2)
 *     --least N     times that each kind of fault must have struck        (2)
 *     --patience N  seconds without any saga's end until the rest counts as forgotten (120)
 *     --lie NAME    what sagas stand on says what is not so: disk, clock, line or engine (lies.ts)
 *     --json FILE   the figures, and all that is known of sagas that broke a promise
 *
 * Status 0: every promise was kept, and every kind of fault struck. 1: not so. 2: wrong arguments.
 */
import { randomInt } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { planOf } from './plan';
import { lies } from './lies';
import { ChaosRun } from './run';
import { printed, tooSeldom } from './table';
import { closeWhenEnded, exitAs, whole } from './program';

async function main(): Promise<number> {
  const options = readArguments();
  if (options === undefined) return 2;
  const { seed, sagas, atOnce, workers, least, patience, lie, json } = options;
  const repeat = `npm run chaos -- --sagas ${sagas} --seed ${seed}${lie === undefined ? '' : ` --lie ${lie}`}`;
  console.log(`chaos: ${repeat}`);

  const run = new ChaosRun(planOf(seed, sagas), { atOnce, workers, patienceMs: patience * 1_000, lie });
  closeWhenEnded(() => run.close());
  try {
    const { sections, violations, suspects } = await run.result();
    const seldom = tooSeldom(sections, least);
    console.log(`\n${printed(sections)}\n`);
    for (const sentence of violations) console.log(`VIOLATION  ${sentence}`);
    for (const sentence of seldom) console.log(`TOO SELDOM  ${sentence}`);
    const good = violations.length === 0 && seldom.length === 0;
    console.log(`${violations.length} violations. The same plan again: ${repeat}`);
    if (json)
      await writeFile(
        json,
        JSON.stringify({ seed, sagas, repeat, good, sections, violations, seldom, suspects }, null, 2),
      );
    return good ? 0 : 1;
  } finally {
    await run.close();
  }
}

function readArguments() {
  try {
    const { values } = parseArgs({
      options: {
        sagas: { type: 'string', default: '150' },
        seed: { type: 'string', default: String(randomInt(1_000_000)) },
        'at-once': { type: 'string', default: '60' },
        workers: { type: 'string', default: '2' },
        least: { type: 'string', default: '2' },
        patience: { type: 'string', default: '120' },
        lie: { type: 'string' },
        json: { type: 'string' },
      },
    });
    const lie = lies.find((one) => one === values.lie);
    if (values.lie !== undefined && lie === undefined) throw new Error(`--lie is one of ${lies.join(', ')}`);
    return {
      lie,
      seed: values.seed,
      sagas: whole('sagas', values.sagas),
      atOnce: whole('at-once', values['at-once']),
      workers: whole('workers', values.workers),
      least: whole('least', values.least, 0),
      patience: whole('patience', values.patience),
      json: values.json,
    };
  } catch (error) {
    console.error((error as Error).message);
    return undefined;
  }
}

exitAs(main);
